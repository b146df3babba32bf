#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Writes the tables of docs/conformance.md from the reports of the pyverbs part.

usage: conformance_table.py LINE=FOLDER... (FOLDER has pyverbs-stock.json and pyverbs-prism.json of that kernel line)
"""
import collections
import json
import pathlib
import sys


def reason(text):
    """The last line of what the suite said, without the exception's name."""
    lines = text.strip().splitlines()
    return lines[-1].strip().replace("|", "/") if lines else ""


def load(folder, kind):
    return json.loads((pathlib.Path(folder) / f"pyverbs-{kind}.json").read_text())["tests"]


def main(arguments):
    reports = {}
    for argument in arguments:
        line, folder = argument.split("=", 1)
        for kind in ("stock", "prism"):
            reports[line, kind] = load(folder, kind)
    names = sorted({name for report in reports.values() for name in report})
    print("| kernel | device | ok | skipped | error or failure | tests |\n|---|---|---|---|---|---|")
    for (line, kind), report in reports.items():
        counts = collections.Counter(test["status"] for test in report.values())
        bad = sum(counts.values()) - counts["ok"] - counts["skip"]
        print(f"| {line} | {'rxe' if kind == 'stock' else 'rxe_prism'} | {counts['ok']} | {counts['skip']} | {bad} | {len(report)} |")
    passing = [name for name in names if any(report.get(name, {}).get("status") == "ok" for report in reports.values())]
    print("\n## Tests that pass somewhere\n")
    print("| test | " + " | ".join(f"{'rxe' if kind == 'stock' else 'rxe_prism'} {line}" for line, kind in reports) + " |")
    print("|---" * (len(reports) + 1) + "|")
    for name in passing:
        print(f"| {name} | " + " | ".join(report.get(name, {}).get("status", "-") for report in reports.values()) + " |")
    print("\n## Why the others do not run\n\n| tests | reason that the suite gives on rxe_prism |\n|---|---|")
    reasons = collections.Counter()
    for (_, kind), report in reports.items():
        if kind == "prism":
            for name in set(names) - set(passing):
                reasons[reason(report.get(name, {}).get("text", ""))] += 1
            break
    for text, count in reasons.most_common():
        print(f"| {count} | {text or '(none)'} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
