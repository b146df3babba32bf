#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Prints the tests of a build tree for inclusion in another's list, as NAME.test, so that one run of ctest counts and
schedules the tests of several trees."""

import argparse
import json
import re
import subprocess
import sys

# A property that is not known here would be lost, so it is an error.
KEPT = ("COST", "ENVIRONMENT", "LABELS", "PROCESSORS", "RUN_SERIAL", "TIMEOUT", "WORKING_DIRECTORY")
KEPT += ("SKIP_REGULAR_EXPRESSION", "SKIP_RETURN_CODE")
RENAMED = ("FIXTURES_REQUIRED", "FIXTURES_SETUP", "FIXTURES_CLEANUP", "RESOURCE_LOCK")
DERIVED = ("DEPENDS",)  # follow from the fixtures


def quote(value):
    """Quotes for CMake: in brackets, nothing has a meaning."""
    return f"[==[{value}]==]"


def as_list(value):
    return value if isinstance(value, list) else [value]


def properties_of(test, options):
    kept = {"ENVIRONMENT": list(options.environment), "LABELS": [options.name]}
    for each in test.get("properties", []):
        key, values = each["name"], as_list(each["value"])
        if key in RENAMED:
            values = [f"{options.name}.{value}" for value in values]
        elif key not in KEPT + DERIVED:
            sys.exit(f"rename_tests.py: {test['name']} has a property that is not known here: {key}")
        if key not in DERIVED:
            kept[key] = kept.get(key, []) + values
    return " ".join(f"{key} {quote(';'.join(map(str, values)))}" for key, values in kept.items() if values)


def is_wanted(test, options):
    labels = [label for each in test["properties"] if each["name"] == "LABELS" for label in each["value"]]
    if options.exclude_label in labels or (options.exclude and re.search(options.exclude, test["name"])):
        return False
    return not options.only or re.search(options.only, test["name"]) is not None


def fewer_seeds(word, divisor):
    found = re.fullmatch(r"(\d+)\.\.(\d+)", word)
    if not found:
        return word
    first, last = map(int, found.groups())
    return f"{first}..{first + (last - first) // divisor}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("tree")
    parser.add_argument("--exclude", metavar="REGEX", help="tests that are left out")
    parser.add_argument("--only", metavar="REGEX", help="tests that are not")
    parser.add_argument("--exclude-label", metavar="LABEL", help="tests that are left out, too")
    parser.add_argument("--seeds-divided-by", type=int, default=1, metavar="N", help="of simulations: --seeds FIRST..LAST")
    parser.add_argument("--environment", action="append", default=[], metavar="VARIABLE=VALUE")
    options = parser.parse_args()
    command = ["ctest", "--test-dir", options.tree, "--show-only=json-v1"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    for test in json.loads(shown.stdout)["tests"]:
        if not is_wanted(test, options):
            continue
        if "command" not in test:
            sys.exit(f"rename_tests.py: {options.tree}: the program of {test['name']} is not built")
        name = quote(f"{options.name}.{test['name']}")
        command = [fewer_seeds(word, options.seeds_divided_by) for word in test["command"]]
        print(f"add_test({name} {' '.join(map(quote, command))})")
        print(f"set_tests_properties({name} PROPERTIES {properties_of(test, options)})")


if __name__ == "__main__":
    main()
