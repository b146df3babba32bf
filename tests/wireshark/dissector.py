#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""wireshark/prism.lua against the vectors of the specification: dissector.py TEST, one of those below."""
import json
import pathlib
import random
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
# What a packet alone does not show: it takes the path MTU of the connection to see that these are wrong.
NEEDS_MTU = {"bad_format_write_only_payload_long", "bad_format_allocate_only_payload_long",
             "bad_format_write_last_payload_long", "bad_format_allocate_last_payload_long",
             "bad_format_write_td_longer_than_mtu"}
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAIL:", text)


def with_icrc(flow, data):
    """@data as a packet: what precedes the ICRC, and a right one."""
    return data + struct.pack("<I", encode.icrc(flow, data))


def of_vectors(kind):
    return [(v["flow"], bytes.fromhex(v["hex"])) for v in VECTORS[kind]]


# Every field of every vector ------------------------------------------------------------------------------------

def flatten(fields):
    """The fields of a vector by their names in the dissector, as numbers or hexadecimal strings."""
    flat = {"prism." + name: fields[name] for name in ("opcode", "se", "m", "pad", "tver", "pkey", "qpn", "ack_req",
                                                       "psn", "icrc")}
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
    """Every field has the value that the vector names, and there are no others."""
    path = folder / "vectors.pcap"
    captures.write_capture(path, of_vectors("vectors"))
    names = all_fields()
    frames = captures.dissect(path, names)
    check(len(frames) == len(VECTORS["vectors"]), f"{len(frames)} frames of {len(VECTORS['vectors'])} vectors")
    compared = 0
    for vector, frame in zip(VECTORS["vectors"], frames):
        expected = flatten(vector["fields"])
        if vector["fields"]["opcode"] == OPCODE_ACKNOWLEDGE:
            expected = {}
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
    """IPv6 changes nothing: every vector over both."""
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
    """What is shown of the entry of a bundle: that of its packet which the entry has."""
    flat = flatten({**entry["fields"], "icrc": 0})
    for name in ("se", "m", "pad", "tver", "pkey", "qpn", "icrc"):
        del flat["prism." + name]
    if "prism.rspeth.result" in flat:
        flat["prism.rspeth.result"] = flat["prism.rspeth.result"][:2 * (entry["length"] - 16)]
        if not flat["prism.rspeth.result"]:
            del flat["prism.rspeth.result"]
    return {**flat, "prism.entry.number": number, "prism.entry.length": entry["length"]}


def test_bundles(folder):
    """Of every bundle the fields of its BTH and of every entry, in order, and no others; nothing is marked."""
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


# Seen only by who knows the MTU of the connection
BUNDLE_NEEDS_MTU = ("bundle_too_long_by_4_256", "bundle_response_too_long_by_4_256", "bundle_read_of_mtu_and_1",
                    "bundle_read_tb_of_mtu_and_1", "bundle_write_td_longer_than_mtu")


def test_invalid_bundles(folder):
    """Every bundle that is refused is marked; if it is well formed, the entry at fault is the first that is."""
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
    """Entries have requests and responses of their own, also where one side bundles and the other does not."""
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
    """Bundles of one size in one piece are taken apart, and a last one or a packet that is shorter."""
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


# What is wrong --------------------------------------------------------------------------------------------------

COMPLAINTS = ["prism.malformed", "prism.reserved_opcode", "prism.long_read"]


def expected_complaint(vector):
    if vector["reject"] == "unknown_opcode":
        return "prism.reserved_opcode"
    return "prism.long_read" if vector["name"].endswith("_too_long") else "prism.malformed"


def test_invalid(folder):
    """Every packet that is refused for what it is is marked; those that need the MTU to be seen through are few."""
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
    """All 32 combinations of flags with each operation: the illegal ones and only those are marked."""
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
    """Every vector and every invalid packet, cut by its sender and by the capture at every byte: no error in Lua."""
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
    """A right packet that lost its end is never taken for a right one."""
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
    """Random bytes behind a PRISM opcode, and vectors with a few bytes changed: no error in Lua."""
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


# What others send -----------------------------------------------------------------------------------------------

def standard_packets():
    """One of each common standard opcode: RC SEND, WRITE, READ, atomics and answers, UD SEND, a CNP."""
    flow = encode.flow()
    reth = struct.pack("!QII", 0x7F0000001000, 0x1234, 16)
    bodies = {0x04: bytes(16), 0x00: bytes(256), 0x0A: reth + bytes(16), 0x0C: reth, 0x10: b"\x1f\0\0\1" + bytes(16),
              0x11: b"\x1f\0\0\1", 0x12: b"\x1f\0\0\1" + bytes(8), 0x13: reth[:12] + bytes(16), 
              0x64: struct.pack("!II", 0x01234567, 0x12) + bytes(64),
              0x81: bytes(16)}
    for opcode, body in bodies.items():
        bth = struct.pack("!BBHII", opcode, 0x40, 0xFFFF, 0x11, 0x80000064)
        yield flow, with_icrc(flow, bth + body)


def without_script(path, *arguments):
    done = subprocess.run(["tshark", "-n", "-r", str(path), *arguments], capture_output=True, text=True, timeout=100,
                          check=True)
    return done.stdout


def test_standard(folder):
    """Standard RoCEv2 packets look as they do without the script; so does what is on another port."""
    path = folder / "standard.pcap"
    datagrams = list(standard_packets())
    prism_packet = bytes.fromhex(VECTORS["vectors"][0]["hex"])
    datagrams.append((dict(encode.flow(source_port=5000), destination_port=5001), prism_packet))
    captures.write_capture(path, datagrams)
    for arguments in (("-V",), (), ("-2", "-V")):
        check(captures.run_tshark(path, *arguments) == without_script(path, *arguments),
              f"tshark {' '.join(arguments)}: differs with the script")
    frames = captures.dissect(path, ["infiniband.bth.opcode", "prism.opcode"])
    check(sum(bool(frame["infiniband.bth.opcode"]) for frame in frames) == len(datagrams) - 1, "infiniband takes them")
    check(not any(frame["prism.opcode"] for frame in frames), "none is PRISM")
    print(f"{len(frames)} packets")


def test_standard_truncated(folder):
    """Nor does the script change what becomes of a standard packet that is cut, by its sender or by the capture."""
    packets = [data for _, data in standard_packets()]
    datagrams = [(encode.flow(), data[:size]) for data in packets for size in range(len(data))]
    datagrams += [(encode.flow(), data, 28 + size) for data in packets for size in range(len(data))]
    path = folder / "standard_truncated.pcap"
    captures.write_capture(path, datagrams)
    check(captures.run_tshark(path, "-V") == without_script(path, "-V"), "tshark -V: differs with the script")
    print(f"{len(datagrams)} packets")


def ethernet(packet, *tags):
    """@packet in a frame, with VLAN tags."""
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    return bytes(12) + b"".join(struct.pack("!HH", 0x8100, tag) for tag in tags) + struct.pack("!H", kind) + packet


def test_links(folder):
    """The packet is found behind Ethernet, with and without tags, and in a tunnel; nothing else is taken for one."""
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
    """A short response to queue pair @qpn, None for that of the vectors."""
    data = encode.answer("RESPONSE", psn, 1).rspeth(0, 0, b"").finish(encode.back())
    return data if qpn is None else renamed(data, qpn)


def renamed(data, qpn):
    """The packet to another queue pair; its ICRC does not matter here."""
    return data[:5] + qpn.to_bytes(3, "big") + data[8:]


def request(qpn, psn):
    return renamed(encode.sample_request("READ", "R", psn).finish(encode.flow()), qpn)


def test_matching(folder):
    """Two connections that use the same PSNs: once a pair is known, answers go to their requests."""
    there, back = encode.flow(), encode.back()
    path = folder / "matching.pcap"
    captures.write_capture(path, [
        (there, request(0x4001, 5)), (back, answer(0x8001, 5)),  # the first pair is learnt
        (there, request(0x4002, 9)), (back, answer(0x8002, 9)),  # the second
        (there, request(0x4001, 20)), (there, request(0x4002, 20)),
        (back, answer(0x8002, 20)), (back, answer(0x8001, 20)),
        (there, request(0x4003, 30)), (there, request(0x4004, 30)), (back, answer(0x8003, 30)),  # not to be told apart
        (back, answer(0x8001, 99)),  # to nothing
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
    """Every packet of a READ's answer names its request, up to its length and not beyond."""
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
    """The answer of a READ as one piece: @count packets of @mtu bytes and one of @rest."""
    total = count * mtu + rest
    packets = []
    for i in range(count + 1):
        place = "FIRST" if i == 0 else "LAST" if i == count else "MIDDLE"
        size = rest if i == count else mtu
        packet = encode.answer(f"READ_RESPONSE_{place}", 100 + i, 1, -size % 4).rdeth(1, total)
        packets.append(packet.payload(encode.pattern(i, size)).finish(encode.back()))
    return b"".join(packets)


def test_trains(folder):
    """Packets of one size in one piece, as captures on the sender's side show them, are taken apart."""
    there, back = encode.flow(), encode.back()
    reads = b"".join(encode.sample_request("READ", "T", 7 + i).finish(there) for i in range(5))
    writes = b"".join(encode.sample_request("WRITE", "", 7 + i).finish(there) for i in range(4))
    answers = b"".join(answer(None, 7 + i) for i in range(5))
    mixed = encode.sample_request("READ", "", 1).finish(there) + with_icrc(
        there, struct.pack("!BBHIIQII", 0x0C, 0x40, 0xFFFF, 0x4001, 0x80000002, 4096, 1, 64))
    trains = [(there, reads, 5), (there, writes, 4), (back, answers, 5), (there, mixed, 1)]
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
    whole = captures.run_tshark(path, "-o", "prism_rdma.trains:FALSE", "-T", "fields", "-e", "prism.opcode").split()
    check(whole[0] == "0xc0", f"with the preference off a train stays in one piece, not {whole[0]}")
    print(f"{len(trains)} trains")


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
