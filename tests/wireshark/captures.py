# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Captures for the dissector's tests, and tshark's output for them."""
import functools
import ipaddress
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = SOURCE / "wireshark" / "prism.lua"
LINKTYPE_ETHERNET = 1
LINKTYPE_RAW = 101  # begins with the IP header

sys.path.insert(0, str(SOURCE / "tests" / "vectors"))
sys.dont_write_bytecode = True
import encode  # noqa: E402  the packets of the specification


def one_complement_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def ip_packet(flow, payload):
    """Returns the IP packet of a UDP datagram with @payload between the ends of @flow, a flow of the vectors."""
    source, destination = (ipaddress.ip_address(flow[key]) for key in ("source", "destination"))
    udp = struct.pack("!HHHH", flow["source_port"], flow["destination_port"], 8 + len(payload), 0) + payload
    if source.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(udp), 17, 64) + source.packed + destination.packed + udp
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), flow["ip_id"], 0x4000, 64, 17, 0)
    header += source.packed + destination.packed
    checksum = 0xFFFF - one_complement_sum(header)
    return header[:10] + struct.pack("!H", checksum) + header[12:] + udp


def write_frames(path, link, frames, step=0.001):
    """Writes a capture. @frames: bytes, or (bytes, how many of them the capture kept); one every @step s."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link))
        for number, frame in enumerate(frames):
            whole, kept = frame if isinstance(frame, tuple) else (frame, len(frame))
            seconds, rest = divmod(round(number * step * 1e9), 10**9)
            out.write(struct.pack("<IIII", 1000 + seconds, rest, kept, len(whole)) + whole[:kept])


def write_capture(path, datagrams):
    """Writes a capture. @datagrams: (flow, payload) or (flow, payload, bytes kept of the IP packet)."""
    frames = []
    for flow, payload, *kept in datagrams:
        packet = ip_packet(flow, payload)
        frames.append((packet, min(kept[0] if kept else len(packet), len(packet))))
    write_frames(path, LINKTYPE_RAW, frames)


class LuaError(Exception):
    pass


@functools.cache
def about_tshark():
    """Returns tshark's version text, in one line."""
    done = subprocess.run(["tshark", "--version"], capture_output=True, text=True, timeout=60, check=False)
    return " ".join(done.stdout.split())


def loads_scripts_as_root():
    """Returns true for Debian 12's tshark; later ones ignore -X lua_script (findings/tshark-lua-as-root.sh)."""
    version = re.search(r"(\d+)\.(\d+)", about_tshark())
    return version and (int(version[1]), int(version[2])) <= (4, 0)


def run_tshark(path, *arguments):
    """Returns tshark's output for the capture; raises LuaError if the dissector failed anywhere."""
    script, somebody = SCRIPT, {}
    if os.geteuid() == 0 and not loads_scripts_as_root():
        script, nobody = shutil.copy(SCRIPT, path.parent), 65534
        path.parent.chmod(0o755)
        somebody = {"user": nobody, "group": nobody, "extra_groups": [], "env": {**os.environ, "HOME": "/"}}
    command = ["tshark", "-n", "-r", str(path), "-X", f"lua_script:{script}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, **somebody)
    said = [line for line in done.stderr.splitlines() if not line.startswith("Running as user")]
    if done.returncode or said:
        raise LuaError(f"tshark ended with {done.returncode}: " + "\n".join(said[:10]))
    return done.stdout


def dissect(path, fields, *arguments):
    """Returns a dict of field to list of values for each frame; searches every frame's own tree for Lua errors."""
    options = [part for field in ("_ws.lua.error", *fields) for part in ("-e", field)]
    text = run_tshark(path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=|", *options,
                      *arguments)
    frames = []
    for line in text.splitlines():
        values = line.split("\t")
        if values[0]:
            raise LuaError(f"frame {len(frames) + 1}: {values[0]}")
        frames.append({field: value.split("|") if value else [] for field, value in zip(fields, values[1:])})
    return frames


def columns(path, *arguments):
    """Returns (protocol, info) of each frame, as the list of packets shows them."""
    text = run_tshark(path, "-o", 'gui.column.format:"Protocol","%p","Info","%i"', *arguments)
    return [tuple((line.strip().split(None, 1) + ["", ""])[:2]) for line in text.splitlines()]


def has_lua():
    """Returns None if there is a tshark that runs Lua scripts, otherwise the reason."""
    try:
        text = about_tshark()
    except FileNotFoundError:
        return "tshark is not installed"
    return None if re.search(r"(with |\+)Lua\b", text) else "this tshark has no Lua"
