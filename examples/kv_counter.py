#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# $ ninja -C build programs
# $ build/bin/prism-kv-server --records 1000 --port 18650 &
# $ PYTHONPATH=build/python /usr/bin/python3 examples/kv_counter.py localhost:18650
"""A counter that several clients may add to at once, in a PRISM-KV store: kv_counter.py SERVERS"""
import sys

import pyprism.kv


def add(store, key, amount):
    """Adds to a number, and returns the sum; the first one to come makes the key."""
    while True:
        try:
            value, version = store.get(key)
        except pyprism.kv.NoSuchKey:
            value, version = b'0', 0
        total = int(value) + amount
        try:
            store.put_if(key, b'%d' % total, version)
            return total
        except (pyprism.kv.NoSuchKey, pyprism.kv.OtherVersion):
            pass  # another client was faster: look again


if len(sys.argv) != 2:
    sys.exit(__doc__)
with pyprism.kv.open(sys.argv[1]) as store:
    for amount in (1, 10, 100):
        print(add(store, b'visits', amount))
