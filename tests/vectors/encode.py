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
    "ALLOCATE_FIRST": 0xC6, "ALLOCATE_MIDDLE": 0xC7, "ALLOCATE_LAST": 0xC8, "ALLOCATE_ONLY": 0xC9,
    "READ_RESPONSE_FIRST": 0xD0, "READ_RESPONSE_MIDDLE": 0xD1, "READ_RESPONSE_LAST": 0xD2, "READ_RESPONSE_ONLY": 0xD3,
    "RESPONSE": 0xD4,
}
FLAGS = {"T": 0x40, "D": 0x20, "B": 0x10, "C": 0x08, "R": 0x04}
STATUSES = {"OK": 0, "CAS_MISS": 1, "NULL_POINTER": 2, "NO_BUFFER": 3, "SKIPPED": 4}
MODES = {"EQ": 0, "GT": 1, "LT": 2}
SYNDROMES = {0x1F: "ACK", 0x60: "NAK, PSN sequence error", 0x61: "NAK, invalid request",
             0x62: "NAK, remote access error", 0x63: "NAK, remote operational error"}
FEATURES = {"INDIRECT": 1, "BOUNDED": 2, "DATA_INDIRECT": 4, "CONDITIONAL": 8, "REDIRECT": 16, "CAS": 32,
            "ALLOCATE": 64, "RESUME": 128}
MAX_INDIRECT_READ = 1 << 20

# The cast of the examples: who talks to whom, and what lies where at the responder.
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
    """The bytes that the ICRC of RoCEv2 covers (IBTA annex A17), variant fields as ones."""
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
        """@pad: bytes of padding really sent; by default what the BTH says."""
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
        self.vectors, self.examples = [], []

    def put(self, name, description, packet, route=None, mtu=1024):
        route = route or flow()
        data = packet.finish(route)
        self.vectors.append({"name": name, "description": description, "mtu": mtu, "flow": route, "hex": data.hex(),
                             "fields": packet.fields})
        self.examples.append(("packet", name, description, route, mtu, packet.rows))

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


def make_book():
    book = Book()
    for add in (add_reads, add_writes, add_cas, add_allocates, add_read_responses, add_responses, add_acknowledges,
                add_ipv6):
        add(book)
    return book


# What a legal packet is, in one place: each operation's own flags, and B's condition.
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
    """A well-formed request of @operation but for @flags, which need not be legal; aux goes along if the flags ask."""
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
    """A packet cut short or made longer: finished like a Packet, with nothing decoded."""

    def __init__(self, data):
        self.data = data

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


def part(kind, which, psn, data, flags="", total=0):
    packet = Packet(f"{kind}_{which}", psn, flags, pad=pad_of(data))
    if which in ("FIRST", "ONLY"):
        if kind == "WRITE":
            packet.reth(TABLE, TABLE_KEY, total)
        else:
            packet.aleth(FREE_LIST, total, 0)
    return packet.payload(data)


def invalid_sequences():
    """Packets each well-formed alone; the last one of each sequence is what the responder must refuse."""
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
    """What a receiver that cannot see the IP identification makes of a packet."""
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
            # the low byte says one thing, the high byte another: the high one decides
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
            ("no_features", None, {"features": 0}),
            ("read_side_only", None, {"features": 0x03}),
            ("future_features_and_reserved_bits", None, {"features": 0xFFFFFFFFFFFFFFFF, "reserved": 0xFFFF}),
            ("versions_1_to_3", None, {"high": 3}),
            ("versions_2_to_3", "EPROTONOSUPPORT", {"low": 2, "high": 3}),
            ("other_magic", "EINVAL", {"magic": b"PRSN"}),
            ("version_0", "EINVAL", {"low": 0, "high": 1}),
            ("range_reversed", "EINVAL", {"low": 2, "high": 1}),
            ("zeros", "EINVAL", {"magic": bytes(4), "low": 0, "high": 0, "features": 0})):
        data = capability(**args)
        low, high, features = args.get("low", 1), args.get("high", 1), args.get("features", 0xFF)
        made.append({"name": name, "hex": data.hex(), "error": error,
                     "fields": {"version_low": low, "version_high": high, "features": f"0x{features:016x}"}})
    return made


def document(book):
    return {
        "license": "SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB",
        "source": "made by tests/vectors/encode.py; see README.md there",
        "protocol_version": 1,
        "vectors": book.vectors,
        "invalid": invalid_packets(),
        "invalid_sequences": invalid_sequences(),
        "flag_table": flag_table(),
        "icrc": icrc_vectors(book.vectors),
        "cas": cas_vectors(),
        "capability": capability_vectors(),
    }


def json_text(book):
    """One vector a line: a change of one shows as one line in a diff."""
    lines = []
    for key, value in document(book).items():
        if isinstance(value, list):
            rows = ",\n".join("  " + json.dumps(row) for row in value)
            lines.append(f" {json.dumps(key)}: [\n{rows}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


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
    data = capability()
    rows = [("record", data[:4], "magic, ASCII \"PRSM\""),
            ("", data[4:8], "lowest version 1; highest version 1; reserved 0"),
            ("", data[8:], "features " + " ".join(FEATURES))]
    return ["### Capability record", "", "#### version_1_all_features", "",
            "What a device of protocol version 1 with all features says of itself.", "", "```text", *hex_rows(rows),
            "```", ""]


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
    return "\n".join(out + capability_markdown())


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
    names = [v["name"] for v in book.vectors]
    assert len(names) == len(set(names)), "two vectors of one name"
    if not stale:
        print(f"{len(names)} packets and the documents' examples are up to date")
    return 1 if stale else 0


def scapy_check(book):
    """The ICRC by somebody else's code. scapy has no IPv6 for RoCE: those vectors are left out, and counted."""
    from scapy.contrib.roce import BTH  # pylint: disable=import-outside-toplevel
    from scapy.all import IP, UDP, raw  # pylint: disable=import-outside-toplevel
    compared = failed = 0
    for vector in book.vectors:
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
    print(f"{compared} ICRCs compared with scapy, {failed} differ, {len(book.vectors) - compared} IPv6 ones left out")
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
