#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""An encoder of PRISM packets that shares no code with the implementations, and the test vectors made with it.

    encode.py --check      verify that vectors.json and the generated parts of the documents are what this file makes
    encode.py --write      bring all of them up to date
    encode.py --json       print vectors.json
    encode.py --markdown   print the worked examples of docs/wire-protocol.md
    encode.py --flags      print the table of flag combinations of docs/semantics.md
    encode.py --scapy      compare the ICRC of every IPv4 vector with the one that scapy computes

Written from docs/wire-protocol.md alone. Integers go out with struct, checksums with zlib.
"""
import argparse
import copy
import ipaddress
import itertools
import json
import random
import struct
import sys
import textwrap
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE / "vectors.json"
WIRE = HERE.parent.parent / "docs" / "wire-protocol.md"
SEMANTICS = HERE.parent.parent / "docs" / "semantics.md"

OPCODES = {
    "ACKNOWLEDGE": 0x11,
    "READ": 0xC0, "WRITE_FIRST": 0xC1, "WRITE_MIDDLE": 0xC2, "WRITE_LAST": 0xC3, "WRITE_ONLY": 0xC4, "CAS": 0xC5,
    "ALLOCATE_FIRST": 0xC6, "ALLOCATE_MIDDLE": 0xC7, "ALLOCATE_LAST": 0xC8, "ALLOCATE_ONLY": 0xC9, "BUNDLE": 0xCA,
    "READ_RESPONSE_FIRST": 0xD0, "READ_RESPONSE_MIDDLE": 0xD1, "READ_RESPONSE_LAST": 0xD2, "READ_RESPONSE_ONLY": 0xD3,
    "RESPONSE": 0xD4, "BUNDLE_RESPONSE": 0xD5,
}
FLAGS = {"T": 0x40, "D": 0x20, "B": 0x10, "C": 0x08, "R": 0x04}
STATUSES = {"OK": 0, "CAS_MISS": 1, "NULL_POINTER": 2, "NO_BUFFER": 3, "SKIPPED": 4}
MODES = {"EQ": 0, "GT": 1, "LT": 2}
SYNDROMES = {0x1F: "ACK", 0x60: "NAK, PSN sequence error", 0x61: "NAK, invalid request",
             0x62: "NAK, remote access error", 0x63: "NAK, remote operational error"}
FEATURES = {"INDIRECT": 1, "BOUNDED": 2, "DATA_INDIRECT": 4, "CONDITIONAL": 8, "REDIRECT": 16, "CAS": 32,
            "ALLOCATE": 64, "RESUME": 128}
MAX_INDIRECT_READ = 1 << 20
PSN_MODULUS = 1 << 24
BUNDLE_ENTRIES = range(2, 17)  # entries of a bundle
BUNDLE_HEADERS = 36  # bytes by which it may exceed the MTU, from BTH to the last pad

# Addresses in the examples: requester and responder, and the layout of the responder's memory.
REQUESTER, RESPONDER = "192.0.2.1", "192.0.2.2"
REQUESTER6, RESPONDER6 = "2001:db8::1", "2001:db8::2"
RESPONDER_QPN, REQUESTER_QPN = 0x004001, 0x008002
TABLE, TABLE_KEY = 0x00007F1000001000, 0x00001A01
SCRATCH, SCRATCH_KEY = 0x00007F2000000040, 0x00001B02
BUFFER = 0x00007F3000004000
FREE_LIST = 0x000007


def flow(source=REQUESTER, destination=RESPONDER, ip_id=0, source_port=4791):
    made = {"source": source, "destination": destination, "source_port": source_port, "destination_port": 4791}
    if ipaddress.ip_address(source).version == 4:
        made["ip_id"] = ip_id
    return made


def back(ip_id=0):
    return flow(RESPONDER, REQUESTER, ip_id)


def icrc_input(route, bth_and_payload):
    """Returns the bytes that the ICRC of RoCEv2 covers (IBTA annex A17), variant fields as ones."""
    source, destination = (ipaddress.ip_address(route[k]) for k in ("source", "destination"))
    udp_length = 8 + len(bth_and_payload) + 4
    if source.version == 4:
        ip = struct.pack("!BBHHHBBH", 0x45, 0xFF, 20 + udp_length, route["ip_id"], 0x4000, 0xFF, 17, 0xFFFF)
    else:
        ip = struct.pack("!IHBB", 0x6FFFFFFF, udp_length, 17, 0xFF)
    udp = struct.pack("!HHHH", route["source_port"], route["destination_port"], udp_length, 0xFFFF)
    masked = bth_and_payload[:4] + b"\xff" + bth_and_payload[5:]
    return b"\xff" * 8 + ip + source.packed + destination.packed + udp + masked


def icrc(route, bth_and_payload):
    return zlib.crc32(icrc_input(route, bth_and_payload)) & 0xFFFFFFFF


class Packet:
    """One packet under construction: its bytes, its fields, and the commentary that the document prints beside them."""

    def __init__(self, opcode, psn, flags="", qpn=RESPONDER_QPN, ack_req=0, pad=0):
        name = opcode if isinstance(opcode, str) else "reserved"
        code = OPCODES[opcode] if isinstance(opcode, str) else opcode
        self.rows = []  # (header, bytes, text)
        self.fields = {"opcode": code, "opcode_name": name, "se": 0, "m": 1, "pad": pad, "tver": 0, "pkey": 0xFFFF,
                       "qpn": qpn, "ack_req": ack_req, "flags": list(flags), "psn": psn}
        bits = sum(FLAGS[f] for f in flags)
        shown = " ".join(flags) if flags else "none"
        self.add("BTH", struct.pack("!BBH", code, 0x40 | pad << 4, 0xFFFF),
                 f"opcode 0x{code:02X} {name}; SE 0, M 1, pad {pad}, TVer 0; P_Key 0xffff")
        self.add("", struct.pack("!I", qpn), f"FECN, BECN, reserved 0; destination QPN 0x{qpn:06x}")
        self.add("", struct.pack("!I", (ack_req << 31) | bits << 24 | psn),
                 f"AckReq {ack_req}; flags {shown}; PSN 0x{psn:06x}")

    def add(self, header, data, text):
        self.rows.append((header, data, text))
        return self

    def reth(self, va, rkey, length):
        self.fields["reth"] = {"va": f"0x{va:016x}", "rkey": rkey, "length": length}
        self.add("RETH", struct.pack("!Q", va), f"virtual address 0x{va:016x}")
        self.add("", struct.pack("!I", rkey), f"R_Key 0x{rkey:08x}")
        return self.add("", struct.pack("!I", length), f"DMA length {length}")

    def auxeth(self, va, rkey):
        self.fields["auxeth"] = {"va": f"0x{va:016x}", "rkey": rkey}
        self.add("AUXETH", struct.pack("!Q", va), f"virtual address 0x{va:016x}")
        return self.add("", struct.pack("!I", rkey), f"R_Key 0x{rkey:08x}")

    def caseth(self, va, rkey, mode, n, cas_flags=0):
        self.fields["caseth"] = {"va": f"0x{va:016x}", "rkey": rkey, "mode": mode, "flags": cas_flags, "n": n}
        mode_name = {v: k for k, v in MODES.items()}.get(mode, "reserved")
        self.add("CASETH", struct.pack("!Q", va), f"virtual address 0x{va:016x}")
        self.add("", struct.pack("!I", rkey), f"R_Key 0x{rkey:08x}")
        return self.add("", struct.pack("!BBBB", mode, cas_flags, n, 0),
                        f"mode {mode} {mode_name}; CAS flags 0x{cas_flags:02x}; n {n}; reserved 0")

    def operands(self, compare, swap, compare_mask, swap_mask):
        for name, data in (("compare", compare), ("swap", swap), ("compare_mask", compare_mask),
                           ("swap_mask", swap_mask)):
            self.fields[name] = data.hex()
            self.add(name.replace("_", " "), data, "")
        return self

    def aleth(self, free_list, length, tag):
        self.fields["aleth"] = {"free_list": free_list, "length": length, "tag": tag}
        self.add("ALETH", struct.pack("!I", free_list), f"reserved 0; free list 0x{free_list:06x}")
        self.add("", struct.pack("!I", length), f"total length {length}")
        return self.add("", struct.pack("!I", tag), f"tag 0x{tag:08x}")

    def aeth(self, syndrome, msn):
        self.fields["aeth"] = {"syndrome": syndrome, "msn": msn}
        return self.add("AETH", struct.pack("!I", syndrome << 24 | msn),
                        f"syndrome 0x{syndrome:02x} ({SYNDROMES[syndrome]}); MSN {msn}")

    def rspeth(self, status, value, result=b""):
        self.fields["rspeth"] = {"status": STATUSES.get(status, status), "value": f"0x{value:016x}"}
        self.fields["result"] = result.ljust(32, b"\0").hex()
        code = STATUSES.get(status, status)
        self.add("RSPETH", struct.pack("!I", code << 24), f"status {code} {status}; reserved 0")
        self.add("", struct.pack("!Q", value), f"value 0x{value:016x}")
        return self.add("result", result.ljust(32, b"\0"), "")

    def rdeth(self, resolution, length):
        self.fields["rdeth"] = {"resolution": resolution, "length": length}
        self.add("RDETH", struct.pack("!I", resolution), f"resolution {resolution}")
        return self.add("", struct.pack("!I", length), f"effective length {length}")

    def payload(self, data, pad=None):
        """@pad: bytes of padding really sent; by default the number in the BTH."""
        self.fields["payload"] = data.hex()
        if data:
            self.add("payload", data, "")
        padding = self.fields["pad"] if pad is None else pad
        if padding:
            self.add("pad", bytes(padding), "")
        return self

    def body(self):
        return b"".join(data for _, data, _ in self.rows)

    def finish(self, route):
        crc = icrc(route, self.body())
        self.fields["icrc"] = crc
        self.add("ICRC", struct.pack("<I", crc), f"0x{crc:08x}, least significant byte first")
        return self.body()


class Entry:
    """A packet as an entry of a bundle (W.12.1), or a hostile sender's substitute for one."""

    def __init__(self, packet, result=None, length=None, pad=None, reserved=0):
        """@result: bytes of a RESPONSE's result that are sent, by default without all zeros at its end; @length:
        claimed length, by default that of the body; @pad: bytes really sent; @reserved: the bits beside the flags."""
        self.packet = packet
        self.rows = [row for row in packet.rows[3:] if row[0] != "pad"]
        if packet.fields["opcode_name"] == "RESPONSE" and self.rows and self.rows[-1][0] == "result":
            whole = self.rows[-1][1]
            kept = len(whole.rstrip(b"\0")) if result is None else result
            assert not any(whole[kept:]), "only zeros may be left out"
            self.rows[-1] = ("result", whole[:kept], "")
        self.body = b"".join(data for _, data, _ in self.rows)
        self.length = len(self.body) if length is None else length
        self.pad = bytes(pad_of(self.body)) if pad is None else pad
        fields = packet.fields
        second = fields["ack_req"] << 7 | sum(FLAGS[f] for f in fields["flags"]) | reserved
        self.header = struct.pack("!BBH", fields["opcode"], second, self.length)
        flags = " ".join(fields["flags"]) or "none"
        self.text = (f"{fields['opcode_name']}; AckReq {fields['ack_req']}; flags {flags}; length {self.length}; "
                     f"PSN 0x{fields['psn']:06x}")

    def bytes(self):
        return self.header + self.body + self.pad


class Bundle(Packet):
    """Entries in one packet. Nothing is checked here: well_formed() judges the result."""

    def __init__(self, opcode, psn, entries, flags="", ack_req=0, pad=0):
        qpn = RESPONDER_QPN if opcode == "BUNDLE" else REQUESTER_QPN
        super().__init__(opcode, psn, flags, qpn=qpn, ack_req=ack_req, pad=pad)
        self.entries = entries
        for k, entry in enumerate(entries):
            self.add(f"entry {k}", entry.header, entry.text)
            self.rows += [row for row in entry.rows if row[1]]
            if entry.pad:
                self.add("pad", entry.pad, "")

    def canonical(self):
        """Returns true if a sender of these entries may make only this bundle, except for zeros that it need not leave
        out."""
        again = Bundle(self.fields["opcode_name"], self.fields["psn"], [Entry(entry.packet) for entry in self.entries])
        return again.body() == self.body()


def well_formed(data, mtu):
    """Checks the rule of W.12.2. @data: from BTH to the last pad."""
    if len(data) > mtu + BUNDLE_HEADERS or len(data) % 4:
        return False
    at, count = 12, 0
    while at < len(data):
        if at + 4 > len(data):
            return False
        length = int.from_bytes(data[at + 2:at + 4], "big")
        at += 4 + (length + 3) // 4 * 4
        count += 1
    return at == len(data) and count in BUNDLE_ENTRIES


def pad_of(data):
    return -len(data) % 4


def pattern(start, size):
    return bytes((start + i) & 0xFF for i in range(size))


def word(value, size=8):
    return value.to_bytes(size, "little")


ALL_ONES = {n: b"\xff" * n for n in (8, 16, 32)}


class Book:
    """The vectors, in the order in which the document shows them."""

    def __init__(self):
        self.vectors, self.bundles, self.examples = [], [], []

    def put(self, name, description, packet, route=None, mtu=1024):
        route = route or flow()
        data = packet.finish(route)
        self.vectors.append({"name": name, "description": description, "mtu": mtu, "flow": route, "hex": data.hex(),
                             "fields": packet.fields})
        self.examples.append(("packet", name, description, route, mtu, packet.rows))

    def put_bundle(self, name, description, bundle, route=None, mtu=1024, shown=False):
        first, packets = bundle.fields["psn"], [entry.packet for entry in bundle.entries]
        assert [p.fields["psn"] for p in packets] == [(first + k) % PSN_MODULUS for k in range(len(packets))], name
        assert all(p.fields["qpn"] == bundle.fields["qpn"] for p in packets), name
        assert well_formed(bundle.body(), mtu), name
        route = route or (flow() if bundle.fields["opcode_name"] == "BUNDLE" else back())
        canonical = bundle.canonical()
        data = bundle.finish(route)
        self.bundles.append({
            "name": name, "description": description, "mtu": mtu, "flow": route, "hex": data.hex(),
            "fields": bundle.fields, "canonical": canonical,
            "entries": [{"length": entry.length, "hex": entry.packet.body().hex(), "fields": entry.packet.fields}
                        for entry in bundle.entries]})
        if shown:
            self.examples.append(("packet", name, description, route, mtu, bundle.rows))

    def section(self, title):
        self.examples.append(("section", title))


def payload_packet(opcode, psn, data, flags="", **kwargs):
    return Packet(opcode, psn, flags, pad=pad_of(data), **kwargs)


def add_reads(book):
    book.section("READ requests")
    book.put("read", "A READ of 64 bytes without a modifier. It takes one PSN.",
             Packet("READ", 0x00A000).reth(TABLE, TABLE_KEY, 64))
    book.put("read_t", "The pointer is at the target address; 64 bytes of what it points at are read.",
             Packet("READ", 0x00A001, "T", ack_req=1).reth(TABLE + 8, TABLE_KEY, 64))
    book.put("read_tb", "A bounded pointer is at the target address. 2500 bytes are asked for: with an MTU of 1024 the "
             "request takes three PSNs, 0x00a002 to 0x00a004, however many bytes the bound leaves.",
             Packet("READ", 0x00A002, "TB").reth(TABLE + 16, TABLE_KEY, 2500))
    book.put("read_c", "Runs only if the previous request on the QP succeeded.",
             Packet("READ", 0x00A005, "C").reth(TABLE, TABLE_KEY, 16))
    book.put("read_r", "The 24 bytes go to the responder's scratch memory. A redirected READ takes one PSN.",
             Packet("READ", 0x00A006, "R").reth(TABLE, TABLE_KEY, 24).auxeth(SCRATCH, SCRATCH_KEY))
    book.put("read_tbcr", "All modifiers that a READ may have. The order of flag letters is that of the bits.",
             Packet("READ", 0x00A007, "TBCR").reth(TABLE + 32, TABLE_KEY, 1 << 20).auxeth(SCRATCH, SCRATCH_KEY))


def add_writes(book):
    book.section("WRITE requests")
    text = b"Hello, PRISM!"
    book.put("write_only", "13 bytes and three bytes of padding.",
             payload_packet("WRITE_ONLY", 0x00A010, text).reth(TABLE, TABLE_KEY, len(text)).payload(text))
    book.put("write_only_empty", "A WRITE of no bytes: it takes a PSN and has a response, and touches nothing.",
             Packet("WRITE_ONLY", 0x00A011).reth(0, 0, 0).payload(b""))
    head, middle, tail = pattern(0, 256), pattern(1, 256), pattern(2, 87)
    total = len(head) + len(middle) + len(tail)
    book.put("write_first_c", "The first of three packets of a conditional WRITE of 599 bytes; MTU 256.",
             Packet("WRITE_FIRST", 0x00A012, "C").reth(TABLE, TABLE_KEY, total).payload(head), mtu=256)
    book.put("write_middle_c", "The second packet: the same flags, no extended header.",
             Packet("WRITE_MIDDLE", 0x00A013, "C").payload(middle), mtu=256)
    book.put("write_last_c", "The last packet: 87 bytes and one of padding. The response has this packet's PSN.",
             payload_packet("WRITE_LAST", 0x00A014, tail, "C").payload(tail), mtu=256)
    data = word(0x1122334455667788)
    book.put("write_only_t", "8 bytes to where the pointer at the target address points.",
             Packet("WRITE_ONLY", 0x00A015, "T").reth(TABLE + 8, TABLE_KEY, 8).payload(data))
    book.put("write_only_tb", "At most 16 bytes, fewer if the bound is less.",
             Packet("WRITE_ONLY", 0x00A016, "TB").reth(TABLE + 16, TABLE_KEY, 16).payload(pattern(0x80, 16)))
    book.put("write_only_d", "4096 bytes come from the responder's scratch memory: no payload, one packet, one PSN.",
             Packet("WRITE_ONLY", 0x00A017, "D").reth(TABLE, TABLE_KEY, 4096).auxeth(SCRATCH, SCRATCH_KEY).payload(b""))
    book.put("write_only_tdbc", "All modifiers that a WRITE may have.",
             Packet("WRITE_ONLY", 0x00A018, "TDBC").reth(TABLE + 16, TABLE_KEY, 32)
             .auxeth(SCRATCH, SCRATCH_KEY).payload(b""))


def add_cas(book):
    book.section("CAS requests")
    book.put("cas_8_eq", "8 bytes: if the target is 7, make it 8.",
             Packet("CAS", 0x00A020).caseth(TABLE + 64, TABLE_KEY, MODES["EQ"], 8)
             .operands(word(7), word(8), ALL_ONES[8], ALL_ONES[8]))
    book.put("cas_16_gt_cd", "16 bytes: if the tag, the low 8 bytes, of the operand in scratch memory is greater than "
             "that of the target, replace all 16 by the bytes in scratch memory. CAS flag 0x01 makes these bytes the "
             "compare operand too; both operands are sent as zeros and ignored.",
             Packet("CAS", 0x00A021, "DC").caseth(TABLE + 64, TABLE_KEY, MODES["GT"], 16, 1)
             .auxeth(SCRATCH, SCRATCH_KEY).operands(bytes(16), bytes(16), ALL_ONES[8] + bytes(8), ALL_ONES[16]))
    book.put("cas_16_eq_d", "16 bytes: if the target is the given bounded pointer, install the one in scratch memory. "
             "Only the swap operand comes from there.",
             Packet("CAS", 0x00A022, "D").caseth(TABLE + 16, TABLE_KEY, MODES["EQ"], 16).auxeth(SCRATCH, SCRATCH_KEY)
             .operands(word(BUFFER) + word(64, 4) + word(9, 4), bytes(16), ALL_ONES[16], ALL_ONES[16]))
    book.put("cas_32_lt_t", "32 bytes behind a pointer: if the low 4 bytes of the operand are less than those of the "
             "target, set the top byte.",
             Packet("CAS", 0x00A023, "T").caseth(TABLE + 8, TABLE_KEY, MODES["LT"], 32)
             .operands(word(5, 4) + bytes(28), bytes(31) + b"\x5a", ALL_ONES[8][:4] + bytes(28), bytes(31) + b"\xff"))
    book.put("cas_8_eq_tdc", "All modifiers that a CAS may have.",
             Packet("CAS", 0x00A024, "TDC").caseth(TABLE + 8, TABLE_KEY, MODES["EQ"], 8).auxeth(SCRATCH, SCRATCH_KEY)
             .operands(word(1), bytes(8), word(1), ALL_ONES[8]))


def add_allocates(book):
    book.section("ALLOCATE requests")
    text = b"key=value"
    book.put("allocate_only", "A buffer of free list 7, filled with 9 bytes.",
             payload_packet("ALLOCATE_ONLY", 0x00A030, text).aleth(FREE_LIST, len(text), 0).payload(text))
    book.put("allocate_only_empty", "A buffer and nothing written to it.",
             Packet("ALLOCATE_ONLY", 0x00A031).aleth(FREE_LIST, 0, 0).payload(b""))
    book.put("allocate_only_r", "The address is stored in scratch memory as well.",
             payload_packet("ALLOCATE_ONLY", 0x00A032, text, "R").aleth(FREE_LIST, len(text), 0)
             .auxeth(SCRATCH, SCRATCH_KEY).payload(text))
    book.put("allocate_only_bcr", "All modifiers that an ALLOCATE may have: if the previous request succeeded, a "
             "bounded pointer { address, 9, 0x2a } is stored in scratch memory.",
             payload_packet("ALLOCATE_ONLY", 0x00A033, text, "BCR").aleth(FREE_LIST, len(text), 0x2A)
             .auxeth(SCRATCH, SCRATCH_KEY).payload(text))
    head, middle, tail = pattern(0x10, 256), pattern(0x11, 256), pattern(0x12, 1)
    total = len(head) + len(middle) + len(tail)
    book.put("allocate_first_r", "The first of three packets of an ALLOCATE of 513 bytes; MTU 256.",
             Packet("ALLOCATE_FIRST", 0x00A034, "R").aleth(FREE_LIST, total, 0).auxeth(SCRATCH, SCRATCH_KEY)
             .payload(head), mtu=256)
    book.put("allocate_middle_r", "The second packet.",
             Packet("ALLOCATE_MIDDLE", 0x00A035, "R").payload(middle), mtu=256)
    book.put("allocate_last_r", "The last packet: one byte and three of padding. The response has this packet's PSN.",
             payload_packet("ALLOCATE_LAST", 0x00A036, tail, "R").payload(tail), mtu=256)


def answer(opcode, psn, msn, pad=0, syndrome=0x1F):
    return Packet(opcode, psn, qpn=REQUESTER_QPN, pad=pad).aeth(syndrome, msn)


def add_read_responses(book):
    book.section("READ responses")
    text = b"Hello, PRISM!"
    book.put("read_response_only", "All of a READ in one packet: 13 bytes and three of padding.",
             answer("READ_RESPONSE_ONLY", 0x00A001, 2, pad_of(text)).rdeth(2, len(text)).payload(text), back())
    book.put("read_response_only_empty", "A READ that ended well with an effective length of 0 (its bound was 0).",
             answer("READ_RESPONSE_ONLY", 0x00A002, 3).rdeth(3, 0).payload(b""), back())
    tail = pattern(0x42, 90)
    book.put("read_response_first", "The first of three packets; MTU 256, effective length 602. As the first segment "
             "of a GSO train it has IP identification 0.",
             answer("READ_RESPONSE_FIRST", 0x00A040, 9).rdeth(4, 602).payload(pattern(0x40, 256)), back(0), 256)
    book.put("read_response_middle", "The second packet, second segment of the train: IP identification 1.",
             answer("READ_RESPONSE_MIDDLE", 0x00A041, 9).rdeth(4, 602).payload(pattern(0x41, 256)), back(1), 256)
    book.put("read_response_last", "The last packet, 90 bytes and two of padding: IP identification 2.",
             answer("READ_RESPONSE_LAST", 0x00A042, 9, pad_of(tail)).rdeth(4, 602).payload(tail), back(2), 256)


def add_responses(book):
    book.section("Short responses")
    book.put("response_write_ok", "To write_last_c: 599 bytes were written.",
             answer("RESPONSE", 0x00A014, 5).rspeth("OK", 599), back())
    book.put("response_read_redirected", "To read_r: 24 bytes were stored.",
             answer("RESPONSE", 0x00A006, 5).rspeth("OK", 24), back())
    book.put("response_cas_ok", "To cas_8_eq: it succeeded; the old value was 7.",
             answer("RESPONSE", 0x00A020, 6).rspeth("OK", 0, word(7)), back())
    book.put("response_cas_miss", "To cas_32_lt_t: the comparison did not hold; the 32 old bytes.",
             answer("RESPONSE", 0x00A023, 9).rspeth("CAS_MISS", 0, word(5, 4) + pattern(0xC0, 28)), back())
    book.put("response_allocate_ok", "To allocate_only_r: the buffer's address.",
             answer("RESPONSE", 0x00A032, 12).rspeth("OK", BUFFER), back())
    book.put("response_null_pointer", "To read_t, if the pointer was 0. It stands at the READ's first PSN.",
             answer("RESPONSE", 0x00A001, 2).rspeth("NULL_POINTER", 0), back())
    book.put("response_no_buffer", "To allocate_only, if the free list had nothing to give.",
             answer("RESPONSE", 0x00A030, 10).rspeth("NO_BUFFER", 0), back())
    book.put("response_skipped", "To read_c, if the previous request did not succeed.",
             answer("RESPONSE", 0x00A005, 4).rspeth("SKIPPED", 0), back())


def add_acknowledges(book):
    book.section("Acknowledges")
    for name, syndrome, psn, text in (
            ("ack", 0x1F, 0x00A009, "A positive acknowledge, of a SEND or a standard WRITE; it never completes a PRISM "
             "request."),
            ("nak_psn_sequence", 0x60, 0x00A010, "A packet is missing: the PSN is the one that the responder expects."),
            ("nak_invalid_request", 0x61, 0x00A010, "A request broke a rule of format."),
            ("nak_remote_access", 0x62, 0x00A010, "A request touched what it has no right to."),
            ("nak_remote_operational", 0x63, 0x00A010, "The responder cannot go on.")):
        book.put(name, text, answer("ACKNOWLEDGE", psn, 4, syndrome=syndrome), back())


def add_ipv6(book):
    book.section("IPv6")
    book.put("ipv6_read_t", "read_t over IPv6, from another UDP source port: only the ICRC differs.",
             Packet("READ", 0x00A001, "T", ack_req=1).reth(TABLE + 8, TABLE_KEY, 64),
             flow(REQUESTER6, RESPONDER6, source_port=0xC123))
    book.put("ipv6_response_skipped", "response_skipped over IPv6.",
             answer("RESPONSE", 0x00A005, 4).rspeth("SKIPPED", 0), flow(RESPONDER6, REQUESTER6))


def request_bundle(packets, **kwargs):
    return Bundle("BUNDLE", packets[0].fields["psn"], [Entry(packet) for packet in packets], **kwargs)


def answer_bundle(packets):
    return Bundle("BUNDLE_RESPONSE", packets[0].fields["psn"], [Entry(packet) for packet in packets])


def write_of(psn, data, flags="", ack_req=0, va=TABLE):
    return payload_packet("WRITE_ONLY", psn, data, flags, ack_req=ack_req).reth(va, TABLE_KEY, len(data)).payload(data)


def allocate_of(psn, data, flags="", ack_req=0):
    packet = payload_packet("ALLOCATE_ONLY", psn, data, flags, ack_req=ack_req).aleth(FREE_LIST, len(data), 0)
    if "R" in flags:
        packet.auxeth(SCRATCH, SCRATCH_KEY)
    return packet.payload(data)


def read_of(psn, length, flags="", ack_req=0):
    packet = Packet("READ", psn, flags, ack_req=ack_req).reth(TABLE, TABLE_KEY, length)
    return packet.auxeth(SCRATCH, SCRATCH_KEY) if "R" in flags else packet


def add_request_bundles(book):
    text = b"key=value"
    book.put_bundle(
        "bundle_chain", "A chain in one packet: 8 bytes go to scratch memory, a buffer is allocated and its bounded "
        "pointer stored behind them, and if all that has succeeded, the pointer is installed where the old one is still "
        "there. AckReq 0 says that another request follows at once: the last one has 1.",
        request_bundle([
            Packet("WRITE_ONLY", 0x00A050).reth(SCRATCH + 16, SCRATCH_KEY, 8).payload(word(9)),
            payload_packet("ALLOCATE_ONLY", 0x00A051, text, "BCR").aleth(FREE_LIST, len(text), 0x2A)
            .auxeth(SCRATCH, SCRATCH_KEY).payload(text),
            Packet("CAS", 0x00A052, "DC", ack_req=1).caseth(TABLE + 16, TABLE_KEY, MODES["EQ"], 16)
            .auxeth(SCRATCH, SCRATCH_KEY)
            .operands(word(BUFFER) + word(64, 4) + word(9, 4), bytes(16), ALL_ONES[16], ALL_ONES[16])]), shown=True)
    book.put_bundle(
        "bundle_two_reads", "The fewest entries that a bundle may have. The second READ is redirected, so it may be "
        "longer than the MTU: it takes one PSN all the same.",
        request_bundle([read_of(0x00A054, 64, "T"), read_of(0x00A055, 4096, "TR", 1)]), shown=True)
    book.put_bundle("bundle_16_reads", "The most entries that a bundle may have.",
                    request_bundle([Packet("READ", 0x00A060 + k, "T", ack_req=int(k == 15))
                                    .reth(TABLE + 8 * k, TABLE_KEY, 64) for k in range(16)]))
    book.put_bundle("bundle_reads_of_one_mtu", "The longest READs that return data and still take one PSN; with B it is "
                    "the length asked for that counts.",
                    request_bundle([read_of(0x00A070, 256), read_of(0x00A071, 256, "TB"), read_of(0x00A072, 0, "C", 1)]),
                    mtu=256)
    book.put_bundle("bundle_redirected_read_of_1_mib", "Many times the MTU, and one PSN.",
                    request_bundle([read_of(0x00A074, MAX_INDIRECT_READ, "R"), read_of(0x00A075, 16, "C", 1)]), mtu=256)
    book.put_bundle("bundle_pads", "Bodies that need 3, 2, 1 and no bytes of padding, which their lengths do not count.",
                    request_bundle([write_of(0x00A080, pattern(1, 1)), write_of(0x00A081, pattern(2, 2)),
                                    write_of(0x00A082, pattern(3, 3)), write_of(0x00A083, pattern(4, 4)),
                                    allocate_of(0x00A084, pattern(5, 5)), allocate_of(0x00A085, pattern(6, 10), "R"),
                                    allocate_of(0x00A086, pattern(7, 15), "", 1)]))
    book.put_bundle("bundle_psn_wraps", "The PSNs of the entries run over the end of the circle.",
                    request_bundle([read_of((0xFFFFFE + k) % PSN_MODULUS, 8, "", int(k == 3)) for k in range(4)]))
    book.put_bundle("bundle_ack_req_on_all", "AckReq is of the entries, not of the bundle.",
                    request_bundle([read_of(0x00A090, 8, "", 1), write_of(0x00A091, word(1), "", 1),
                                    allocate_of(0x00A092, b"", "", 1)]))
    book.put_bundle(
        "bundle_all_modifiers", "Each operation with all modifiers that it may have, and each without any.",
        request_bundle([
            read_of(0x00A0A0, 64, "TBCR"),
            Packet("WRITE_ONLY", 0x00A0A1, "TDBC").reth(TABLE + 16, TABLE_KEY, 32).auxeth(SCRATCH, SCRATCH_KEY),
            Packet("CAS", 0x00A0A2, "TDC").caseth(TABLE + 8, TABLE_KEY, MODES["GT"], 32, 1).auxeth(SCRATCH, SCRATCH_KEY)
            .operands(bytes(32), bytes(32), ALL_ONES[32], ALL_ONES[32]),
            allocate_of(0x00A0A3, pattern(0x20, 21), "BCR"), read_of(0x00A0A4, 64), write_of(0x00A0A5, b""),
            Packet("CAS", 0x00A0A6).caseth(TABLE, TABLE_KEY, MODES["LT"], 8)
            .operands(word(1), word(2), ALL_ONES[8], ALL_ONES[8]), allocate_of(0x00A0A7, b"", "", 1)]))
    for mtu, payloads in ((256, (0, 244)), (256, (121, 122)), (4096, (4088, 0)), (4096, (2041, 2043))):
        first, second = payloads
        packets = [allocate_of(0x00A0B0, pattern(0x30, first)), allocate_of(0x00A0B1, pattern(0x31, second), "", 1)]
        if first + second == 244:
            packets = [write_of(0x00A0B0, b""), allocate_of(0x00A0B1, pattern(0x31, 244), "", 1)]
        bundle = request_bundle(packets)
        assert len(bundle.body()) == mtu + BUNDLE_HEADERS, (mtu, len(bundle.body()))
        book.put_bundle(f"bundle_longest_{mtu}_{first}_{second}", f"As long as a bundle may be: MTU + 36 bytes from BTH to "
                        f"the last pad. Payloads of {first} and {second} bytes.", bundle, mtu=mtu)
    reads = [read_of(0x00A0C0 + k, 16, "C") for k in range(3)]
    book.put_bundle("bundle_reserved_bits", "What the receiver ignores: pad count, AckReq and flags of the bundle's own "
                    "BTH, the reserved bits of entry headers, pads that are not zeros.",
                    Bundle("BUNDLE", 0x00A0C0, [Entry(reads[0], reserved=3), Entry(reads[1]), Entry(reads[2], reserved=1),
                                                Entry(write_of(0x00A0C3, b"\x11"), pad=b"\xff\x01\x80")],
                           flags="TDBCR", ack_req=1, pad=3))
    book.put_bundle("ipv6_bundle", "Over IPv6.", request_bundle([read_of(0x00A054, 64, "T"), read_of(0x00A055, 8, "C", 1)]),
                    flow(REQUESTER6, RESPONDER6, source_port=0xC123))


def add_response_bundles(book):
    def short(k, status="OK", value=0, result=b"", first=0x00A050):
        return answer("RESPONSE", (first + k) % PSN_MODULUS, 20 + k).rspeth(status, value, result)

    def data(k, payload, first=0x00A050):
        packet = answer("READ_RESPONSE_ONLY", (first + k) % PSN_MODULUS, 20 + k, pad_of(payload))
        return packet.rdeth(4 + k, len(payload)).payload(payload)

    book.put_bundle("bundle_response_chain", "To bundle_chain: 8 bytes were written, a buffer allocated, and the pointer "
                    "was another one: the 16 old bytes. What is zero at the end of a result is left out.",
                    answer_bundle([short(0, value=8), short(1, value=BUFFER + 0x400),
                                   short(2, "CAS_MISS", 0, word(BUFFER + 0x800) + word(64, 4) + pattern(0x0A, 4))]),
                    shown=True)
    book.put_bundle("bundle_response_results", "RESPONSEs of 16, 24, 32 and 48 bytes.",
                    answer_bundle([short(0, value=13), short(1, result=pattern(1, 8)), short(2, result=pattern(2, 16)),
                                   short(3, "CAS_MISS", result=pattern(3, 32))]))
    book.put_bundle("bundle_response_results_end_with_zeros", "Zeros at the end of the old value are left out as well: "
                    "bodies of 17, 23, 25, 45, 46 and 47 bytes, and a pad behind each.",
                    answer_bundle([short(0, result=word(7)), short(1, result=pattern(1, 7) + b"\0"),
                                   short(2, result=pattern(2, 9) + bytes(7))] +
                                  [short(k, "CAS_MISS", result=pattern(k, 26 + k) + bytes(6 - k)) for k in (3, 4, 5)]))
    book.put_bundle("bundle_response_statuses", "One of each status.",
                    answer_bundle([short(0, "OK", 3), short(1, "CAS_MISS", 0, pattern(1, 8)), short(2, "NULL_POINTER"),
                                   short(3, "NO_BUFFER"), short(4, "SKIPPED")]))
    zeros = [short(0, result=word(7)), short(1, result=word(7)), short(2, result=word(7)), short(3), short(4)]
    book.put_bundle("bundle_response_zeros_sent", "The sender may leave out any number of zeros: bodies of 17, 24, 48, 48 "
                    "and 18 bytes.",
                    Bundle("BUNDLE_RESPONSE", 0x00A050, [Entry(zeros[0], result=1), Entry(zeros[1], result=8),
                                                         Entry(zeros[2], result=32), Entry(zeros[3], result=32),
                                                         Entry(zeros[4], result=2)]))
    book.put_bundle("bundle_response_reads", "READs of 0, 5 and 64 bytes.",
                    answer_bundle([data(0, b""), data(1, pattern(0x50, 5)), data(2, pattern(0x60, 64))]))
    book.put_bundle("bundle_response_mixed", "READs and others, in the order of the requests.",
                    answer_bundle([data(0, pattern(0x70, 7)), short(1, value=BUFFER), data(2, b""),
                                   short(3, "CAS_MISS", 0, pattern(0x80, 16)), short(4, "SKIPPED"), data(5, b"\0" * 6)]))
    book.put_bundle("bundle_response_16", "The most entries.", answer_bundle([short(k, value=k) for k in range(16)]))
    book.put_bundle("bundle_response_psn_wraps", "PSNs 0xffffff and 0.",
                    answer_bundle([short(0, value=8, first=0xFFFFFF), data(1, word(9), first=0xFFFFFF)]))
    for mtu, size in ((256, 244), (4096, 4081)):
        bundle = answer_bundle([data(0, pattern(0x90, size)), short(1, value=8)])
        assert len(bundle.body()) == mtu + BUNDLE_HEADERS, (mtu, len(bundle.body()))
        book.put_bundle(f"bundle_response_longest_{mtu}", "As long as a bundle may be: MTU + 36 bytes from BTH to the "
                        "last pad.", bundle, mtu=mtu)
    book.put_bundle("ipv6_bundle_response", "Over IPv6.", answer_bundle([data(0, pattern(0x70, 5)), short(1, "SKIPPED")]),
                    flow(RESPONDER6, REQUESTER6))


def add_bundles(book):
    book.section("Bundles")
    add_request_bundles(book)
    add_response_bundles(book)


def make_book():
    book = Book()
    for add in (add_reads, add_writes, add_cas, add_allocates, add_read_responses, add_responses, add_acknowledges,
                add_ipv6, add_bundles):
        add(book)
    return book


# Definition of a legal packet: each operation's own flags, and B's condition.
OPERATIONS = {"READ": "TBCR", "WRITE": "TDBC", "CAS": "TDC", "ALLOCATE": "BCR"}


def legal(operation, flags):
    allowed = OPERATIONS[operation]
    bound_to = "R" if operation == "ALLOCATE" else "T"
    return all(f in allowed for f in flags) and ("B" not in flags or bound_to in flags)


def flag_table():
    rows = []
    for count in itertools.product((False, True), repeat=5):
        flags = [f for f, on in zip("TDBCR", count) if on]
        rows.append({"flags": flags, "bits": sum(FLAGS[f] for f in flags),
                     **{operation: legal(operation, flags) for operation in OPERATIONS}})
    return sorted(rows, key=lambda row: row["bits"])


def sample_request(operation, flags, psn=0x000100):
    """Returns a well-formed request of @operation but for @flags, which need not be legal; includes aux if the flags
    need it."""
    aux = ("R" in flags and operation in ("READ", "ALLOCATE")) or ("D" in flags and operation in ("WRITE", "CAS"))
    name = {"READ": "READ", "WRITE": "WRITE_ONLY", "CAS": "CAS", "ALLOCATE": "ALLOCATE_ONLY"}[operation]
    packet = Packet(name, psn, flags)
    if operation in ("READ", "WRITE"):
        packet.reth(TABLE, TABLE_KEY, 16)
    elif operation == "CAS":
        packet.caseth(TABLE, TABLE_KEY, MODES["EQ"], 8)
    else:
        packet.aleth(FREE_LIST, 16, 0)
    if aux:
        packet.auxeth(SCRATCH, SCRATCH_KEY)
    if operation == "CAS":
        packet.operands(word(1), word(2), ALL_ONES[8], ALL_ONES[8])
    elif operation == "ALLOCATE" or (operation == "WRITE" and "D" not in flags):
        packet.payload(pattern(0, 16))
    return packet


def cas_packet(mode=0, n=8, cas_flags=0, flags="", va=TABLE, operand_size=None):
    size = n if operand_size is None else operand_size
    packet = Packet("CAS", 0x000100, flags).caseth(va, TABLE_KEY, mode, n, cas_flags)
    if "D" in flags:
        packet.auxeth(SCRATCH, SCRATCH_KEY)
    return packet.operands(bytes(size), bytes(size), b"\xff" * size, b"\xff" * size)


def write_packet(opcode, data, length=None, flags="", pad=None, real_pad=None):
    packet = Packet(opcode, 0x000100, flags, pad=pad_of(data) if pad is None else pad)
    if opcode in ("WRITE_FIRST", "WRITE_ONLY"):
        packet.reth(TABLE, TABLE_KEY, len(data) if length is None else length)
    if opcode in ("ALLOCATE_FIRST", "ALLOCATE_ONLY"):
        packet.aleth(FREE_LIST, len(data) if length is None else length, 0)
    if opcode.startswith("WRITE") and "D" in flags:
        packet.auxeth(SCRATCH, SCRATCH_KEY)
    if opcode.startswith("ALLOCATE") and "R" in flags:
        packet.auxeth(SCRATCH, SCRATCH_KEY)
    return packet.payload(data, real_pad)


class Raw:
    """A packet that is cut short or made longer: finished like a Packet, with nothing decoded."""

    def __init__(self, data):
        self.data = data

    def body(self):
        return self.data

    def finish(self, route):
        return self.data + struct.pack("<I", icrc(route, self.data))


def cut(packet, size):
    return Raw(packet.body()[:-size])


def longer(packet, size):
    return Raw(packet.body() + bytes(size))


def bad_format_packets(mtu):
    read = Packet("READ", 0x000100).reth(TABLE, TABLE_KEY, 16)
    read_r = Packet("READ", 0x000100, "R").reth(TABLE, TABLE_KEY, 16).auxeth(SCRATCH, SCRATCH_KEY)
    yield "read_bth_only", Packet("READ", 0x000100)
    yield "read_reth_cut", cut(read, 4)
    yield "read_with_trailing_bytes", longer(read, 4)
    yield "read_r_without_auxeth", cut(read_r, 12)
    yield "read_r_auxeth_cut", cut(read_r, 4)
    yield "read_without_r_with_auxeth", longer(read, 12)
    yield "read_with_pad_count", Packet("READ", 0x000100, pad=1).reth(TABLE, TABLE_KEY, 16)
    for kind in ("WRITE", "ALLOCATE"):
        low = kind.lower()
        yield f"{low}_first_headers_cut", cut(write_packet(f"{kind}_FIRST", b"", 2 * mtu), 4)
        yield f"{low}_only_headers_cut", cut(write_packet(f"{kind}_ONLY", b"", 0), 4)
        yield f"{low}_first_payload_short", write_packet(f"{kind}_FIRST", pattern(0, mtu - 4), 2 * mtu)
        yield f"{low}_first_payload_long", write_packet(f"{kind}_FIRST", pattern(0, mtu + 4), 2 * mtu)
        yield f"{low}_first_payload_padded", write_packet(f"{kind}_FIRST", pattern(0, mtu - 1), 2 * mtu)
        yield f"{low}_first_without_payload", write_packet(f"{kind}_FIRST", b"", 2 * mtu)
        yield f"{low}_middle_payload_short", write_packet(f"{kind}_MIDDLE", pattern(0, mtu - 4))
        yield f"{low}_middle_payload_long", write_packet(f"{kind}_MIDDLE", pattern(0, mtu + 4))
        yield f"{low}_last_without_payload", write_packet(f"{kind}_LAST", b"")
        yield f"{low}_last_payload_long", write_packet(f"{kind}_LAST", pattern(0, mtu + 4))
        yield f"{low}_only_payload_long", write_packet(f"{kind}_ONLY", pattern(0, mtu + 4))
        yield f"{low}_only_shorter_than_total", write_packet(f"{kind}_ONLY", pattern(0, 16), 20)
        yield f"{low}_only_longer_than_total", write_packet(f"{kind}_ONLY", pattern(0, 16), 12)
        yield f"{low}_only_total_huge", write_packet(f"{kind}_ONLY", pattern(0, 16), 0xFFFFFFFF)
        yield f"{low}_only_pad_beyond_payload", write_packet(f"{kind}_ONLY", b"", 0, pad=3, real_pad=0)
        yield f"{low}_only_pad_count_wrong", write_packet(f"{kind}_ONLY", pattern(0, 16), 16, pad=2, real_pad=0)
        yield f"{low}_only_unpadded", write_packet(f"{kind}_ONLY", pattern(0, 13), 13, pad=0)
    yield "write_only_d_with_payload", write_packet("WRITE_ONLY", pattern(0, 16), flags="D")
    yield "write_only_d_without_auxeth", Packet("WRITE_ONLY", 0x000100, "D").reth(TABLE, TABLE_KEY, 16)
    yield "write_first_d", write_packet("WRITE_FIRST", pattern(0, mtu), 2 * mtu, flags="D")
    yield "write_first_t", write_packet("WRITE_FIRST", pattern(0, mtu), 2 * mtu, flags="T")
    yield "allocate_only_r_without_auxeth", cut(write_packet("ALLOCATE_ONLY", b"", flags="R"), 12)
    yield "cas_caseth_cut", cut(Packet("CAS", 0x000100).caseth(TABLE, TABLE_KEY, 0, 8), 4)
    yield "cas_without_operands", Raw(Packet("CAS", 0x000100).caseth(TABLE, TABLE_KEY, 0, 8).body())
    yield "cas_operands_short", cas_packet(n=16, operand_size=8)
    yield "cas_operands_long", cas_packet(n=8, operand_size=16)
    yield "cas_d_without_auxeth", Packet("CAS", 0x000100, "D").caseth(TABLE, TABLE_KEY, 0, 8).operands(
        bytes(8), bytes(8), ALL_ONES[8], ALL_ONES[8])
    yield "cas_with_trailing_bytes", longer(cas_packet(), 4)
    too_long = MAX_INDIRECT_READ + 1
    yield "read_too_long", Packet("READ", 0x000100).reth(TABLE, TABLE_KEY, too_long)
    yield "read_tb_too_long", Packet("READ", 0x000100, "TB").reth(TABLE, TABLE_KEY, 0xFFFFFFFF)
    yield "read_r_too_long", Packet("READ", 0x000100, "R").reth(TABLE, TABLE_KEY, too_long).auxeth(SCRATCH, SCRATCH_KEY)
    yield "write_d_too_long", write_packet("WRITE_ONLY", b"", too_long, "D")
    yield "write_td_longer_than_mtu", write_packet("WRITE_ONLY", b"", mtu + 1, "TD")


def bad_response_packets(mtu):
    response = answer("RESPONSE", 0x000100, 1).rspeth("OK", 0)
    yield "response_cut", cut(response, 4)
    yield "response_with_trailing_bytes", longer(response, 4)
    yield "response_status_reserved", answer("RESPONSE", 0x000100, 1).rspeth(5, 0)
    first = answer("READ_RESPONSE_FIRST", 0x000100, 1).rdeth(1, 2 * mtu)
    yield "read_response_first_without_payload", first
    yield "read_response_first_payload_short", answer("READ_RESPONSE_FIRST", 0x000100, 1).rdeth(1, 2 * mtu).payload(
        pattern(0, mtu - 4))
    yield "read_response_middle_payload_long", answer("READ_RESPONSE_MIDDLE", 0x000100, 1).rdeth(1, 4 * mtu).payload(
        pattern(0, mtu + 4))
    yield "read_response_last_without_payload", answer("READ_RESPONSE_LAST", 0x000100, 1).rdeth(1, 2 * mtu)
    yield "read_response_only_shorter_than_length", answer("READ_RESPONSE_ONLY", 0x000100, 1).rdeth(1, 20).payload(
        pattern(0, 16))
    yield "read_response_only_longer_than_length", answer("READ_RESPONSE_ONLY", 0x000100, 1).rdeth(1, 12).payload(
        pattern(0, 16))
    yield "read_response_rdeth_cut", cut(answer("READ_RESPONSE_ONLY", 0x000100, 1).rdeth(1, 0), 4)


def bad_operand_packets():
    for n in (0, 1, 4, 12, 24, 33, 64, 255):
        yield f"cas_n_{n}", cas_packet(n=n)
    for mode in (3, 255):
        yield f"cas_mode_{mode}", cas_packet(mode=mode)
    yield "cas_compare_data_without_d", cas_packet(cas_flags=1)

def bad_alignment_packets():
    for n in (8, 16, 32):
        yield f"cas_{n}_misaligned", cas_packet(n=n, va=TABLE + n // 2)
    yield "cas_t_misaligned", cas_packet(flags="T", va=TABLE + 4)
    yield "read_t_misaligned", Packet("READ", 0x000100, "T").reth(TABLE + 1, TABLE_KEY, 16)
    yield "read_tb_misaligned", Packet("READ", 0x000100, "TB").reth(TABLE + 8, TABLE_KEY, 16)
    for flags, off in (("T", 4), ("TB", 8)):
        yield f"write_{flags.lower()}_misaligned", (Packet("WRITE_ONLY", 0x000100, flags)
                                                    .reth(TABLE + off, TABLE_KEY, 16).payload(pattern(0, 16)))
    for flags, off in (("R", 4), ("BR", 8)):
        yield f"allocate_{flags.lower()}_misaligned", (Packet("ALLOCATE_ONLY", 0x000100, flags).aleth(FREE_LIST, 16, 0)
                                                       .auxeth(SCRATCH + off, SCRATCH_KEY).payload(pattern(0, 16)))


def bad_flags_packets():
    for row in flag_table():
        for operation in OPERATIONS:
            if not row[operation]:
                name = f"{operation.lower()}_{''.join(row['flags']).lower()}"
                yield name, sample_request(operation, row["flags"])
    for opcode in ("WRITE_MIDDLE", "ALLOCATE_MIDDLE"):
        bad = "R" if opcode.startswith("WRITE") else "T"
        yield f"{opcode.lower()}_{bad.lower()}", Packet(opcode, 0x000100, bad).payload(pattern(0, 256))


def unknown_opcode_packets():
    known = set(OPCODES.values())
    for code in range(0xC0, 0x100):
        if code not in known:
            yield f"opcode_{code:02x}", Packet(code, 0x000100).payload(pattern(0, 16))


def invalid_packets():
    mtu = 256
    made = []
    for reject, packets in (("bad_format", bad_format_packets(mtu)), ("bad_format", bad_response_packets(mtu)),
                            ("bad_flags", bad_flags_packets()), ("bad_operand", bad_operand_packets()),
                            ("bad_alignment", bad_alignment_packets()), ("unknown_opcode", unknown_opcode_packets())):
        for name, packet in packets:
            kind = "response" if "response" in name else "request"
            route = back() if kind == "response" else flow()
            made.append({"name": f"{reject}_{name}", "kind": kind, "mtu": mtu, "reject": reject, "flow": route,
                         "hex": packet.finish(route).hex()})
    return made


def plain_entry(k):
    """Returns an entry to put around the refused one: it writes 16 bytes 0x10 + k to a place of its own."""
    return Entry(write_of(0x000100 + k, bytes([0x10 + k]) * 16, va=TABLE + 16 * k))


def raw_entry(opcode, k, body=b"", flags=""):
    """Returns an entry with any opcode and body."""
    return Entry(Packet(opcode, 0x000100 + k, flags).add("body", body, ""))


def malformed_bodies(plain, opcode):
    """Bundles that are malformed: the bytes behind the BTH. @plain makes the correct entries."""
    two = [plain(k).bytes() for k in range(2)]
    last = two[1]
    both = b"".join(two)

    def said(length, entry=last):
        return entry[:2] + struct.pack("!H", length) + entry[4:]

    size = int.from_bytes(last[2:4], "big")
    yield "no_entry", b""
    yield "one_entry", two[0]
    yield "one_entry_without_a_body", two[0][:2] + b"\0\0"
    for count in (1, 2, 3):
        yield f"entry_header_cut_to_{count}", both + last[:count]
        yield f"{count}_bytes_behind_the_last_entry", both + bytes(count)
        yield f"{count}_words_of_ones_behind_the_last_entry", both + b"\xff" * (4 * count)
        yield f"last_body_cut_by_{count}", both[:-count]
    yield "last_body_cut_by_4", both[:-4]
    yield "one_entry_and_half_of_another", two[0] + last[:8]
    yield "last_body_overruns_by_1", two[0] + said(size + 1)
    yield "last_body_overruns_by_4", two[0] + said(size + 4)
    yield "first_body_overruns", said(len(both) + 1) + last
    yield "first_body_is_all_the_rest", said(len(both) - 4) + last
    for length in (0xFFFF, 0xFFFD, 0xFFFC, 0x8000):
        yield f"first_length_{length:04x}", said(length) + last
        yield f"last_length_{length:04x}", two[0] + said(length)
    yield "third_entry_ends_behind_the_packet", both + struct.pack("!BBH", OPCODES[opcode], 0, 4)


def forbidden_entries():
    """Entries that W.12.1 does not allow in a BUNDLE, each made for a place @k."""
    reth = struct.pack("!QII", TABLE, TABLE_KEY, 16)
    inner = plain_entry(0).bytes()
    for name, opcode, body in (
            ("bundle", "BUNDLE", inner * 2), ("bundle_response", "BUNDLE_RESPONSE", inner * 2),
            ("empty_bundle", "BUNDLE", b""),
            ("send_only", 0x04, pattern(0, 16)), ("send_first", 0x00, pattern(0, 16)),
            ("standard_write", 0x0A, reth + pattern(0, 16)), ("standard_read", 0x0C, reth),
            ("standard_cmp_and_swap", 0x13, struct.pack("!QIQQ", TABLE, TABLE_KEY, 1, 0)),
            ("acknowledge", "ACKNOWLEDGE", b"\x1f\0\0\1"), ("ud_send", 0x64, bytes(8) + pattern(0, 16)),
            ("write_first", "WRITE_FIRST", reth[:12] + struct.pack("!I", 512) + pattern(0, 64)),
            ("write_middle", "WRITE_MIDDLE", pattern(0, 64)), ("write_last", "WRITE_LAST", pattern(0, 16)),
            ("allocate_first", "ALLOCATE_FIRST", struct.pack("!III", FREE_LIST, 512, 0) + pattern(0, 64)),
            ("allocate_middle", "ALLOCATE_MIDDLE", pattern(0, 64)), ("allocate_last", "ALLOCATE_LAST", pattern(0, 16)),
            ("response", "RESPONSE", b"\x1f\0\0\1" + bytes(44)),
            ("read_response_only", "READ_RESPONSE_ONLY", b"\x1f\0\0\1" + bytes(8)),
            ("opcode_cb", 0xCB, reth), ("opcode_ff", 0xFF, b"")):
        yield name, lambda k, opcode=opcode, body=body: raw_entry(opcode, k, body)
    yield "read_of_mtu_and_1", lambda k: Entry(read_of(0x000100 + k, 257))
    yield "read_tb_of_mtu_and_1", lambda k: Entry(read_of(0x000100 + k, 257, "TB"))
    yield "read_of_1_mib", lambda k: Entry(read_of(0x000100 + k, MAX_INDIRECT_READ))


def refused_entries():
    """(reject, name, entry for a place @k): entries that a BUNDLE may have and that break another rule of W.5."""
    def made(packet, body=None):
        return lambda k: Entry(at_psn(packet, 0x000100 + k)) if body is None else raw_entry(
            packet.fields["opcode_name"], k, body, packet.fields["flags"])

    def body_of(packet):
        return Entry(packet).body

    read, write = sample_request("READ", ""), sample_request("WRITE", "")
    for name, packet in (("read", read), ("read_r", sample_request("READ", "R")), ("write", write),
                         ("allocate", sample_request("ALLOCATE", "")), ("cas", sample_request("CAS", "")),
                         ("cas_d", sample_request("CAS", "D"))):
        body = body_of(packet)
        yield "bad_format", f"{name}_without_a_body", made(packet, b"")
        yield "bad_format", f"{name}_short_by_1", made(packet, body[:-1])
        yield "bad_format", f"{name}_short_by_4", made(packet, body[:-4])
        yield "bad_format", f"{name}_with_trailing_byte", made(packet, body + b"\0")
        yield "bad_format", f"{name}_with_trailing_word", made(packet, body + bytes(4))
    yield "bad_format", "read_r_without_auxeth", made(sample_request("READ", "R"), body_of(read))
    yield "bad_format", "write_d_with_payload", made(sample_request("WRITE", "D"), body_of(sample_request("WRITE", "D"))
                                                     + pattern(0, 16))
    yield "bad_format", "write_length_huge", made(Packet("WRITE_ONLY", 0).reth(TABLE, TABLE_KEY, 0xFFFFFFFF)
                                                  .payload(pattern(0, 16)))
    yield "bad_format", "read_r_too_long", made(read_of(0, MAX_INDIRECT_READ + 1, "R"))
    yield "bad_format", "write_td_longer_than_mtu", made(write_packet("WRITE_ONLY", b"", 257, "TD"))
    for operation, flags in (("READ", "D"), ("READ", "B"), ("WRITE", "R"), ("WRITE", "B"), ("CAS", "B"), ("CAS", "R"),
                             ("ALLOCATE", "T"), ("ALLOCATE", "B"), ("READ", "TDBCR")):
        yield "bad_flags", f"{operation.lower()}_{flags.lower()}", made(sample_request(operation, flags))
    yield "bad_operand", "cas_n_12", made(cas_packet(n=12))
    yield "bad_operand", "cas_mode_3", made(cas_packet(mode=3))
    yield "bad_operand", "cas_compare_data_without_d", made(cas_packet(cas_flags=1))
    yield "bad_alignment", "cas_misaligned", made(cas_packet(va=TABLE + 4))
    yield "bad_alignment", "cas_32_misaligned", made(cas_packet(n=32, va=TABLE + 16))
    yield "bad_alignment", "read_t_misaligned", made(Packet("READ", 0, "T").reth(TABLE + 1, TABLE_KEY, 16))
    yield "bad_alignment", "write_tb_misaligned", made(Packet("WRITE_ONLY", 0, "TB").reth(TABLE + 8, TABLE_KEY, 16)
                                                       .payload(pattern(0, 16)))
    yield "bad_alignment", "allocate_r_misaligned", made(Packet("ALLOCATE_ONLY", 0, "R").aleth(FREE_LIST, 16, 0)
                                                         .auxeth(SCRATCH + 4, SCRATCH_KEY).payload(pattern(0, 16)))


def at_psn(packet, psn):
    """Returns @packet in another place of the sequence."""
    moved = copy.copy(packet)
    moved.fields = {**packet.fields, "psn": psn}
    return moved


def plain_answer(k):
    """Returns the answer to a CAS of 8 bytes."""
    return Entry(answer("RESPONSE", 0x000100 + k, 1 + k).rspeth("OK", 0, word(0x1122334455667700 + k)))


def forbidden_answers():
    """Entries that W.12.1 does not allow in a BUNDLE_RESPONSE, and invalid answers (W.6.4)."""
    aeth = b"\x1f\0\0\1"
    for name, opcode, body in (
            ("bundle_response", "BUNDLE_RESPONSE", plain_answer(0).bytes() * 2), ("bundle", "BUNDLE", b""),
            ("acknowledge", "ACKNOWLEDGE", aeth), ("nak", "ACKNOWLEDGE", b"\x61\0\0\1"),
            ("read_response_first", "READ_RESPONSE_FIRST", aeth + struct.pack("!II", 1, 512) + pattern(0, 64)),
            ("read_response_middle", "READ_RESPONSE_MIDDLE", aeth + struct.pack("!II", 1, 512) + pattern(0, 64)),
            ("read_response_last", "READ_RESPONSE_LAST", aeth + struct.pack("!II", 1, 512) + pattern(0, 64)),
            ("standard_read_response", 0x10, aeth + pattern(0, 16)), ("atomic_acknowledge", 0x12, aeth + bytes(8)),
            ("read", "READ", struct.pack("!QII", TABLE, TABLE_KEY, 16)), ("write", "WRITE_ONLY", bytes(16)),
            ("opcode_d6", 0xD6, b"")):
        yield name, raw_answer(opcode, body)
    for size in (0, 4, 15, 49, 52):
        yield f"response_of_{size}", raw_answer("RESPONSE", (aeth + bytes(48))[:size])
    yield "response_status_5", raw_answer("RESPONSE", aeth + b"\5" + bytes(11))
    data = aeth + struct.pack("!II", 1, 16)
    for name, body in (("without_a_body", b""), ("headers_cut", data[:8]), ("payload_short", data + pattern(0, 12)),
                       ("payload_long", data + pattern(0, 20)), ("without_payload", data)):
        yield f"read_response_only_{name}", raw_answer("READ_RESPONSE_ONLY", body)


def raw_answer(opcode, body):
    return lambda k: Entry(Packet(opcode, 0x000100 + k, qpn=REQUESTER_QPN).add("body", body, ""))


def full_mtu_bundles(mtu):
    """(name, entries): parts of messages that are correct except that they are entries; there is little room beside an
    MTU."""
    full = pattern(0, mtu)
    yield "write_first_of_one_mtu", 0, [Entry(part("WRITE", "FIRST", 0x100, full, "", 2 * mtu)), raw_entry("READ", 1)]
    yield "allocate_first_of_one_mtu", 0, [Entry(part("ALLOCATE", "FIRST", 0x100, full, "", 2 * mtu)),
                                           raw_entry("READ", 1)]
    yield "write_middle_of_one_mtu", 0, [Entry(part("WRITE", "MIDDLE", 0x100, full)), Entry(write_of(0x101, b""))]


def invalid_bundles():
    """Bundles to be refused. Entries before the one at fault count as executed; none if the bundle is malformed."""
    mtu, made = 256, []

    def put(kind, name, reject, executed, bundle, size=mtu, formed=True):
        route = flow() if kind == "request" else back()
        assert well_formed(bundle.body(), size) == formed, name
        made.append({"name": name, "kind": kind, "mtu": size, "flow": route, "hex": bundle.finish(route).hex(),
                     "reject": reject, "executed": executed})

    for kind, opcode, plain in (("request", "BUNDLE", plain_entry), ("response", "BUNDLE_RESPONSE", plain_answer)):
        prefix = "bundle" if kind == "request" else "bundle_response"
        bth = Bundle(opcode, 0x000100, []).body()
        for name, body in malformed_bodies(plain, "READ" if kind == "request" else "RESPONSE"):
            put(kind, f"{prefix}_{name}", "bad_format", 0, Raw(bth + body), formed=False)
        put(kind, f"{prefix}_of_17", "bad_format", 0, Bundle(opcode, 0x000100, [plain(k) for k in range(17)]), 1024, False)
        for count in (1, 2, 3):  # each of these words is an entry header: an empty entry of opcode 0
            put(kind, f"{prefix}_{count}_words_of_zeros_behind_the_last_entry", "bad_format", 2,
                longer(Bundle(opcode, 0x000100, [plain(0), plain(1)]), 4 * count))
    for size in (256, 4096):
        bundle = request_bundle([write_of(0x100, pattern(0, size - 12)), write_of(0x101, b"")])
        assert len(bundle.body()) == size + BUNDLE_HEADERS + 4
        put("request", f"bundle_too_long_by_4_{size}", "bad_format", 0, bundle, size, False)
        payload = pattern(0, size - 8)
        bundle = answer_bundle([answer("READ_RESPONSE_ONLY", 0x100, 1).rdeth(1, size - 8).payload(payload),
                                answer("RESPONSE", 0x101, 2).rspeth("OK", 0)])
        assert len(bundle.body()) == size + BUNDLE_HEADERS + 4
        put("response", f"bundle_response_too_long_by_4_{size}", "bad_format", 0, bundle, size, False)

    places = {"first": 0, "middle": 1, "last": 2}
    for reject, name, entry in [("bad_format", *row) for row in forbidden_entries()] + list(refused_entries()):
        for place, k in places.items():
            entries = [entry(i) if i == k else plain_entry(i) for i in range(3)]
            size = 1024 if "read_of_mtu" not in name and len(Bundle("BUNDLE", 0x100, entries).body()) > 292 else mtu
            put("request", f"bundle_{name}_{place}", reject, k, Bundle("BUNDLE", 0x000100, entries), size)
    for name, executed, entries in full_mtu_bundles(mtu):
        put("request", f"bundle_{name}", "bad_format", executed, Bundle("BUNDLE", 0x000100, entries))
    for name, entry in forbidden_answers():
        for place, k in places.items():
            if place == "middle" and name.startswith(("response_of", "response_status", "read_response_only")):
                continue  # the entries behind such an answer are checked: a loss, and no rule of bundles
            if place == "first" and name.startswith(("response_of", "response_status", "read_response_only")):
                continue
            entries = [entry(i) if i == k else plain_answer(i) for i in range(3)]
            put("response", f"bundle_response_{name}_{place}", "bad_format", k,
                Bundle("BUNDLE_RESPONSE", 0x000100, entries))
    return made


def part(kind, which, psn, data, flags="", total=0):
    packet = Packet(f"{kind}_{which}", psn, flags, pad=pad_of(data))
    if which in ("FIRST", "ONLY"):
        if kind == "WRITE":
            packet.reth(TABLE, TABLE_KEY, total)
        else:
            packet.aleth(FREE_LIST, total, 0)
    return packet.payload(data)


def invalid_sequences():
    """Packets that are each well-formed alone; the responder must refuse the last one of each sequence."""
    mtu, full = 256, pattern(0, 256)
    made = []

    def put(name, reject, packets):
        made.append({"name": name, "mtu": mtu, "reject": reject, "flow": flow(),
                     "packets": [p.finish(flow()).hex() for p in packets]})

    for kind in ("WRITE", "ALLOCATE"):
        low = kind.lower()
        first = lambda total=600, flags="": part(kind, "FIRST", 0x100, full, flags, total)  # noqa: E731
        put(f"{low}_middle_without_first", "bad_format", [part(kind, "MIDDLE", 0x100, full)])
        put(f"{low}_last_without_first", "bad_format", [part(kind, "LAST", 0x100, full)])
        put(f"{low}_first_inside_message", "bad_format", [first(), part(kind, "FIRST", 0x101, full, "", 600)])
        put(f"{low}_only_inside_message", "bad_format", [first(), part(kind, "ONLY", 0x101, full, "", 256)])
        put(f"{low}_read_inside_message", "bad_format",
            [first(), Packet("READ", 0x101).reth(TABLE, TABLE_KEY, 16)])
        put(f"{low}_last_sum_short", "bad_format", [first(), part(kind, "LAST", 0x101, pattern(0, 300 - 256))])
        put(f"{low}_last_sum_long", "bad_format", [first(300), part(kind, "LAST", 0x101, pattern(0, 48))])
        put(f"{low}_middle_beyond_total", "bad_format", [first(300), part(kind, "MIDDLE", 0x101, full)])
        put(f"{low}_first_beyond_total", "bad_format", [first(255)])
        put(f"{low}_nothing_left_for_last", "bad_format",
            [first(512), part(kind, "MIDDLE", 0x101, full), part(kind, "LAST", 0x102, pattern(0, 4))])
        put(f"{low}_first_is_all", "bad_format", [first(256), part(kind, "LAST", 0x101, pattern(0, 4))])
        put(f"{low}_middle_flags_differ", "bad_flags", [first(), part(kind, "MIDDLE", 0x101, full, "C")])
        put(f"{low}_last_flags_differ", "bad_flags", [first(300, "C"), part(kind, "LAST", 0x101, pattern(0, 44))])
    put("allocate_last_in_write", "bad_format",
        [part("WRITE", "FIRST", 0x100, full, "", 300), part("ALLOCATE", "LAST", 0x101, pattern(0, 44))])
    return made


def icrc_vectors(vectors):
    """Verdicts of a receiver that cannot see the IP identification."""
    made = []
    for name, ip_id, verdict in (("id_0", 0, "exact"), ("id_1", 1, "id_unknown"), ("id_63", 63, "id_unknown"),
                                 ("id_65535", 65535, "id_unknown")):
        route = flow(ip_id=ip_id)
        data = Packet("READ", 0x00A001, "T", ack_req=1).reth(TABLE + 8, TABLE_KEY, 64).finish(route)
        made.append({"name": name, "flow": route, "hex": data.hex(), "verdict": verdict})
    good = bytes.fromhex(next(v["hex"] for v in vectors if v["name"] == "read_t"))
    marked = good[:4] + b"\xc0" + good[5:]
    made.append({"name": "fecn_and_becn_set", "flow": flow(), "hex": marked.hex(), "verdict": "exact"})
    for name, position in (("bit_of_flags_flipped", 8), ("bit_of_address_flipped", 19), ("bit_of_icrc_flipped", 28)):
        damaged = bytearray(good)
        damaged[position] ^= 0x20
        made.append({"name": name, "flow": flow(), "hex": damaged.hex(), "verdict": "bad"})
    six = bytes.fromhex(next(v["hex"] for v in vectors if v["name"] == "ipv6_read_t"))
    made.append({"name": "ipv6", "flow": flow(REQUESTER6, RESPONDER6, source_port=0xC123), "hex": six.hex(),
                 "verdict": "exact"})
    made.append({"name": "ipv6_other_port", "flow": flow(REQUESTER6, RESPONDER6), "hex": six.hex(), "verdict": "bad"})
    for vector in made:
        if vector["verdict"] == "bad":
            damaged = bytes.fromhex(vector["hex"])
            ids = range(65536) if "ip_id" in vector["flow"] else (None,)
            crc = struct.unpack("<I", damaged[-4:])[0]
            assert all(icrc({**vector["flow"], "ip_id": i}, damaged[:-4]) != crc for i in ids), vector["name"]
    return made


def cas_step(mode, compare, swap, compare_mask, swap_mask, target):
    def number(data):
        return int.from_bytes(data, "little")

    left, right = number(compare) & number(compare_mask), number(target) & number(compare_mask)
    success = {"EQ": left == right, "GT": left > right, "LT": left < right}[mode]
    if not success:
        return False, target
    mask = number(swap_mask)
    return True, (number(target) & ~mask | number(swap) & mask).to_bytes(len(target), "little")


def cas_vectors():
    made = []

    def put(name, mode, n, compare, swap, compare_mask, swap_mask, target):
        success, after = cas_step(mode, compare, swap, compare_mask, swap_mask, target)
        made.append({"name": name, "mode": MODES[mode], "n": n, "compare": compare.hex(), "swap": swap.hex(),
                     "compare_mask": compare_mask.hex(), "swap_mask": swap_mask.hex(), "target_before": target.hex(),
                     "expect_success": success, "target_after": after.hex()})

    for n in (8, 16, 32):
        ones, zeros = ALL_ONES[n], bytes(n)
        top, low = bytes(n - 1) + b"\x80", b"\x01" + bytes(n - 1)
        low_half = b"\xff" * (n // 2) + bytes(n // 2)
        for mode in MODES:
            put(f"{mode}_{n}_equal", mode, n, top, low, ones, ones, top)
            put(f"{mode}_{n}_compare_greater", mode, n, top, zeros, ones, ones, low)
            put(f"{mode}_{n}_compare_less", mode, n, low, zeros, ones, ones, top)
            put(f"{mode}_{n}_compare_mask_zero", mode, n, top, ones, zeros, ones, low)
            put(f"{mode}_{n}_swap_mask_zero", mode, n, top, ones, ones, zeros, low)
            put(f"{mode}_{n}_low_half_compared", mode, n, low, ones, low_half, ones, low[:n // 2] + b"\xff" * (n // 2))
            put(f"{mode}_{n}_low_half_swapped", mode, n, top, ones, ones, low_half, zeros)
            put(f"{mode}_{n}_unsigned", mode, n, ones, zeros, ones, ones, zeros)
            # the low byte decides one way, the high byte the other: the high one counts
            put(f"{mode}_{n}_high_byte_decides", mode, n, b"\xff" + bytes(n - 1), zeros, ones, ones,
                bytes(n - 1) + b"\x01")
            for byte in range(n):
                unit = bytes(byte) + b"\x02" + bytes(n - byte - 1)
                put(f"{mode}_{n}_byte_{byte}", mode, n, unit, ones, unit, unit, unit)
    rng = random.Random(1)
    for index in range(300):
        n, mode = rng.choice((8, 16, 32)), rng.choice(list(MODES))
        compare, swap, compare_mask, swap_mask, target = (rng.randbytes(n) for _ in range(5))
        if rng.random() < 0.5:  # near misses and hits, which uniform bytes would hardly ever give
            target = bytearray(compare)
            if rng.random() < 0.6:
                target[rng.randrange(n)] ^= 1 << rng.randrange(8)
            target = bytes(target)
        put(f"random_{index}", mode, n, compare, swap, compare_mask, swap_mask, target)
    return made


def capability(magic=b"PRSM", low=1, high=1, reserved=0, features=0xFF):
    return magic + struct.pack("!BBHQ", low, high, reserved, features)


def capability_vectors():
    made = []
    for name, error, args in (
            ("version_1_all_features", None, {}),
            ("versions_1_and_2_all_features", None, {"high": 2}),
            ("version_2_all_features", None, {"low": 2, "high": 2}),
            ("versions_1_and_2_no_features", None, {"high": 2, "features": 0}),
            ("no_features", None, {"features": 0}),
            ("read_side_only", None, {"features": 0x03}),
            ("future_features_and_reserved_bits", None, {"features": 0xFFFFFFFFFFFFFFFF, "reserved": 0xFFFF}),
            ("versions_1_to_3", None, {"high": 3}),
            ("versions_2_to_3", None, {"low": 2, "high": 3}),
            ("versions_1_to_255", None, {"high": 255}),
            ("version_3", "EPROTONOSUPPORT", {"low": 3, "high": 3}),
            ("versions_3_to_4", "EPROTONOSUPPORT", {"low": 3, "high": 4}),
            ("other_magic", "EINVAL", {"magic": b"PRSN"}),
            ("version_0", "EINVAL", {"low": 0, "high": 1}),
            ("versions_0_to_2", "EINVAL", {"low": 0, "high": 2}),
            ("range_reversed", "EINVAL", {"low": 2, "high": 1}),
            ("zeros", "EINVAL", {"magic": bytes(4), "low": 0, "high": 0, "features": 0})):
        data = capability(**args)
        low, high, features = args.get("low", 1), args.get("high", 1), args.get("features", 0xFF)
        made.append({"name": name, "hex": data.hex(), "error": error, "bundles": error is None and high >= 2,
                     "fields": {"version_low": low, "version_high": high, "features": f"0x{features:016x}"}})
    return made


def document(book):
    return {
        "license": "SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB",
        "source": "made by tests/vectors/encode.py; see README.md there",
        "protocol_version": 2,
        "vectors": book.vectors,
        "bundles": book.bundles,
        "invalid": invalid_packets(),
        "invalid_sequences": invalid_sequences(),
        "invalid_bundles": invalid_bundles(),
        "flag_table": flag_table(),
        "icrc": icrc_vectors(book.vectors),
        "cas": cas_vectors(),
        "capability": capability_vectors(),
        "steering": steering_vectors(),
    }


def json_text(book):
    """Returns one vector per line: a change of one shows as one line in a diff."""
    lines = []
    for key, value in document(book).items():
        if isinstance(value, list):
            rows = ",\n".join("  " + json.dumps(row) for row in value)
            lines.append(f" {json.dumps(key)}: [\n{rows}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


SLOT_PORT = 0xF000  # plus a slot: the port that its context sends from (W.1.1)


def steering_vectors():
    """Questions of contexts behind one address (W.1.3): from it and to it, sent from the port of the asker's slot."""
    out = []
    for name, address, asker, index, nonce, text in (
            ("steering_first", REQUESTER, 5, 0, 0, "Slot 5 asks who is the first of its group. Its name is the slot's."),
            ("steering_named", REQUESTER, 0x3FF, 0x3FF, 0x89ABCDEF, "The last slot and the last index there may be. "
             "Somebody had taken the slot's name: this one's has an ending."),
            ("ipv6_steering", "::1", 1, 2, 0, "Over IPv6; contexts share ::1 too.")):
        fields = {"asker": asker, "index": index, "nonce": nonce}
        out.append({"name": name, "description": text, "flow": flow(address, address, source_port=SLOT_PORT + asker),
                    "hex": (b"PR" + struct.pack("!HII", asker, index, nonce)).hex(), "fields": fields})
    return out


def hex_rows(rows):
    offset = 0
    for header, data, text in rows:
        for start in range(0, len(data), 16):
            chunk = data[start:start + 16]
            label = header if start == 0 else ""
            if len(data) <= 8:
                line = f"{offset:04x}  {chunk.hex(' '):<24} {label:<8} {text}"
            else:
                line = f"{offset:04x}  {chunk.hex(' '):<48} {label}"
            yield line.rstrip()
            offset += len(chunk)


def route_text(route):
    text = f"{route['source']} port {route['source_port']} to {route['destination']} port {route['destination_port']}"
    return text + (f", IP identification {route['ip_id']}" if "ip_id" in route else "")


def capability_markdown():
    out = ["### Capability record", ""]
    for name, high, text in (("version_1_all_features", 1, "What a device of protocol version 1 with all features says of "
                              "itself."),
                             ("versions_1_and_2_all_features", 2, "What a device says that speaks bundles too.")):
        data = capability(high=high)
        rows = [("record", data[:4], "magic, ASCII \"PRSM\""),
                ("", data[4:8], f"lowest version 1; highest version {high}; reserved 0"),
                ("", data[8:], "features " + " ".join(FEATURES))]
        out += [f"#### {name}", "", text, "", "```text", *hex_rows(rows), "```", ""]
    return out


def steering_markdown():
    out = ["### Steering questions", ""]
    for vector in steering_vectors():
        data, fields = bytes.fromhex(vector["hex"]), vector["fields"]
        rows = [("question", data[:4], f"magic, ASCII \"PR\"; asker, slot {fields['asker']}"),
                ("", data[4:8], f"index {fields['index']}"), ("", data[8:], f"nonce 0x{fields['nonce']:08x}")]
        out += [f"#### {vector['name']}", "", textwrap.fill(vector["description"], 118), "",
                f"{route_text(vector['flow'])}; {len(data)} bytes.", "", "```text", *hex_rows(rows), "```", ""]
    return out


def markdown(book):
    out = []
    for example in book.examples:
        if example[0] == "section":
            out += [f"### {example[1]}", ""]
            continue
        _, name, description, route, mtu, rows = example
        size = sum(len(data) for _, data, _ in rows)
        out += [f"#### {name}", "", textwrap.fill(description, 118), "",
                f"{route_text(route)}; MTU {mtu}; {size} bytes.", "", "```text", *hex_rows(rows), "```", ""]
    return "\n".join(out + capability_markdown() + steering_markdown())


def flags_markdown():
    out = ["| flags | bits | " + " | ".join(OPERATIONS) + " |", "|---|---|" + "---|" * len(OPERATIONS)]
    for row in flag_table():
        verdicts = ["legal" if row[operation] else "**illegal**" for operation in OPERATIONS]
        out.append(f"| {' '.join(row['flags']) or 'none'} | 0x{row['bits']:02x} | " + " | ".join(verdicts) + " |")
    return "\n".join(out) + "\n"


def replace_generated(text, option, generated):
    begin, end = f"<!-- begin: encode.py {option} -->\n", f"<!-- end: encode.py {option} -->"
    head, rest = text.split(begin, 1)
    tail = rest.split(end, 1)[1]
    return f"{head}{begin}\n{generated.rstrip()}\n\n{end}{tail}"


def expected_files(book):
    return {
        VECTORS: json_text(book),
        WIRE: replace_generated(WIRE.read_text(), "--markdown", markdown(book)),
        SEMANTICS: replace_generated(SEMANTICS.read_text(), "--flags", flags_markdown()),
    }


def check(book):
    stale = [path for path, text in expected_files(book).items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path} is not what encode.py makes: run encode.py --write, or mend the encoder", file=sys.stderr)
    names = [v["name"] for v in book.vectors + book.bundles + invalid_bundles()]
    assert len(names) == len(set(names)), "two vectors of one name"
    if not stale:
        print(f"{len(names)} packets and the documents' examples are up to date")
    return 1 if stale else 0


def scapy_check(book):
    """Compares the ICRC with independent code. scapy has no IPv6 for RoCE: those vectors are left out, and counted."""
    from scapy.contrib.roce import BTH  # pylint: disable=import-outside-toplevel
    from scapy.all import IP, UDP, raw  # pylint: disable=import-outside-toplevel
    compared = failed = 0
    vectors = book.vectors + book.bundles + invalid_bundles()
    for vector in vectors:
        route, data = vector["flow"], bytes.fromhex(vector["hex"])
        if "ip_id" not in route:
            continue
        headers = IP(src=route["source"], dst=route["destination"], id=route["ip_id"], flags="DF")
        udp = UDP(sport=route["source_port"], dport=route["destination_port"])
        packet = IP(raw(headers / udp / BTH(data)))
        packet[BTH].icrc = None
        compared += 1
        if raw(packet)[-4:] != data[-4:]:
            failed += 1
            print(f"{vector['name']}: scapy says {raw(packet)[-4:].hex()}", file=sys.stderr)
    print(f"{compared} ICRCs compared with scapy, {failed} differ, {len(vectors) - compared} IPv6 ones left out")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group(required=True)
    for option in ("check", "write", "json", "markdown", "flags", "scapy"):
        group.add_argument(f"--{option}", action="store_true")
    args = parser.parse_args()
    book = make_book()
    if args.json:
        print(json_text(book), end="")
    elif args.markdown:
        print(markdown(book))
    elif args.flags:
        print(flags_markdown(), end="")
    elif args.write:
        for path, text in expected_files(book).items():
            path.write_text(text)
    return check(book) if args.check else scapy_check(book) if args.scapy else 0


if __name__ == "__main__":
    sys.exit(main())
