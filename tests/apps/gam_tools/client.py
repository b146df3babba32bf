#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""client.py LIBRARY MASTER: a node that lives on, by the C interface. Reads commands, and answers each with a line.

malloc HOME     prints the address of a word at that node
add ADDRESS     adds 1; prints the value before, or the negative errno value
read ADDRESS    prints the word, or the negative errno value
"""
import ctypes
import sys

NEAR, ADD = 3, 0


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("device", ctypes.c_char_p),
        ("address", ctypes.c_char_p),
        ("memory", ctypes.c_uint64),
        ("cache", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("timeout_ms", "protocol", "consistency", "port")),
    ]


class Placement(ctypes.Structure):
    _fields_ = [("place", ctypes.c_uint32), ("alignment", ctypes.c_uint32), ("near", ctypes.c_uint64)]


gam = ctypes.CDLL(sys.argv[1])
node, session = ctypes.c_void_p(), ctypes.c_void_p()
options = Options(ctypes.sizeof(Options), None, None, 1 << 16, 1 << 20, 10000, 0, 0, 0)
error = gam.prism_gam_join(ctypes.byref(node), sys.argv[2].encode(), ctypes.byref(options))
error = error or gam.prism_gam_session_begin(node, ctypes.byref(session))
if error:
    sys.exit(f"cannot join: {error}")
for line in sys.stdin:
    command, number = line.split()
    word = ctypes.c_uint64()
    if command == "malloc":
        place = Placement(NEAR, 0, int(number) << 48)
        error = gam.prism_gam_malloc(session, ctypes.c_size_t(8), ctypes.byref(place), ctypes.byref(word))
    elif command == "add":
        address, one, none = (ctypes.c_uint64(value) for value in (int(number), 1, 0))
        error = gam.prism_gam_atomic(session, address, ctypes.c_size_t(8), ADD, one, none, ctypes.byref(word))
    else:
        error = gam.prism_gam_read(session, ctypes.c_uint64(int(number)), ctypes.byref(word), ctypes.c_size_t(8))
    print(error or word.value, flush=True)
