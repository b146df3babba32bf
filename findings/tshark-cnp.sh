#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tshark does not know a congestion notification packet (CNP): it has the name at another opcode.
#
# One would guess: a capture of a network with congestion control (DCQCN) can be searched for CNPs by name or by opcode.
# What happens: Wireshark's list of opcodes has "CNP" at 128 (0x80). The CNP of RoCEv2 has 129 (0x81), which is what scapy
# makes, and Wireshark calls it "Unknown OpCode". The ICRC and the 16 reserved bytes of a CNP are "Vendor Specific".
# Source: InfiniBand Architecture Specification volume 1, annex A17 (opcode 10000001b); scapy.contrib.roce (CNP_OPCODE);
# Wireshark 4.0 to 4.6, bth_opcode_tbl[] of epan/dissectors/packet-infiniband.c.
# shellcheck source=findings/debian.sh
. "$(dirname "$0")/debian.sh"

use bookworm
unpack python3-scapy=2.5.0+dfsg-2 tshark=4.0.17-0+deb12u3
scapy_script /tmp/cnp.pcap <<'END'
packets = [front / cnp(dqpn=17)]
END

# check: with what is unpacked there
check() {
	local shown
	printf '\n%s: tshark %s\n' "$suite" "$version"
	within tshark -n -r /tmp/cnp.pcap 2>/dev/null
	within tshark -G values 2>/dev/null | grep -P '\tinfiniband.bth.opcode\t(128|129)\t' || true
	shown=$(within tshark -n -r /tmp/cnp.pcap -T fields -e infiniband.bth.opcode -e infiniband.invariant.crc 2>/dev/null)
	expect "$suite: scapy's CNP has opcode 129, and no ICRC is shown" [ "${shown%%[[:space:]]}" = 129 ]
	shown=$(within tshark -n -r /tmp/cnp.pcap 2>/dev/null)
	expect "$suite: it is an unknown opcode" grep -q 'Unknown OpCode' <<<"$shown"
	shown=$(within tshark -G values 2>/dev/null | grep -P '\tinfiniband.bth.opcode\t.*\tCNP$')
	expect "$suite: CNP is the name of 128" grep -qP '\t128\t' <<<"$shown"
}

version=4.0.17-0+deb12u3
check
capture=$root/tmp/cnp.pcap version=4.6.9-1+b1
use forky
unpack "tshark=$version"
cp "$capture" "$root/tmp/"
check
finish
