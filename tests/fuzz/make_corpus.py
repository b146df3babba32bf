#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Seed inputs for the fuzzers, from tests/vectors/vectors.json: make_corpus.py VECTORS FOLDER."""
import json
import pathlib
import sys

ICRC = 4


def is_request(packet):
    """Returns true for requests, by opcode: PRISM requests, and standard ones."""
    return 0xC0 <= packet[0] <= 0xCA or packet[0] < 0x0D or packet[0] in (0x13, 0x14, 0x16, 0x17, 0x1D) \
        or 0x20 <= packet[0] < 0x80


def record(packet, control=0, parameter=0):
    return bytes([control, parameter]) + len(packet).to_bytes(2, "little") + packet


def standard_packets():
    """Returns one of each standard packet, with zeros for contents; the harness sets QPN, PSN and keys."""
    headers = {0x06: 16, 0x0A: 16, 0x0B: 20, 0x0C: 16, 0x13: 28, 0x14: 28, 0x05: 4, 0x03: 4, 0x09: 4, 0x16: 4, 0x17: 4,
               0x0D: 4, 0x0F: 4, 0x10: 4, 0x11: 4, 0x12: 12, 0x1D: 16}
    full = {0x00, 0x01, 0x06, 0x07, 0x0D, 0x0E}
    for opcode in list(range(0x15)) + [0x16, 0x17, 0x1D]:
        header = bytearray(headers.get(opcode, 0))
        if len(header) >= 16:
            header[0:8] = (0x1000).to_bytes(8, "big")
        if opcode in (0x06, 0x0A, 0x0B, 0x0C, 0x1D):
            header[12:16] = {0x06: 260, 0x0C: 300, 0x1D: 8}.get(opcode, 4).to_bytes(4, "big")
        if opcode in (0x0D, 0x0F, 0x10, 0x11, 0x12):
            header[0] = 0x1F
        bare = opcode in (0x0C, 0x11, 0x12, 0x13, 0x14)
        payload = bytes(0 if bare else 256 if opcode in full else 8 if opcode == 0x1D else 4)
        yield bytes([opcode, 0x40, 0xFF, 0xFF]) + bytes(8) + bytes(header) + payload
        if opcode < 0x0C:  # UC has the same
            yield bytes([opcode | 0x20, 0x40, 0xFF, 0xFF]) + bytes(8) + bytes(header) + payload
    yield bytes([0x64, 0x40, 0xFF, 0xFF]) + bytes(8 + 8 + 64)
    yield bytes([0x65, 0x40, 0xFF, 0xFF]) + bytes(8 + 8 + 4 + 64)
    yield bytes([0x64, 0x40, 0xFF, 0xFF]) + bytes(8) + b"\x80\x01\0\0\0\0\0\1" + bytes(256)


def retarget(packet):
    """Replaces addresses of the vectors by those of the harness's memory."""
    packet = bytearray(packet)
    aligned = 0x1000 + 16 * (packet[11] % 64)
    if packet[0] in (0xC0, 0xC1, 0xC4, 0xC5):
        packet[12:20] = aligned.to_bytes(8, "big")
    return bytes(packet)


def main():
    vectors = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    seeds = {"fuzz_decode": {}, "fuzz_responder": {}, "fuzz_requester": {}}
    whole = {v["name"]: bytes.fromhex(v["hex"]) for v in vectors["vectors"] + vectors["invalid"]}
    mtus = {v["name"]: v["mtu"] for v in vectors["vectors"] + vectors["invalid"]}
    for name, packet in whole.items():
        choice = {256: 0, 512: 1, 1024: 2, 2048: 3, 4096: 4}[mtus[name]]
        seeds["fuzz_decode"][name] = bytes([choice]) + packet
        seeds["fuzz_decode"][name + "_bare"] = bytes([choice]) + packet[:-ICRC]
        target = "fuzz_responder" if is_request(packet) else "fuzz_requester"
        seeds[target][name] = record(retarget(packet[:-ICRC]))
    for sequence in vectors["invalid_sequences"]:
        seeds["fuzz_responder"][sequence["name"]] = b"".join(
            record(retarget(bytes.fromhex(packet)[:-ICRC])) for packet in sequence["packets"])
    for bundle in vectors["bundles"] + vectors["invalid_bundles"]:
        packet = bytes.fromhex(bundle["hex"])[:-ICRC]
        choice = {256: 0, 512: 1, 1024: 2, 2048: 3, 4096: 4}[bundle["mtu"]]
        seeds["fuzz_decode"]["bundle_" + bundle["name"]] = bytes([choice]) + packet
        target = "fuzz_responder" if is_request(packet) else "fuzz_requester"
        seeds[target]["bundle_" + bundle["name"]] = record(packet)
    for packet in standard_packets():
        target = "fuzz_responder" if is_request(packet) else "fuzz_requester"
        seeds[target]["standard_%02x" % packet[0]] = record(packet)
    folder.mkdir(parents=True, exist_ok=True)
    # All of one kind in a row, and with duplicates.
    for target in ("fuzz_responder", "fuzz_requester"):
        one_after_the_other = b"".join(seeds[target].values())
        seeds[target]["all"] = one_after_the_other[:60000]
        good = [record(retarget(packet[:-ICRC]), control) for name, packet in whole.items()
                if not name.startswith(("bad_", "unknown_")) and is_request(packet) == (target == "fuzz_responder")
                for control in (0, 2)]
        seeds[target]["good_ones_twice"] = b"".join(good)
        # The same in one file, for users for whom opening a thousand files takes seconds.
        (folder / (target + ".records")).write_bytes(one_after_the_other + seeds[target]["good_ones_twice"])
    for target, inputs in seeds.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, contents in inputs.items():
            (folder / target / name).write_bytes(contents)
        print(f"{target}: {len(inputs)} seeds")


if __name__ == "__main__":
    main()
