#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Checks that the applications include downwards alone: tools and drivers -> stores -> rpc -> service -> common.

usage: includes.py FOLDER     FOLDER: apps
It checks itself first, on a tree with an arrow up. Exit code: 0; 1 if a file includes what is not below it, which is
told.
"""
import pathlib
import re
import sys
import tempfile

# Each folder, and what it may include beside itself. The longest name that fits a path counts.
STORE = {"common", "service", "rpc"}
BELOW = {
    "common": set(),
    "service": {"common"},
    "rpc": {"common", "service"},
    "rpc/model": {"common", "rpc"},
    "bench": {"common"},
    "rpc/bench": STORE | {"bench"},
    "kv/store": STORE,
    "kv/calls": STORE,
    "kv/pilaf": STORE | {"kv/calls"},
    "kv/jakiro": STORE | {"kv/calls"},
    "kv/tools": STORE | {"kv"},
    "rs/volume": STORE,
    "rs/store": STORE | {"rs/volume"},
    "rs/abdlock": STORE | {"rs/volume"},
    "rs/nbd": STORE | {"rs/volume", "rs/store"},
    "rs/tools": STORE | {"rs", "bench"},
    "tx/transaction": STORE,
    "tx/store": STORE | {"tx/transaction"},
    "tx/rpc": STORE | {"tx/transaction"},
    "tx/farm": STORE | {"tx/transaction", "tx/rpc"},
    "tx/locking": STORE | {"tx/transaction", "tx/rpc"},
    "tx/workloads": {"bench", "common", "tx/transaction"},
    "tx/driver": STORE | {"tx", "gam", "bench"},
    "tx/tools": STORE | {"tx"},
    "gam/coherence": STORE,
    "gam/log": STORE | {"gam/coherence"},
    "gam/recovery": STORE | {"gam/coherence", "gam/log"},
    "gam/cache": STORE | {"gam/coherence"},
    "gam/directory": STORE | {"gam/coherence", "gam/cache"},
    "gam/latch": STORE | {"gam/coherence", "gam/cache"},
    "gam/peer": STORE | {"gam/coherence"},
    "gam/memory": STORE | {"gam/coherence", "gam/log", "gam/recovery", "gam/cache", "gam/directory", "gam/latch", "gam/peer"},
    "gam/simulated": {"common", "gam/coherence", "gam/directory", "gam/latch", "gam/memory"},
    "gam/process": STORE | {"gam"},
    "gam/dht": STORE | {"gam/coherence", "gam/memory"},
    "gam/transactions": STORE | {"gam/coherence", "gam/memory", "gam/dht", "tx/transaction"},
    "gam/driver": STORE | {"gam"},
    "gam/bench": STORE | {"gam", "bench"},
    "gam/tools": STORE | {"gam", "bench"},
    "c": STORE | {"kv", "tx", "gam"},
    "ycsb": STORE | {"bench", "kv", "rs", "gam"},
}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(path):
    fitting = [folder for folder in BELOW if within(path, folder)]
    return max(fitting, key=len) if fitting else None


def arrows_up(root):
    """What is wrong, a line each."""
    files = sorted(path for path in root.rglob("*") if path.suffix in (".hpp", ".cpp"))
    if len(files) < 2:
        return [f"{root}: there is nothing to check"]
    wrong = []
    for file in files:
        name = file.relative_to(root).as_posix()
        own = folder_of(name)
        if own is None:
            wrong.append(f"{name}: its folder has no place among the others (tests/apps/includes.py)")
            continue
        for included in INCLUDE.findall(file.read_text()):
            if not (root / included).is_file():
                continue  # beside the file, or of a library
            if not any(within(included, below) for below in BELOW[own] | {own}):
                wrong.append(f"{name}: includes {included}, which is not below {own}")
    return wrong


def control():
    """Whether a service that includes a store is told."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name, text in (("service/a.hpp", '#include "kv/store/b.hpp"\n'), ("kv/store/b.hpp", "")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_text(text)
        found = arrows_up(copy)
    if found != ["service/a.hpp: includes kv/store/b.hpp, which is not below service"]:
        return [f"the control was not refused: {found}"]
    return []


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = control() or arrows_up(pathlib.Path(sys.argv[1]))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


sys.exit(main())
