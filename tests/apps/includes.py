#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Checks that files include downwards alone: applications and perftest-ext -> libprism-ext -> provider -> base; in the
applications tools -> bench -> baselines -> stores, in the provider launcher -> cm -> soft -> verbs and uverbs -> verbs.

usage: includes.py FOLDER     FOLDER: that of the project
It checks itself first, on a tree with an arrow up. Exit code: 0; 1 if a file includes what is not below it, which is
told.
"""
import pathlib
import re
import sys
import tempfile

# Rooms that are include roots, the deepest first: #include "kv/store/lane.hpp" is found in apps/stores.
ROOTS = ("apps/stores", "apps/baselines", "apps", "", "providers/prism", "providers/prism/soft",
         "perftest-ext", "libprism-ext/include")
# Each folder, and what it may include beside itself. The longest name that fits a path counts.
PROVIDER = "providers/prism"
API = f"{PROVIDER}/prismdv.h"  # installed as <infiniband/prismdv.h>
LIBRARY = {"base", API, "libprism-ext"}
COMMON = LIBRARY | {"apps/stores/common"}
STORE = COMMON | {"apps/stores/service", "apps/stores/rpc"}
BASELINES = LIBRARY | {"apps/stores", "apps/baselines"}
BELOW = {
    "base": set(),
    API: set(),
    PROVIDER: {"base", f"{PROVIDER}/soft", f"{PROVIDER}/verbs"},
    f"{PROVIDER}/verbs": {"base", API},
    f"{PROVIDER}/uverbs": {"base", API, f"{PROVIDER}/verbs"},
    f"{PROVIDER}/soft/net": {"base"},
    f"{PROVIDER}/soft/protocol": {"base", f"{PROVIDER}/verbs", f"{PROVIDER}/soft/net"},
    f"{PROVIDER}/soft/verbs": {"base", API, f"{PROVIDER}/verbs", f"{PROVIDER}/soft/net", f"{PROVIDER}/soft/protocol"},
    f"{PROVIDER}/cm": {"base", f"{PROVIDER}/soft"},
    f"{PROVIDER}/launcher": {"base", API, f"{PROVIDER}/verbs", f"{PROVIDER}/soft", f"{PROVIDER}/cm"},
    "libprism-ext": {"base", API},
    "perftest-ext": LIBRARY,
    "apps/stores/common": LIBRARY,
    "apps/stores/service": COMMON,
    "apps/stores/rpc": COMMON | {"apps/stores/service"},
    "apps/stores/kv": STORE,
    "apps/stores/rs/volume": STORE,
    "apps/stores/rs/store": STORE | {"apps/stores/rs/volume"},
    "apps/stores/rs/nbd": STORE | {"apps/stores/rs/volume", "apps/stores/rs/store"},
    "apps/stores/tx/transaction": STORE,
    "apps/stores/tx/store": STORE | {"apps/stores/tx/transaction"},
    "apps/stores/c": LIBRARY | {"apps/stores"},
    "apps/baselines/kv_calls": STORE,
    "apps/baselines/pilaf": STORE | {"apps/baselines/kv_calls"},
    "apps/baselines/jakiro": STORE | {"apps/baselines/kv_calls"},
    "apps/baselines/abdlock": STORE | {"apps/stores/rs/volume"},
    "apps/baselines/tx_calls": STORE | {"apps/stores/tx/transaction"},
    "apps/baselines/farm": STORE | {"apps/stores/tx/transaction", "apps/baselines/tx_calls"},
    "apps/baselines/locking": STORE | {"apps/stores/tx/transaction", "apps/baselines/tx_calls"},
    "apps/bench/frame": COMMON,
    "apps/bench/rpc": STORE | {"apps/bench/frame"},
    "apps/bench/rpc/model": COMMON | {"apps/stores/rpc"},
    "apps/bench/gam": BASELINES | {"apps/bench/frame"},
    "apps/bench/tx": BASELINES | {"apps/bench/frame", "apps/bench/gam/driver"},
    "apps/bench/tx/workloads": COMMON | {"apps/bench/frame", "apps/stores/tx/transaction"},
    "apps/bench/ycsb": BASELINES | {"apps/bench/frame", "apps/bench/gam/driver"},
    "apps/tools": BASELINES | {"apps/bench/frame"},
}
for name, parts in {
    "coherence": (),
    "directory": ("coherence",),
    "one_sided": ("coherence",),
    "membership": ("coherence",),
    "transport": ("coherence", "membership"),
    "node": ("coherence", "directory", "one_sided", "membership", "transport"),
    "api": ("coherence", "directory", "one_sided", "membership", "transport", "node"),
    "data": ("coherence", "api", "node"),
}.items():
    BELOW[f"apps/stores/gam/{name}"] = STORE | {f"apps/stores/gam/{part}" for part in parts}
BELOW["apps/stores/gam/data"].add("apps/stores/tx/transaction")
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(path):
    fitting = [folder for folder in BELOW if within(path, folder)]
    return max(fitting, key=len) if fitting else None


def find(root, file, included):
    """The path of an included file of the project, below root; None: of a library."""
    for place in (file.parent, *(root / name for name in ROOTS)):
        path = (place / included).resolve()
        if path.is_file():
            return path.relative_to(root).as_posix() if path.is_relative_to(root) else None
    return None


def arrows_up(root):
    """Returns the includes that go up, and files without a place, a line each."""
    root = root.resolve()
    files = sorted(
        path
        for room in ("base", "apps", "providers", "libprism-ext", "perftest-ext")
        for path in (root / room).rglob("*")
        if path.suffix in (".h", ".hpp", ".cpp")
    )
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
            path = find(root, file, API if included == "infiniband/prismdv.h" else included)
            if path is None or folder_of(path) is None:
                continue  # of a library, or of the core
            if not any(within(path, below) for below in BELOW[own] | {own}):
                wrong.append(f"{name}: includes {path}, which is not below {own}")
    return wrong


def control():
    """Checks that a service which includes a store is told, and a base that includes libprism-ext."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name, text in (
            ("apps/stores/service/a.hpp", '#include "kv/store/b.hpp"\n'),
            ("apps/stores/kv/store/b.hpp", "#include <prism/d.hpp>\n"),
            ("base/c.hpp", "#include <prism/d.hpp>\n"),
            ("libprism-ext/include/prism/d.hpp", ""),
        ):
            path = copy / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = arrows_up(copy)
    wanted = [
        "apps/stores/service/a.hpp: includes apps/stores/kv/store/b.hpp, which is not below apps/stores/service",
        "base/c.hpp: includes libprism-ext/include/prism/d.hpp, which is not below base",
    ]
    return [] if found == wanted else [f"the control was not refused: {found}"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = control() or arrows_up(pathlib.Path(sys.argv[1]))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


sys.exit(main())
