#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Each test that the table "What is lost" of docs/operations.md names is one, so that ctest -R finds it."""

import argparse
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def named(text):
    section = text.split("\n## What is lost\n")[1].split("\n## ")[0]
    return set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`", section))


def defined(build):
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only"], stdout=subprocess.PIPE, text=True, check=True)
    return re.findall(r"^ *Test +#\d+: (\S+)", shown.stdout, re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the tree whose tests are meant")
    tests = defined(parser.parse_args().build)
    names = named(PAGE.read_text(encoding="utf-8"))
    missing = sorted(name for name in names if not any(name in test for test in tests))
    if missing or not names:
        sys.exit(f"{PAGE.name} names no test, or some that are none: {' '.join(missing)}")
    print(f"ok: {len(names)} tests are named")


if __name__ == "__main__":
    main()
