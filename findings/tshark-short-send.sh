#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tshark calls a right RC SEND of fewer than 16 bytes, pad included, malformed, and hides its ICRC.
#
# One would guess: a SEND of 2 bytes is shown as one of 2 bytes; what Wireshark does not know is "Data".
# What happens: the payload of each RC SEND Only or Last, with invalidate or without, is offered to a heuristic for RPC
# over RDMA, which reads words 0 and 3 of it before it looks whether there are that many. There the packet ends, and
# "infiniband" with it: [Malformed Packet: RPCoRDMA], and neither payload nor ICRC are shown. With --disable-heuristic
# rpcrdma_infiniband the same packet is right (its pad bytes are shown as payload). A SEND of 16 bytes is right anyway.
# Source: Wireshark 4.0 to 4.6, packet_is_rpcordma() of epan/dissectors/packet-rpcrdma.c, the heuristic
# "rpcrdma_infiniband", and packet-infiniband.c, which calls it.
# shellcheck source=findings/debian.sh
. "$(dirname "$0")/debian.sh"

# By scapy, which computes the ICRC: a SEND of 2 bytes with 2 of padding, and one of 16
use bookworm
unpack python3-scapy=2.5.0+dfsg-2 tshark=4.0.17-0+deb12u3
scapy_script /tmp/sends.pcap <<'END'
packets = [front / BTH(opcode=4, padcount=2, dqpn=17, psn=1) / Raw(b"hi\0\0"),
           front / BTH(opcode=4, dqpn=17, psn=2) / Raw(b"sixteen bytes!!!")]
END

# shown ARGUMENT...: of each packet ICRC, payload as data, and what is malformed
shown() {
	within tshark -n -r /tmp/sends.pcap -T fields -e infiniband.invariant.crc -e data.data -e _ws.malformed "$@" 2>/dev/null
}

# check SUITE: with what is unpacked there
check() {
	local short long
	printf '\n%s: tshark %s\n' "$suite" "$version"
	within tshark -n -r /tmp/sends.pcap 2>/dev/null
	short=$(shown | sed -n 1p) long=$(shown | sed -n 2p)
	expect "$suite: a SEND of 2 bytes is malformed" grep -q 'Malformed Packet: RPCoRDMA' <<<"$short"
	expect "$suite: its ICRC is not shown" [ -z "${short%%$'\t'*}" ]
	expect "$suite: a SEND of 16 bytes has an ICRC" grep -q '^0x' <<<"$long"
	short=$(shown --disable-heuristic rpcrdma_infiniband | sed -n 1p)
	expect "$suite: without the heuristic it is right, its ICRC there, its pad bytes payload" \
		grep -qE $'^0x[0-9a-f]+\t68690000\t$' <<<"$short"
}

version=4.0.17-0+deb12u3
check
capture=$root/tmp/sends.pcap version=4.6.9-1+b1
use forky
unpack "tshark=$version"
cp "$capture" "$root/tmp/"
check
finish
