#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""wireshark/prism.lua against the vectors of the specification: dissector.py TEST, one of those below."""
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import captures  # noqa: E402
from captures import encode  # noqa: E402

VECTORS = json.loads((captures.SOURCE / "tests" / "vectors" / "vectors.json").read_text())
FLAG_NAMES = {"T": "indirect", "D": "data_indirect", "B": "bounded", "C": "conditional", "R": "redirect"}
OPCODE_ACKNOWLEDGE = 0x11
# Vectors whose fault a packet alone does not show: it takes the path MTU of the connection to see it.
NEEDS_MTU = {"bad_format_write_only_payload_long", "bad_format_allocate_only_payload_long",
             "bad_format_write_last_payload_long", "bad_format_allocate_last_payload_long",
             "bad_format_write_td_longer_than_mtu"}
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAIL:", text)


def with_icrc(flow, data):
    """Returns @data, the bytes before the ICRC, as a packet with a correct ICRC."""
    return data + struct.pack("<I", encode.icrc(flow, data))


def of_vectors(kind):
    return [(v["flow"], bytes.fromhex(v["hex"])) for v in VECTORS[kind]]


# Every field of every vector ------------------------------------------------------------------------------------

def flatten(fields):
    """Returns the fields of a vector by their names in the dissector, as numbers or hexadecimal strings."""
    flat = {"prism." + name: fields[name] for name in ("opcode", "se", "m", "pad", "tver", "pkey", "qpn", "ack_req",
                                                       "psn", "icrc")}
    if fields["opcode"] >= 0xC0:
        flat["prism.flags"] = "".join(fields["flags"])
        for letter, name in FLAG_NAMES.items():
            flat["prism.flags." + name] = int(letter in fields["flags"])
    for header in ("reth", "auxeth", "caseth", "aleth", "aeth", "rspeth", "rdeth"):
        for name, value in fields.get(header, {}).items():
            flat[f"prism.{header}.{name}"] = value
    for name in ("compare", "swap", "compare_mask", "swap_mask"):
        if name in fields:
            flat["prism.cas." + name] = fields[name]
    if "payload" in fields and not ("D" in fields["flags"] and fields["opcode_name"] == "WRITE_ONLY"):
        flat["prism.payload.size"] = len(fields["payload"]) // 2
        flat["prism.payload"] = fields["payload"]
    if "rspeth" in fields and "result" in fields:
        flat["prism.rspeth.result"] = fields["result"]
    return {name: value for name, value in flat.items() if value != ""}


def same(shown, expected):
    if isinstance(expected, str) and expected.startswith("0x"):
        return int(shown, 0) == int(expected, 0)
    if isinstance(expected, int):
        return int({"True": "1", "False": "0"}.get(shown, shown), 0) == expected
    return shown.replace(":", "").lower() == expected.lower()


def all_fields():
    names = {name for vector in VECTORS["vectors"] for name in flatten(vector["fields"])}
    return sorted(names | {"prism.auxeth.va", "prism.surplus", "prism.malformed", "prism.reserved_opcode", "prism.cut",
                           "prism.long_read", "infiniband.bth.opcode"})


def test_fields(folder):
    """Checks that every field has the value that the vector names, and that there are no others."""
    path = folder / "vectors.pcap"
    captures.write_capture(path, of_vectors("vectors"))
    names = all_fields()
    frames = captures.dissect(path, names)
    check(len(frames) == len(VECTORS["vectors"]), f"{len(frames)} frames of {len(VECTORS['vectors'])} vectors")
    compared = 0
    for vector, frame in zip(VECTORS["vectors"], frames):
        expected = flatten(vector["fields"])
        expected["infiniband.bth.opcode"] = vector["fields"]["opcode"]
        for name in names:
            shown = frame[name]
            compared += 1
            if name not in expected:
                check(not shown, f"{vector['name']}: {name} is {shown}, the vector has none")
            else:
                check(len(shown) == 1 and same(shown[0], expected[name]),
                      f"{vector['name']}: {name} is {shown}, not {expected[name]}")
    families = {":" in vector["flow"]["source"] for vector in VECTORS["vectors"]}
    check(families == {True, False}, "the vectors have both IPv4 and IPv6")
    opcodes = {vector["fields"]["opcode"] for vector in VECTORS["vectors"]} - {OPCODE_ACKNOWLEDGE}
    check(opcodes == {*range(0xC0, 0xCA), *range(0xD0, 0xD5)}, "the vectors have every opcode")
    print(f"{len(frames)} packets, {compared} fields")


def test_both_families(folder):
    """Checks that IPv6 changes nothing: every vector over both."""
    flows = {4: encode.flow(), 6: encode.flow("2001:db8::1", "2001:db8::2")}
    names = sorted(set(all_fields()) - {"prism.icrc"})
    shown = {}
    for family, flow in flows.items():
        path = folder / f"family{family}.pcap"
        captures.write_capture(path, [(flow, data) for _, data in of_vectors("vectors")])
        shown[family] = captures.dissect(path, names)
    for vector, old, new in zip(VECTORS["vectors"], shown[4], shown[6]):
        check(old == new, f"{vector['name']}: differs over IPv6")
    check(len(shown[4]) == len(VECTORS["vectors"]), "all frames")
    print(f"{len(shown[4])} packets over both families")


# Bundles --------------------------------------------------------------------------------------------------------

def flatten_entry(number, entry):
    """Returns the fields shown for an entry of a bundle: those of its packet that the entry has."""
    flat = flatten({**entry["fields"], "icrc": 0})
    for name in ("se", "m", "pad", "tver", "pkey", "qpn", "icrc"):
        del flat["prism." + name]
    if "prism.rspeth.result" in flat:
        flat["prism.rspeth.result"] = flat["prism.rspeth.result"][:2 * (entry["length"] - 16)]
        if not flat["prism.rspeth.result"]:
            del flat["prism.rspeth.result"]
    return {**flat, "prism.entry.number": number, "prism.entry.length": entry["length"]}


def test_bundles(folder):
    """Checks that for every bundle the fields of its BTH and of every entry are shown, in order, and no others; nothing
    is marked."""
    path = folder / "bundles.pcap"
    captures.write_capture(path, of_vectors("bundles"))
    expected = []
    for vector in VECTORS["bundles"]:
        flat = {name: [value] for name, value in flatten(vector["fields"]).items()}
        flat["prism.bundle.entries"] = [len(vector["entries"])]
        for number, entry in enumerate(vector["entries"]):
            for name, value in flatten_entry(number, entry).items():
                flat.setdefault(name, []).append(value)
        expected.append(flat)
    names = sorted({name for flat in expected for name in flat} | set(all_fields()) - {"infiniband.bth.opcode"})
    frames = captures.dissect(path, names)
    check(len(frames) == len(expected), f"{len(frames)} frames of {len(expected)} bundles")
    for vector, flat, frame in zip(VECTORS["bundles"], expected, frames):
        for name in names:
            shown, wanted = [value for value in frame[name] if value], flat.get(name, [])
            check(len(shown) == len(wanted) and all(same(*pair) for pair in zip(shown, wanted)),
                  f"{vector['name']}: {name} is {shown}, not {wanted}")
    opcodes = {vector["fields"]["opcode"] for vector in VECTORS["bundles"]}
    check(opcodes == {0xCA, 0xD5}, "the vectors have both kinds")
    lines = captures.run_tshark(path).splitlines()
    check("BUNDLE QP 0x004001 PSN 41040 3 entries: WRITE_ONLY, ALLOCATE_ONLY [BCR], CAS [DC]" in lines[0],
          f"the line of a bundle is {lines[0]}")
    print(f"{len(frames)} bundles, {sum(len(v['entries']) for v in VECTORS['bundles'])} entries")


# Faults that show only with the MTU of the connection
BUNDLE_NEEDS_MTU = ("bundle_too_long_by_4_256", "bundle_response_too_long_by_4_256", "bundle_read_of_mtu_and_1",
                    "bundle_read_tb_of_mtu_and_1", "bundle_write_td_longer_than_mtu")


def test_invalid_bundles(folder):
    """Checks that every refused bundle is marked; if it is well formed, the entry at fault is the first marked one."""
    path = folder / "invalid_bundles.pcap"
    captures.write_capture(path, of_vectors("invalid_bundles"))
    trees = json.loads(captures.run_tshark(path, "-T", "json", "--no-duplicate-keys"))
    unseen = 0
    for vector, frame, tree in zip(VECTORS["invalid_bundles"], captures.dissect(path, COMPLAINTS), trees, strict=True):
        if vector["name"].startswith(BUNDLE_NEEDS_MTU):
            unseen += 1
            check(not frame["prism.malformed"], f"{vector['name']}: marked without knowledge of the MTU")
            continue
        wanted = "prism.long_read" if "_too_long_" in vector["name"] and "by_4" not in vector["name"] \
            else "prism.malformed"
        check(frame[wanted], f"{vector['name']}: no {wanted} among {frame}")
        entries = tree["_source"]["layers"]["prism_rdma"].get("prism.entry", [])
        marked = [number for number, entry in enumerate(entries if isinstance(entries, list) else [entries])
                  if wanted in json.dumps(entry)]
        if encode.well_formed(bytes.fromhex(vector["hex"])[:-4], vector["mtu"]):
            check(marked[:1] == [vector["executed"]],
                  f"{vector['name']}: entries {marked} are marked, not {vector['executed']}")
    check(unseen == 11, f"{unseen} need the MTU")
    print(f"{len(VECTORS['invalid_bundles'])} invalid bundles")


def test_bundle_matching(folder):
    """Checks that entries are matched with requests and responses, also if only one side bundles."""
    there, back = encode.flow(), encode.back()
    reads = [encode.sample_request("READ", "R", 40 + k) for k in range(4)]
    replies = [encode.answer("RESPONSE", 40 + k, 1).rspeth("OK", 0) for k in range(4)]
    again = [encode.sample_request("CAS", "", 50 + k) for k in range(2)]
    swapped = [encode.answer("RESPONSE", 50 + k, 1).rspeth("CAS_MISS", 0, b"\1") for k in range(2)]
    path = folder / "bundle_matching.pcap"
    captures.write_capture(path, [
        (there, encode.request_bundle(reads[:3]).finish(there)), (there, reads[3].finish(there)),
        (back, replies[0].finish(back)), (back, encode.answer_bundle(replies[1:]).finish(back)),
        (there, again[0].finish(there)), (there, again[1].finish(there)),
        (back, encode.answer_bundle(swapped).finish(back))])
    frames = captures.dissect(path, ["prism.response_to", "prism.response_in", "prism.time"], "-2")
    check([frame["prism.response_to"] for frame in frames] ==
          [[], [], ["1"], ["1", "1", "2"], [], [], ["5", "6"]], f"response to: {frames}")
    check([frame["prism.response_in"] for frame in frames] == [["3", "4", "4"], ["4"], [], [], ["7"], ["7"], []],
          f"response in: {frames}")
    times = [round(float(time) * 1000) for frame in frames for time in frame["prism.time"]]
    check(times == [2, 3, 3, 2, 2, 1], f"times in ms: {times}")
    print("7 frames")


def test_bundle_trains(folder):
    """Checks that a train of bundles of one size is taken apart, with a last bundle or packet that is shorter."""
    there, back = encode.flow(), encode.back()
    data = {v["name"]: bytes.fromhex(v["hex"]) for v in VECTORS["bundles"]}
    trains = [(v["flow"], data[v["name"]] * 3, 3) for v in VECTORS["bundles"] if v["name"] != "bundle_reserved_bits"]
    trains.append((there, data["bundle_chain"] + data["bundle_two_reads"], 2))
    trains.append((there, data["bundle_chain"] + encode.sample_request("READ", "T", 60).finish(there), 2))
    trains.append((back, data["bundle_response_16"] + answer(None, 70), 2))
    path = folder / "bundle_trains.pcap"
    captures.write_capture(path, [(flow, piece) for flow, piece, _ in trains])
    frames = captures.dissect(path, ["prism.train.segment", "prism.malformed"])
    for (_, _, count), frame in zip(trains, frames, strict=True):
        check(frame["prism.train.segment"] == [str(k + 1) for k in range(count)], f"{frame} is not {count} packets")
        check(not frame["prism.malformed"], "a train is marked")
    print(f"{len(trains)} trains")


# Faults ----------------------------------------------------------------------------------------------------------

COMPLAINTS = ["prism.malformed", "prism.reserved_opcode", "prism.long_read"]


def expected_complaint(vector):
    if vector["reject"] == "unknown_opcode":
        return "prism.reserved_opcode"
    return "prism.long_read" if vector["name"].endswith("_too_long") else "prism.malformed"


def test_invalid(folder):
    """Checks that every packet with a visible fault is marked; only few faults need the MTU to be seen."""
    path = folder / "invalid.pcap"
    captures.write_capture(path, of_vectors("invalid"))
    unseen = set()
    for vector, frame in zip(VECTORS["invalid"], captures.dissect(path, COMPLAINTS), strict=True):
        if vector["name"] in NEEDS_MTU:
            unseen.add(vector["name"])
            continue
        check(frame[expected_complaint(vector)], f"{vector['name']}: no {expected_complaint(vector)} among {frame}")
    check(unseen == NEEDS_MTU, f"no such vectors: {NEEDS_MTU - unseen}")
    print(f"{len(VECTORS['invalid'])} invalid packets")


def test_flags(folder):
    """Checks all 32 combinations of flags with each operation: the illegal ones and only those are marked."""
    flow, cases = encode.flow(), []
    for row in VECTORS["flag_table"]:
        for operation in ("READ", "WRITE", "CAS", "ALLOCATE"):
            cases.append((operation, row["flags"], row[operation]))
    path = folder / "flags.pcap"
    captures.write_capture(
        path, [(flow, encode.sample_request(operation, flags).finish(flow)) for operation, flags, _ in cases])
    for (operation, flags, legal), frame in zip(cases, captures.dissect(path, COMPLAINTS), strict=True):
        marked = any(frame.values())
        check(marked != legal, f"{operation} with {flags}: marked {marked}, legal {legal}")
    print(f"{len(cases)} combinations")


# Hostile packets ------------------------------------------------------------------------------------------------

def test_truncated(folder):
    """Checks every vector and every invalid packet, cut by its sender and by the capture at every byte: no error in
    Lua."""
    flow = encode.flow()
    packets = [data for kind in ("vectors", "invalid") for _, data in of_vectors(kind)]
    packets += [data for _, data in of_vectors("bundles") if len(data) < 150]
    packets += [data for _, data in of_vectors("invalid_bundles") if len(data) < 150 and
                not encode.well_formed(data[:-4], 256)]
    short = [(flow, data[:size]) for data in packets for size in range(len(data))]
    cut = [(flow, data, 28 + size) for data in packets for size in range(len(data))]
    for name, datagrams, mark in (("short", short, "prism.malformed"), ("cut", cut, "prism.cut")):
        path = folder / f"{name}.pcap"
        captures.write_capture(path, datagrams)
        frames = captures.dissect(path, ["frame.len", mark, "prism.opcode"])
        check(len(frames) == len(datagrams), f"{name}: {len(frames)} of {len(datagrams)} frames")
        check(any(frame[mark] for frame in frames), f"{name}: nothing is marked {mark}")
        print(f"{len(frames)} packets that are {name}")


def test_short_is_malformed(folder):
    """Checks that a correct packet that lost its end never passes for a correct one."""
    flow, cases = encode.flow(), []
    for vector in VECTORS["vectors"]:
        data = bytes.fromhex(vector["hex"])
        if data[0] >= 0xC0 and not any(part in vector["name"] for part in ("_last", "_first", "_middle")):
            cases += [(vector["name"], data[:size]) for size in range(1, len(data))]
    for vector in VECTORS["bundles"]:
        data = bytes.fromhex(vector["hex"])
        cases += [(vector["name"], data[:size]) for size in range(1, min(len(data), 400))
                  if not encode.well_formed(data[:size][:-4], vector["mtu"])]
    path = folder / "lost_end.pcap"
    captures.write_capture(path, [(flow, data) for _, data in cases])
    for (name, data), frame in zip(cases, captures.dissect(path, ["prism.malformed"]), strict=True):
        check(frame["prism.malformed"], f"{name} with {len(data)} bytes is not marked")
    print(f"{len(cases)} packets")


def test_noise(folder):
    """Checks random bytes behind a PRISM opcode, and vectors with a few bytes changed: no error in Lua."""
    rng = random.Random(1)
    flow = encode.flow()
    good = [data for kind in ("vectors", "bundles") for _, data in of_vectors(kind)
            if data[0] >= 0xC0 and len(data) < 1000]
    datagrams = []
    for _ in range(3000):
        data = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(1, len(data))] = rng.choice((0, 0xFF, rng.randrange(256)))
        datagrams.append((flow, bytes(data) * rng.choice((1, 1, 1, 2, 5))))
        datagrams.append((flow, bytes([rng.randint(0xC0, 0xFF)]) + rng.randbytes(rng.randint(0, 400))))
    path = folder / "noise.pcap"
    captures.write_capture(path, datagrams)
    check(len(captures.dissect(path, ["prism.opcode"], "-2")) == len(datagrams), "all frames")
    check("prism" in captures.run_tshark(path, "-T", "json").lower(), "the whole tree can be printed")
    print(f"{len(datagrams)} packets")


# Packets of others ------------------------------------------------------------------------------------------------

def standard_packet(opcode, body, psn=0x64, flow=None, qpn=0x11):
    """Returns a packet. @body: from the headers behind the BTH to the payload, which is padded here."""
    route = flow or encode.flow()
    pad = -len(body) % 4
    bth = struct.pack("!BBHII", opcode, 0x40 | pad << 4, 0xFFFF, qpn, 0x80000000 | psn)
    return route, with_icrc(route, bth + body + bytes(pad))


HEADERS = {  # bytes, and the fields shown for them
    "reth": (struct.pack("!QII", 0x7F0000001000, 0x1234, 24), {"reth.va": "0x00007f0000001000", "reth.rkey": 0x1234,
                                                              "reth.length": 24}),
    "aeth": (b"\x1f\0\0\x09", {"aeth.syndrome": 0x1F, "aeth.msn": 9}),
    "immdt": (struct.pack("!I", 0xAABBCCDD), {"immdt": 0xAABBCCDD}),
    "ieth": (struct.pack("!I", 0x5678), {"ieth": 0x5678}),
    "deth": (struct.pack("!II", 0x80010000, 0x12), {"deth.qkey": 0x80010000, "deth.qpn": 0x12}),
    "xrceth": (struct.pack("!I", 0xFF000345), {"xrceth.srqn": 0x345}),
    "feth": (struct.pack("!I", 0x12), {"feth.sel": 1, "feth.visible": 0, "feth.persistent": 1}),
    "atomiceth": (struct.pack("!QIQQ", 0x7F0000002000, 0x99, 5, 6),
                  {"atomiceth.va": "0x00007f0000002000", "atomiceth.rkey": 0x99, "atomiceth.swap": "0x5",
                   "atomiceth.compare": "0x6"}),
    "atomicacketh": (struct.pack("!Q", 7), {"atomicacketh": "0x7"}),
    "cnp": (bytes(16), {"cnp": "00" * 16}),
}
# Reliable Connection, in the order of the opcodes: name, headers, whether a payload follows
RELIABLE = {
    0x00: ("SEND_FIRST", "", True), 0x01: ("SEND_MIDDLE", "", True), 0x02: ("SEND_LAST", "", True),
    0x03: ("SEND_LAST_WITH_IMMEDIATE", "immdt", True), 0x04: ("SEND_ONLY", "", True),
    0x05: ("SEND_ONLY_WITH_IMMEDIATE", "immdt", True), 0x06: ("WRITE_FIRST", "reth", True),
    0x07: ("WRITE_MIDDLE", "", True), 0x08: ("WRITE_LAST", "", True),
    0x09: ("WRITE_LAST_WITH_IMMEDIATE", "immdt", True), 0x0A: ("WRITE_ONLY", "reth", True),
    0x0B: ("WRITE_ONLY_WITH_IMMEDIATE", "reth immdt", True), 0x0C: ("READ_REQUEST", "reth", False),
    0x0D: ("READ_RESPONSE_FIRST", "aeth", True), 0x0E: ("READ_RESPONSE_MIDDLE", "", True),
    0x0F: ("READ_RESPONSE_LAST", "aeth", True), 0x10: ("READ_RESPONSE_ONLY", "aeth", True),
    0x11: ("ACKNOWLEDGE", "aeth", False), 0x12: ("ATOMIC_ACKNOWLEDGE", "aeth atomicacketh", False),
    0x13: ("CMP_SWAP", "atomiceth", False), 0x14: ("FETCH_ADD", "atomiceth", False),
    0x16: ("SEND_LAST_WITH_INVALIDATE", "ieth", True), 0x17: ("SEND_ONLY_WITH_INVALIDATE", "ieth", True),
    0x1C: ("FLUSH", "feth reth", False), 0x1D: ("ATOMIC_WRITE", "reth", True),
}
RESPONSES = range(0x0D, 0x13)


def standard_opcodes():
    """Returns opcode to (name, headers, payload) of every service but the Reliable Datagram, which is not in use."""
    known = {0x81: ("CNP", "cnp", False)}
    for code, (name, headers, payload) in RELIABLE.items():
        known[code] = ("RC " + name, headers, payload)
        known[0xA0 + code] = ("XRC " + name, headers if code in RESPONSES else "xrceth " + headers, payload)
        if code <= 0x0B:
            known[0x20 + code] = ("UC " + name, headers, payload)
        if code in (0x04, 0x05):
            known[0x60 + code] = ("UD " + name, "deth " + headers, payload)
    return known


UNKNOWN_TO_WIRESHARK = {0x1C, 0x1D, 0x81, *range(0xA0, 0xBE)}  # to that of Debian 12


def sample_of(opcode, payload=encode.pattern(1, 24), headers=None):
    _, names, has_payload = standard_opcodes()[opcode]
    front = b"".join(HEADERS[name][0] for name in names.split()) if headers is None else headers
    return standard_packet(opcode, front + (payload if has_payload else b""))


def line_of(opcode):
    return f"{standard_opcodes()[opcode][0]} QP 0x000011 PSN 100"


def test_standard_fields(folder):
    """Checks every standard packet: its name, every field of its headers and no others, its payload, a correct ICRC."""
    known = standard_opcodes()
    path = folder / "opcodes.pcap"
    captures.write_capture(path, [sample_of(opcode, encode.pattern(1, 24 + opcode % 4)) for opcode in known])
    names = sorted({"prism." + name for _, shown in HEADERS.values() for name in shown})
    frames = captures.dissect(path, [*names, "prism.opcode", "prism.psn", "prism.payload", "prism.padding",
                                     "prism.malformed", "prism.reserved_opcode", "prism.surplus", "prism.icrc.status",
                                     "prism_rdma"])
    trees, lines = captures.run_tshark(path, "-V"), captures.columns(path)
    for (opcode, (name, headers, payload)), frame, line in zip(known.items(), frames, lines, strict=True):
        expected = {"prism." + field: value for header in headers.split()
                    for field, value in HEADERS[header][1].items()}
        expected |= {"prism.opcode": opcode, "prism.psn": 100, "prism.icrc.status": 1}
        if payload:
            expected["prism.payload"] = encode.pattern(1, 24 + opcode % 4).hex()
        if payload and opcode % 4:
            expected["prism.padding"] = "00" * (4 - opcode % 4)
        for field, shown in frame.items():
            check(len(shown) == int(field in expected) and all(same(value, expected[field]) for value in shown),
                  f"{name}: {field} is {shown}, not {expected.get(field)}")
        check(f"Opcode: {name} (0x{opcode:02x})" in trees, f"{name} is not named")
        if opcode in UNKNOWN_TO_WIRESHARK:
            check(line[1].startswith(line_of(opcode)), f"{name}: the line is {line}")
    print(f"{len(frames)} opcodes")


def test_standard_invalid(folder):
    """Checks that reserved opcodes, and packets too short or too long for their headers, are marked, and valid ones are
    not."""
    known = standard_opcodes()
    reserved = [opcode for opcode in range(0xC0) if opcode not in known and not 0x40 <= opcode < 0x60]
    short = [opcode for opcode, (_, headers, _) in known.items() if headers]
    bare = [opcode for opcode, (_, _, payload) in known.items() if not payload]
    datagrams = [standard_packet(opcode, bytes(16)) for opcode in reserved]
    datagrams += [standard_packet(opcode, b"".join(HEADERS[name][0] for name in known[opcode][1].split())[:-4])
                  for opcode in short]
    datagrams += [standard_packet(opcode, b"".join(HEADERS[name][0] for name in known[opcode][1].split()) + bytes(4))
                  for opcode in bare]
    datagrams += [sample_of(opcode) for opcode in known]
    path = folder / "standard_invalid.pcap"
    captures.write_capture(path, datagrams)
    marks = ["reserved_opcode"] * len(reserved) + ["malformed"] * (len(short) + len(bare)) + [None] * len(known)
    frames = captures.dissect(path, ["prism.reserved_opcode", "prism.malformed", "prism.opcode"])
    for mark, frame in zip(marks, frames, strict=True):
        for name in ("reserved_opcode", "malformed"):
            check(bool(frame["prism." + name]) == (name == mark), f"opcode {frame['prism.opcode']}: {mark}, {frame}")
    print(f"{len(frames)} packets")


def without_script(path, *arguments):
    done = subprocess.run(["tshark", "-n", "-r", str(path), *arguments], capture_output=True, text=True, timeout=100,
                          check=True)
    return done.stdout


def without_our_tree(text):
    """Returns tshark -V output without the parts that the script adds at the end of a frame."""
    return re.sub(r"^(RoCEv2|PRISM remote operations), .*?(?=^$)", "", text, flags=re.MULTILINE | re.DOTALL)


def test_standard(folder):
    """Checks that a tree is added to Wireshark's view of standard packets, and nothing is changed; on other ports
    nothing is added."""
    path = folder / "standard.pcap"
    opcodes = [opcode for opcode in standard_opcodes() if opcode not in UNKNOWN_TO_WIRESHARK]
    datagrams = [sample_of(opcode) for opcode in opcodes]
    prism_packet = bytes.fromhex(VECTORS["vectors"][0]["hex"])
    datagrams.append((dict(encode.flow(source_port=5000), destination_port=5001), prism_packet))
    captures.write_capture(path, datagrams)
    check(captures.run_tshark(path) == without_script(path), "the lines differ with the script")
    for arguments in (("-V",), ("-2", "-V")):
        check(without_our_tree(captures.run_tshark(path, *arguments)) == without_script(path, *arguments),
              f"tshark {' '.join(arguments)}: more than a tree differs")
    frames = captures.dissect(path, ["infiniband.bth.opcode", "prism_rdma", "prism_roce"])
    check(sum(bool(frame["infiniband.bth.opcode"]) for frame in frames) == len(opcodes), "infiniband takes them")
    check([bool(frame["prism_roce"]) for frame in frames] == [True] * len(opcodes) + [False], "all have a tree")
    check(not any(frame["prism_rdma"] for frame in frames), "none is PRISM")
    print(f"{len(frames)} packets")


def test_standard_truncated(folder):
    """Checks that the script does not change the view of a standard packet that is cut, by its sender or by the
    capture."""
    each_header = (0x04, 0x0B, 0x10, 0x12, 0x13, 0x17, 0x1C, 0x1D, 0x65, 0x81, 0xA5, 0xB4, 0xBC)
    packets = [sample_of(opcode)[1] for opcode in each_header]
    datagrams = [(encode.flow(), data[:size]) for data in packets for size in range(len(data))]
    datagrams += [(encode.flow(), data, 28 + size) for data in packets for size in range(len(data))]
    path = folder / "standard_truncated.pcap"
    captures.write_capture(path, datagrams)
    check(without_our_tree(captures.run_tshark(path, "-V")) == without_script(path, "-V"), "more than a tree differs")
    frames = captures.dissect(path, ["prism.cut", "prism.icrc.status", "prism.malformed"])
    for frame in frames[len(frames) // 2:]:
        check(not frame["prism.icrc.status"] and not frame["prism.malformed"], f"what was not captured is judged: {frame}")
    check(any(frame["prism.cut"] for frame in frames), "nothing is marked as cut")
    print(f"{len(datagrams)} packets")


def test_short_sends(folder):
    """Short SENDs: Wireshark may call them malformed and not show the ICRC; the script shows them correctly."""
    cases = [(opcode, size) for opcode in (0x00, 0x02, 0x04, 0x05, 0x16, 0x17, 0x24) for size in range(21)]
    path = folder / "short_sends.pcap"
    captures.write_capture(path, [sample_of(opcode, encode.pattern(7, size)) for opcode, size in cases])
    frames = captures.dissect(path, ["prism.payload", "prism.payload.size", "prism.icrc.status", "prism.malformed",
                                     "prism.short_send", "_ws.malformed"])
    taken = 0
    for (opcode, size), frame, line in zip(cases, frames, captures.columns(path), strict=True):
        shown = "".join(frame["prism.payload"]).replace(":", "")
        check(shown == encode.pattern(7, size).hex() and frame["prism.payload.size"] == [str(size)],
              f"0x{opcode:02x} with {size} bytes: payload {shown}")
        check(frame["prism.icrc.status"] == ["1"] and not frame["prism.malformed"], f"0x{opcode:02x}, {size}: {frame}")
        check("Malformed" not in line[1], f"0x{opcode:02x}, {size}: {line}")
        check(not frame["_ws.malformed"] or frame["prism.short_send"], f"0x{opcode:02x}, {size}: not explained")
        taken += bool(frame["prism.short_send"])
    check(taken == 4 * 13, f"{taken} are explained, not those of fewer than 16 bytes with their pad")
    print(f"{len(cases)} SENDs")


# The ICRC -------------------------------------------------------------------------------------------------------

ICRC_FIELDS = ["prism.icrc.status", "prism.icrc.identification", "prism.icrc.right", "prism.icrc.bad",
               "prism.icrc.other_identification"]
BAD, GOOD, UNVERIFIED, OTHER_ID = (str(status) for status in range(4))


def all_right_packets():
    packets = [pair for kind in ("vectors", "bundles") for pair in of_vectors(kind)]
    packets += [sample_of(opcode, encode.pattern(opcode, opcode % 23)) for opcode in standard_opcodes()]
    six = encode.flow("2001:db8::1", "2001:db8::2")
    return packets + [(six, with_icrc(six, data[:-4])) for flow, data in packets if ":" not in flow["source"]]


def statuses(folder, name, packets, *arguments):
    path = folder / f"{name}.pcap"
    captures.write_frames(path, captures.LINKTYPE_RAW, packets)
    frames = captures.dissect(path, ICRC_FIELDS, *arguments)
    return [{**frame, "info": line[1]} for frame, line in zip(frames, captures.columns(path, *arguments), strict=True)]


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_icrc(folder):
    """Checks that correct ICRCs are called right, and wrong after a change of any bit of the packet except byte 4."""
    rng, packets = random.Random(5), all_right_packets()
    frames = statuses(folder, "right", [captures.ip_packet(*packet) for packet in packets])
    for (_, data), frame in zip(packets, frames, strict=True):
        check(frame["prism.icrc.status"] == [GOOD] and "ICRC" not in frame["info"] and
              not any(frame[name] for name in ICRC_FIELDS[1:5]), f"opcode 0x{data[0]:02x}: {frame}")
    wrong = [(flow, data, bit) for flow, data in packets for bit in rng.sample(range(8, 8 * len(data)), 6)]
    frames = statuses(folder, "wrong", [captures.ip_packet(flow, flipped(data, bit)) for flow, data, bit in wrong])
    masked = 0
    for (flow, data, bit), frame in zip(wrong, frames, strict=True):
        text = f"opcode 0x{data[0]:02x}, bit {bit} changed"
        if bit // 8 == 4:
            masked += 1
            check(frame["prism.icrc.status"] == [GOOD], f"{text}: {frame}")
            continue
        right = encode.icrc(flow, flipped(data, bit)[:-4])
        check(frame["prism.icrc.status"] == [BAD] and frame["prism.icrc.bad"] and
              [int(value, 16) for value in frame["prism.icrc.right"]] == [right] and
              frame["info"].endswith("[bad ICRC]"), f"{text}: {frame}")
    check(masked > 5, "byte 4 was among them")
    off = statuses(folder, "off", [captures.ip_packet(*packet) for packet in packets], "-o", "prism_rdma.icrc:FALSE")
    check(all(frame["prism.icrc.status"] == [UNVERIFIED] for frame in off), "with the preference off none is checked")
    print(f"{len(packets)} right, {len(wrong)} changed packets")


def first_number(shown):
    """Returns the number of a field that is shown in two bases"""
    return int(shown[0].split()[0], 0)


def test_icrc_headers(folder):
    """Headers in front of the BTH: bytes that the network may change do not count, all others do."""
    flow6 = encode.flow("2001:db8::1", "2001:db8::2")
    four, six = captures.ip_packet(*sample_of(0x04)), captures.ip_packet(*standard_packet(0x04, bytes(24), flow=flow6))
    # Bytes of the headers: a change of the first set hides the datagram to the port; the network may change the second
    # set
    cases = ((four, 28, {0, 2, 3, 9, 22, 23, 24, 25}, {1, 8, 10, 11, 26, 27}),
             (six, 48, {0, 4, 5, 6, 42, 43, 44, 45}, {1, 2, 3, 7, 46, 47}))
    frames, expected = [], []
    for packet, size, needed, free in cases:
        for bit in range(8 * size):
            byte = bit // 8
            if byte not in needed:
                frames.append(flipped(packet, bit))
                expected.append(GOOD if byte in free else OTHER_ID if packet is four and byte in (4, 5) else BAD)
    for number, (frame, status) in enumerate(zip(statuses(folder, "headers", frames), expected, strict=True)):
        check(frame["prism.icrc.status"] == [status], f"change {number}: {frame}, not {status}")
        if status == OTHER_ID:
            check(frame["prism.icrc.other_identification"] and not frame["prism.icrc.bad"] and
                  first_number(frame["prism.icrc.identification"]) == 0, f"{frame}")
    check({GOOD, OTHER_ID, BAD} == set(expected), "all three were there")
    ids = random.Random(6).sample(range(1 << 16), 50)
    packets = [(encode.flow(ip_id=number), sample_of(0x0A)[1][:-4]) for number in ids]
    frames = statuses(folder, "ids", [captures.ip_packet(dict(flow, ip_id=9), with_icrc(flow, data))
                                      for flow, data in packets])
    shown = [first_number(frame["prism.icrc.identification"]) for frame in frames]
    check(shown == ids, f"identifications {shown}, not {ids}")
    print(f"{len(expected)} changed headers, {len(ids)} identifications")


# Steering questions ---------------------------------------------------------------------------------------------

def test_steering(folder):
    """Checks the questions of contexts behind one address (W.1.3); questions without an answer are marked."""
    fields = ["prism.steering.asker", "prism.steering.index", "prism.steering.nonce", "prism.malformed", "prism_rdma",
              "prism.icrc"]
    right = [(v["flow"], bytes.fromhex(v["hex"])) for v in VECTORS["steering"]]
    flow, data = right[0]
    slot = VECTORS["steering"][0]["fields"]["asker"]
    wrong = [(dict(flow, source_port=0xF000 + slot + 1), data), (dict(flow, source="192.0.2.9"), data),
             (flow, data[:4] + b"\0\0\4\0" + data[8:]),
             (dict(flow, source_port=0xF400), data[:2] + b"\4\0" + data[4:])]
    others = [(flow, b"PS" + data[2:]), (flow, data[:-1]), (flow, data + b"\0"), (flow, data, 28 + 11)]
    path = folder / "steering.pcap"
    captures.write_capture(path, right + wrong + others)
    frames = captures.dissect(path, fields)
    for vector, frame, columns in zip(VECTORS["steering"], frames, captures.columns(path)):
        for name, value in vector["fields"].items():
            check(len(frame["prism.steering." + name]) == 1 and same(frame["prism.steering." + name][0], value),
                  f"{vector['name']}: {name} is {frame['prism.steering.' + name]}, not {value}")
        line = f"STEERING_QUESTION slot {vector['fields']['asker']} asks who has index {vector['fields']['index']}"
        check(columns == ("PRISM", line), f"{vector['name']}: the line is {columns}")
        check(not frame["prism.malformed"] and not frame["prism.icrc"] and frame["prism_rdma"], f"{frame}")
    families = {":" in vector["flow"]["source"] for vector in VECTORS["steering"]}
    check(families == {True, False}, "the vectors have both IPv4 and IPv6")
    rest = frames[len(right):]
    check([len(frame["prism.malformed"]) for frame in rest[:len(wrong)]] == [1] * len(wrong), f"{rest}")
    check(not any(frame["prism.steering.asker"] for frame in rest[len(wrong):]), "what is none is taken for one")
    print(f"{len(frames)} datagrams")


def ethernet(packet, *tags):
    """Returns @packet in a frame, with VLAN tags."""
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    return bytes(12) + b"".join(struct.pack("!HH", 0x8100, tag) for tag in tags) + struct.pack("!H", kind) + packet


def test_links(folder):
    """Checks that the packet is found behind Ethernet, with and without tags, and in a tunnel; nothing else is taken
    for one."""
    by_name = {v["name"]: (v["flow"], bytes.fromhex(v["hex"])) for v in VECTORS["vectors"]}
    packets = [captures.ip_packet(*by_name[name]) for name in ("read_t", "ipv6_read_t", "cas_8_eq")]
    frames = [ethernet(packet, *tags) for packet in packets for tags in ((), (5,), (5, 6))]
    vxlan = captures.ip_packet(dict(encode.flow(), destination_port=4789), struct.pack("!II", 8 << 24, 7 << 8) +
                               ethernet(packets[0]))
    frames.append(ethernet(vxlan))
    found = len(frames)
    tcp = bytearray(packets[0])
    tcp[9] = 6
    wrong_length = bytearray(packets[0])
    wrong_length[25] += 1
    frames += [ethernet(bytes(tcp)), ethernet(bytes(wrong_length)), ethernet(packets[0])[:40],
               b"\x12\xb7" * 20, bytes(60)]
    path = folder / "links.pcap"
    captures.write_frames(path, captures.LINKTYPE_ETHERNET, frames)
    seen = [frame["prism.opcode"] for frame in captures.dissect(path, ["prism.opcode"])]
    check(all(len(opcodes) == 1 for opcodes in seen[:found]), f"not found: {seen[:found]}")
    check(not any(seen[found:]), f"found where there is none: {seen[found:]}")
    print(f"{len(frames)} frames")


# Requests and responses -----------------------------------------------------------------------------------------

def answer(qpn, psn):
    """Returns a short response to queue pair @qpn, None for that of the vectors."""
    data = encode.answer("RESPONSE", psn, 1).rspeth(0, 0, b"").finish(encode.back())
    return data if qpn is None else renamed(data, qpn)


def renamed(data, qpn):
    """Returns the packet to another queue pair; its ICRC does not matter here."""
    return data[:5] + qpn.to_bytes(3, "big") + data[8:]


def request(qpn, psn):
    return renamed(encode.sample_request("READ", "R", psn).finish(encode.flow()), qpn)


def test_matching(folder):
    """Two connections that use the same PSNs: once a pair is known, answers are matched with its requests."""
    there, back = encode.flow(), encode.back()
    path = folder / "matching.pcap"
    captures.write_capture(path, [
        (there, request(0x4001, 5)), (back, answer(0x8001, 5)),  # the first pair is learnt
        (there, request(0x4002, 9)), (back, answer(0x8002, 9)),  # the second
        (there, request(0x4001, 20)), (there, request(0x4002, 20)),
        (back, answer(0x8002, 20)), (back, answer(0x8001, 20)),
        (there, request(0x4003, 30)), (there, request(0x4004, 30)), (back, answer(0x8003, 30)),  # ambiguous
        (back, answer(0x8001, 99)),  # to no request
        (there, request(0x4001, 21)), (there, request(0x4001, 21)), (back, answer(0x8001, 21)),  # repeated
    ])
    fields = ["prism.response_to", "prism.response_in", "prism.time"]
    frames = captures.dissect(path, fields, "-2")
    to = [int(frame["prism.response_to"][0]) if frame["prism.response_to"] else None for frame in frames]
    answered = [int(frame["prism.response_in"][0]) if frame["prism.response_in"] else None for frame in frames]
    check(to == [None, 1, None, 3, None, None, 6, 5, None, None, None, None, None, None, 14], f"response to: {to}")
    check(answered == [2, None, 4, None, 8, 7, None, None, None, None, None, None, None, 15, None],
          f"response in: {answered}")
    times = [round(float(frame["prism.time"][0]) * 1000) for frame in frames if frame["prism.time"]]
    check(times == [1, 1, 1, 3, 1], f"times in ms: {times}")
    print(f"{sum(one is not None for one in to)} answers matched")


def test_read_answers(folder):
    """Checks that every packet of a READ's answer names its request, up to its length and not beyond."""
    by_name = {v["name"]: (v["flow"], bytes.fromhex(v["hex"])) for v in VECTORS["vectors"]}
    flow, data = by_name["read_tb"]
    first = int.from_bytes(by_name["read_response_first"][1][9:12], "big")
    asked = data[:9] + first.to_bytes(3, "big") + data[12:]
    last_flow, last = by_name["read_response_last"]
    beyond = last[:9] + (first + 3).to_bytes(3, "big") + last[12:]
    path = folder / "read.pcap"
    captures.write_capture(path, [(flow, asked), by_name["read_response_first"], by_name["read_response_middle"],
                                  (last_flow, last), (last_flow, beyond)])
    frames = captures.dissect(path, ["prism.response_to", "prism.response_in"], "-2")
    check([frame["prism.response_to"] for frame in frames] == [[], ["1"], ["1"], ["1"], []], f"response to: {frames}")
    check(frames[0]["prism.response_in"] == ["2"], "the request names the first packet of its answer")
    print("4 packets")


# Trains ---------------------------------------------------------------------------------------------------------

def read_train(count, mtu, rest):
    """Returns the answer of a READ as one piece: @count packets of @mtu bytes and one of @rest."""
    total = count * mtu + rest
    packets = []
    for i in range(count + 1):
        place = "FIRST" if i == 0 else "LAST" if i == count else "MIDDLE"
        size = rest if i == count else mtu
        packet = encode.answer(f"READ_RESPONSE_{place}", 100 + i, 1, -size % 4).rdeth(1, total)
        packets.append(packet.payload(encode.pattern(i, size)).finish(encode.back()))
    return b"".join(packets)


def test_trains(folder):
    """Checks that packets of one size in one piece, as captures on the sender's side show them, are taken apart."""
    there, back = encode.flow(), encode.back()
    reads = b"".join(encode.sample_request("READ", "T", 7 + i).finish(there) for i in range(5))
    writes = b"".join(encode.sample_request("WRITE", "", 7 + i).finish(there) for i in range(4))
    answers = b"".join(answer(None, 7 + i) for i in range(5))
    mixed = encode.sample_request("READ", "", 1).finish(there) + with_icrc(
        there, struct.pack("!BBHIIQII", 0x0C, 0x40, 0xFFFF, 0x4001, 0x80000002, 4096, 1, 64))
    trains = [(there, reads, 5), (there, writes, 4), (back, answers, 5), (there, mixed, 2)]
    trains += [(back, read_train(count, mtu, rest), count + 1)
               for mtu in (256, 512, 1024, 2048, 4096) for count, rest in ((1, 1), (3, mtu), (9, 90))]
    path = folder / "trains.pcap"
    captures.write_capture(path, [(flow, data) for flow, data, _ in trains])
    frames = captures.dissect(path, ["prism.opcode", "prism.psn", "prism.malformed"])
    for number, ((_, _, count), frame) in enumerate(zip(trains, frames, strict=True), 1):
        check(len(frame["prism.opcode"]) == count, f"train {number}: {len(frame['prism.opcode'])} packets of {count}")
        check(not frame["prism.malformed"], f"train {number} is marked")
        psns = [int(psn) for psn in frame["prism.psn"]]
        check(psns == list(range(psns[0], psns[0] + count)), f"train {number}: PSNs {psns}")
    segments = captures.dissect(path, ["prism.train.segment"])[3]["prism.train.segment"]
    check(segments == ["1", "2"], f"a standard packet in a train counts too: {segments}")
    check(captures.run_tshark(path).count("(train of ") == len(trains), "each line says so")
    whole = captures.run_tshark(path, "-o", "prism_rdma.trains:FALSE", "-T", "fields", "-e", "prism.opcode").split()
    check(whole[0] == "0xc0", f"with the preference off a train stays in one piece, not {whole[0]}")
    print(f"{len(trains)} trains")


def train_of(flow, packets):
    """Returns @packets, without their ICRCs, as segments of one train, with identifications that count up (W.9.1)."""
    return b"".join(with_icrc(dict(flow, ip_id=flow["ip_id"] + k), data) for k, data in enumerate(packets))


def test_standard_trains(folder):
    """Trains of standard packets, of any size: each packet is judged separately. A packet in a packet is no train."""
    flow = encode.flow(ip_id=500)
    writes = [standard_packet(0x06, HEADERS["reth"][0] + bytes(1024), 5), standard_packet(0x07, bytes(1040), 6),
              standard_packet(0x08, bytes(77), 7)]
    trains = [[sample_of(0x11)] * 7, [standard_packet(0x04, b"hello, you", 5 + k) for k in range(64)], writes,
              [standard_packet(0x0E, encode.pattern(k, 4096), k) for k in range(15)]]
    trains = [[data[:-4] for _, data in train] for train in trains]
    path = folder / "standard_trains.pcap"
    inner = sample_of(0x04)[1]
    whole = standard_packet(0x04, inner * 20)[1][:-4]
    broken = bytearray(train_of(flow, trains[1]))
    size = len(broken) // 64
    broken[3 * size + 14] ^= 1
    captures.write_capture(path, [(flow, train_of(flow, train)) for train in trains] +
                           [(flow, with_icrc(flow, whole)), (flow, bytes(broken))])
    frames = captures.dissect(path, ["prism.opcode", "prism.train.segment", "prism.icrc.status", "prism.malformed"])
    for number, (train, frame) in enumerate(zip(trains, frames)):
        count = len(train)
        check(frame["prism.train.segment"] == [str(k + 1) for k in range(count)] and
              frame["prism.icrc.status"] == [GOOD] * count and not frame["prism.malformed"],
              f"train {number}: {frame}")
    check(frames[-2]["prism.icrc.status"] == [GOOD] and not frames[-2]["prism.train.segment"], f"one: {frames[-2]}")
    check(frames[-1]["prism.icrc.status"] == [GOOD] * 3 + [BAD] + [GOOD] * 60, f"one is broken: {frames[-1]}")
    lines = captures.run_tshark(path).splitlines()
    check([line.rpartition("(")[2] for line in lines[:4]] ==
          ["train of 7)", "train of 64)", "train of 3)", "train of 15)"], f"{lines}")
    check(lines[-1].endswith("(train of 64) [bad ICRC]"), f"{lines[-1]}")
    print(f"{len(frames)} frames")


TESTS = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}


def main():
    reason = captures.has_lua()
    if reason:
        print("SKIP:", reason)
        return 77
    with tempfile.TemporaryDirectory(prefix="prism-dissector.") as folder:
        try:
            TESTS[sys.argv[1]](pathlib.Path(folder))
        except captures.LuaError as error:
            check(False, str(error))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
