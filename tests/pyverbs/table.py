#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Writes the tables of docs/conformance.md from the reports of the pyverbs part.

usage: table.py LINE=FOLDER... [REPORT.json] (FOLDER has pyverbs-stock.json and pyverbs-prism.json of that kernel line,
REPORT.json is the userspace device's)
"""
import collections
import json
import pathlib
import sys


def reason(text):
    """Returns the last line of the suite's message, without the exception's name."""
    lines = text.strip().splitlines()
    return lines[-1].strip().replace("|", "/") if lines else ""


def load(file):
    return json.loads(pathlib.Path(file).read_text())["tests"]


def load_all(arguments):
    """Returns the reports by the names of their columns."""
    reports = {}
    for argument in arguments:
        if argument.endswith(".json"):
            reports["userspace"] = load(argument)
            continue
        line, folder = argument.split("=", 1)
        reports[f"rxe {line}"] = load(f"{folder}/pyverbs-stock.json")
        reports[f"rxe_prism {line}"] = load(f"{folder}/pyverbs-prism.json")
    return reports


def print_counts(reports):
    print("| device | ok | skipped | error or failure | tests |\n|---|---|---|---|---|")
    for device, report in reports.items():
        counts = collections.Counter(test["status"] for test in report.values())
        bad = sum(counts.values()) - counts["ok"] - counts["skip"]
        print(f"| {device} | {counts['ok']} | {counts['skip']} | {bad} | {len(report)} |")


def status(report, name):
    return report.get(name, {}).get("status", "-")


def print_passing(reports, names):
    print("\n## Tests that pass somewhere\n")
    print("| test | " + " | ".join(reports) + " |")
    print("|---" * (len(reports) + 1) + "|")
    for name in names:
        print(f"| {name} | " + " | ".join(status(report, name) for report in reports.values()) + " |")


def print_skips(reports):
    """Yields each device of ours, each test that it skips, and the reason."""
    for device, report in reports.items():
        if device.startswith("rxe "):
            continue
        print(f"\n## Why {device} skips tests\n\n| reason that the suite gives | tests |\n|---|---|")
        skipped = collections.defaultdict(list)
        for name, test in report.items():
            if test["status"] == "skip":
                skipped[reason(test["text"]) or "(none)"].append(name.split(".", 1)[1])
        for text, tests in sorted(skipped.items(), key=lambda item: -len(item[1])):
            print(f"| {text} | {len(tests)}: {', '.join(sorted(tests))} |")


def main(arguments):
    reports = load_all(arguments)
    names = sorted({name for report in reports.values() for name in report})
    print_counts(reports)
    print_passing(reports, [name for name in names if any(status(report, name) == "ok" for report in reports.values())])
    print_skips(reports)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
