#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Compares captured PRISM packets with what was posted.

    netns_capture.py --encoder ENCODE.PY --posted FILE [--damage SEED] REQUESTS RESPONSES

REQUESTS and RESPONSES are pcap files of the two directions, FILE is the output of wire_probe's client. Every packet is
made again, by the encoder of the test vectors and from what the client says it posted and got; only what the client
cannot know is taken from the packet: UDP source port, IP identification, AckReq, resolution number. Ends with 0 if all
are equal and every packet type and flag combination was seen, with 1 if not, with 2 upon errors of its own.
"""
import argparse
import importlib.util
import ipaddress
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

UDP_PORT = 4791
PSNS = 1 << 24
NAKS = {"remote access error": 0x62, "remote invalid request error": 0x61}
NAK_STATUSES = tuple(NAKS)


class Mismatch(Exception):
    """Error for packets that are not as they should be."""


def load_encoder(path):
    spec = importlib.util.spec_from_file_location("encode", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Captured:
    """One packet as it arrived: its source and destination, and the UDP payload."""

    def __init__(self, frame):
        kind = struct.unpack_from("!H", frame, 12)[0]
        header = bytes(frame[14:])
        if kind == 0x0800:
            size = (header[0] & 15) * 4
            source, destination = header[12:16], header[16:20]
            self.ip_id = struct.unpack_from("!H", header, 4)[0]
            check(header[6] & 0x40 and size == 20, "an IPv4 packet without DF or with options")
        elif kind == 0x86DD:
            size, self.ip_id = 40, None
            source, destination = header[8:24], header[24:40]
            check(header[6] == 17, "an IPv6 packet with extension headers")
        else:
            raise Mismatch(f"EtherType 0x{kind:04x}")
        self.source, self.destination = (str(ipaddress.ip_address(a)) for a in (source, destination))
        self.source_port, self.port, length = struct.unpack_from("!HHH", header, size)
        self.data = header[size + 8:size + length]
        check(self.port == UDP_PORT and len(self.data) == length - 8, "a UDP header that is wrong")
        self.opcode, self.ack_req = self.data[0], self.data[8] >> 7
        self.bits = self.data[8] & 0x7F
        self.psn = int.from_bytes(self.data[9:12], "big")
        self.qpn = int.from_bytes(self.data[5:8], "big")

    def flow(self):
        flow = {"source": self.source, "destination": self.destination, "source_port": self.source_port,
                "destination_port": self.port}
        if self.ip_id is not None:
            flow["ip_id"] = self.ip_id
        return flow


def check(good, text):
    if not good:
        raise Mismatch(text)


def frames(path):
    data = Path(path).read_bytes()
    if len(data) < 24:
        raise Mismatch(f"{path}: nothing was captured")
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    if struct.unpack_from(order + "I", data, 20)[0] != 1:
        raise ValueError(f"{path}: not a capture of Ethernet")
    at = 24
    while at < len(data):
        kept, length = struct.unpack_from(order + "II", data, at + 8)
        check(kept == length, "a packet that was cut off")
        yield bytearray(data[at + 16:at + 16 + kept])
        at += 16 + kept


def write_pcap(path, all_frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in all_frames:
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


class Request:
    """A request as the client posted it, made into the packets that must have been sent and answered."""

    def __init__(self, encoder, posted, msn):
        self.encoder, self.posted, self.msn = encoder, posted, msn
        self.operation, self.flags, self.mtu = posted["operation"], posted["flags"], posted["mtu"]
        self.outcome = posted["outcome"]

    def psn(self, index):
        return (self.posted["psn"] + index) % PSNS

    def parts(self):
        """Returns the payload by packets, with the last part of the packets' opcode names."""
        payload = bytes.fromhex(self.posted.get("payload", ""))
        return cut(payload, self.mtu)

    def packet(self, name, index, pad, ack_req):
        return self.encoder.Packet(name, self.psn(index), self.flags, qpn=self.posted["responder_qpn"],
                                   ack_req=ack_req, pad=pad)

    def add_aux(self, packet):
        if "aux_va" in self.posted:
            packet.auxeth(self.posted["aux_va"], self.posted["aux_rkey"])
        return packet

    def requests(self):
        """Returns functions that make each packet, given AckReq."""
        if self.operation == "READ":
            return [self.make_read]
        if self.operation == "CAS":
            return [self.make_cas]
        return [lambda ack_req, i=i, part=part, place=place: self.make_payload(ack_req, i, part, place)
                for i, (part, place) in enumerate(self.parts())]

    def make_read(self, ack_req):
        p = self.posted
        return self.add_aux(self.packet("READ", 0, 0, ack_req).reth(p["va"], p["rkey"], p["length"]))

    def make_cas(self, ack_req):
        p = self.posted
        packet = self.packet("CAS", 0, 0, ack_req).caseth(p["va"], p["rkey"], p["mode"], p["length"], p["cas_flags"])
        operands = {k: bytes.fromhex(p[k]) for k in ("compare", "swap", "compare_mask", "swap_mask")}
        if "D" in self.flags:
            operands["swap"] = bytes(p["length"])
        if p["cas_flags"] & 1:
            operands["compare"] = bytes(p["length"])
        return self.add_aux(packet).operands(**operands)

    def make_payload(self, ack_req, index, part, place):
        p = self.posted
        packet = self.packet(f"{self.operation}_{place}", index, self.encoder.pad_of(part), ack_req)
        if place in ("FIRST", "ONLY"):
            if self.operation == "WRITE":
                packet.reth(p["va"], p["rkey"], p["length"])
            else:
                packet.aleth(p["free_list"], p["length"], p["tag"])
            self.add_aux(packet)
        return packet.payload(part)

    def answer(self, name, index, pad=0, syndrome=0x1F):
        return self.encoder.Packet(name, self.psn(index), qpn=self.posted["requester_qpn"], pad=pad).aeth(
            syndrome, self.msn)

    def responses(self):
        """Returns functions that make each packet, given the resolution number."""
        status = self.outcome["status"]
        last = 0 if self.operation == "READ" else len(self.parts()) - 1
        if status in NAKS:
            self.msn = (self.msn - 1) % PSNS  # a refused request is not counted
            return [lambda _: self.answer("ACKNOWLEDGE", 0, syndrome=NAKS[status])]
        received = bytes.fromhex(self.outcome.get("received", ""))
        if self.operation == "READ" and status == "OK" and "R" not in self.flags:
            return [lambda resolution, i=i, part=part, place=place: self.answer(
                f"READ_RESPONSE_{place}", i, self.encoder.pad_of(part)).rdeth(resolution, len(received)).payload(part)
                for i, (part, place) in enumerate(cut(received, self.mtu))]
        result = received if self.operation == "CAS" and status in ("OK", "CAS_MISS") else b""
        return [lambda _: self.answer("RESPONSE", last).rspeth(status, self.value(status), result)]

    def value(self, status):
        if status != "OK" or self.operation == "CAS":
            return 0
        return self.outcome["address"] if self.operation == "ALLOCATE" else self.outcome["bytes"]


def cut(data, size):
    parts = [data[i:i + size] for i in range(0, len(data), size)] or [b""]
    if len(parts) == 1:
        return [(parts[0], "ONLY")]
    return [(part, "FIRST" if i == 0 else "LAST" if i == len(parts) - 1 else "MIDDLE") for i, part in enumerate(parts)]


def same(captured, packet, what):
    made = packet.finish(captured.flow())
    if made == captured.data:
        return
    shown = [f"{what}: the packet is not what was posted", f"  captured {captured.data.hex()}", f"  encoded  {made.hex()}"]
    raise Mismatch("\n".join(shown))


def next_of(packets, what):
    check(packets, f"{what}: a packet is missing")
    return packets.pop(0)


def compare(encoder, posted, requests, responses):
    """Matches packets to requests: one request at a time was under way, so the packets of each direction are in the
    order of the requests."""
    completed = {}
    for number, line in enumerate(posted):
        connection = line["connection"]
        completed[connection] = completed.get(connection, 0) + 1
        request = Request(encoder, line, completed[connection])
        what = f"request {number}, {line['operation']} {line['flags'] or 'plain'}, {line['outcome']['status']}"
        for make in request.requests():
            captured = next_of(requests, what)
            same(captured, make(captured.ack_req), what)
        resolution = None
        for make in request.responses():
            captured = next_acknowledge_skipped(responses, request, what)
            if resolution is None and len(captured.data) >= 20:
                resolution = int.from_bytes(captured.data[16:20], "big")
            same(captured, make(resolution), f"response to {what}")
    check(not requests and not responses, f"{len(requests)} requests and {len(responses)} responses too many")


def next_acknowledge_skipped(responses, request, what):
    """Acknowledgements of packets before the last one of a message (W.6.3) arrive if the requester asked for them."""
    captured = next_of(responses, what)
    while captured.opcode == 0x11 and captured.data[12] == 0x1F:
        check(len(request.parts()) > 1, f"{what}: an acknowledge that nobody wanted")
        index = (captured.psn - request.posted["psn"]) % PSNS
        check(index < len(request.parts()) - 1, f"{what}: an acknowledge of a packet that is answered")
        expected = Request(request.encoder, request.posted, request.msn - 1).answer("ACKNOWLEDGE", index)
        same(captured, expected, f"acknowledge of {what}")
        captured = next_of(responses, what)
    return captured


def check_coverage(encoder, posted, requests, responses):
    """Checks that every packet type, legal flag combination and status of docs/wire-protocol.md was on the wire."""
    packets = requests + responses
    # One request at a time is under way, so that none is bundled: the vectors and the packet peer test bundles.
    single = {name: code for name, code in encoder.OPCODES.items() if not name.startswith("BUNDLE")}
    missing = {name for name, code in single.items() if code not in {p.opcode for p in packets}}
    check(not missing, f"never seen: {sorted(missing)}")
    letters = {row["bits"]: row for row in encoder.flag_table()}
    operations = {code: name.split("_")[0] for name, code in encoder.OPCODES.items() if code >= 0xC0}
    seen = {(operations[p.opcode], p.bits) for p in requests}
    for bits, row in letters.items():
        for operation in encoder.OPERATIONS:
            check(((operation, bits) in seen) == row[operation],
                  f"{operation} with {row['flags']}: legal is {row[operation]}, seen is {(operation, bits) in seen}")
    check(all(p.bits & 0x7F == 0 for p in responses), "a response with flags")
    statuses = {line["outcome"]["status"] for line in posted}
    check(statuses == set(encoder.STATUSES) | set(NAK_STATUSES), f"statuses seen: {sorted(statuses)}")
    check({line["length"] for line in posted if line["operation"] == "CAS"} == {8, 16, 32}, "a CAS size is missing")


def check_tshark(path, packets):
    """Checks that tshark finds a BTH in every packet, with the fields that this file finds."""
    command = ["tshark", "-r", str(path), "-T", "fields"]
    for field in ("opcode", "destqp", "psn", "p_key", "tver"):
        command += ["-e", f"infiniband.bth.{field}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    check(len(lines) == len(packets), f"tshark sees {len(lines)} of {len(packets)} packets")
    for line, packet in zip(lines, packets):
        check(line.count("\t") == 4 and all(line.split("\t")), f"tshark does not find a BTH: {line!r}")
        fields = [int(field, 0) for field in line.split("\t")]
        check(fields == [packet.opcode, packet.qpn, packet.psn, 0xFFFF, 0], f"tshark decodes {line!r}")


def flip_a_bit(all_frames, seed):
    """Damages a packet in a place that the ICRC covers and that the comparison does not copy from the packet."""
    chance = random.Random(seed)
    frame = chance.choice(all_frames)
    start = 14 + (40 if frame[12:14] == b"\x86\xdd" else 20) + 8
    at = chance.choice([i for i in range(start, len(frame)) if i - start not in (4, 8)])
    frame[at] ^= 1 << chance.randrange(8)
    print(f"damaged: byte {at - start} of a packet with opcode 0x{frame[start]:02x}")


def run(arguments):
    encoder = load_encoder(arguments.encoder)
    posted = [json.loads(line) for line in Path(arguments.posted).read_text(encoding="ascii").splitlines()]
    check(posted, "nothing was posted")
    captures = [list(frames(path)) for path in (arguments.requests, arguments.responses)]
    if arguments.damage is not None:
        flip_a_bit([frame for capture in captures for frame in capture], arguments.damage)
    requests, responses = ([Captured(frame) for frame in capture] for capture in captures)
    compare(encoder, posted, list(requests), list(responses))
    check_coverage(encoder, posted, requests, responses)
    for capture, packets in zip(captures, (requests, responses)):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as copy:
            write_pcap(copy.name, capture)
            check_tshark(copy.name, packets)
    print(f"{len(posted)} requests, {len(requests)} + {len(responses)} packets, all as the encoder makes them")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--posted", required=True)
    parser.add_argument("--damage", type=int, metavar="SEED", help="flip a bit first: must then fail")
    parser.add_argument("requests")
    parser.add_argument("responses")
    try:
        run(parser.parse_args())
    except Mismatch as mismatch:
        print(mismatch)
        return 1
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"netns_capture.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
