#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads what ctest --output-junit wrote, for check.sh, and says what must not pass unseen.

Ends with 1 if a test is missing that is defined, if one was skipped that may not be, or if a failure is a finding of a
checker (a sanitizer, a fuzzer, a debug kernel): another run might not repeat it, and it is true all the same. Failures of
other kinds are not judged here; nor are leaks after an expectation that failed, which follow from it.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree

FINDING = re.compile(r"(ERROR|WARNING|SUMMARY): \w+Sanitizer|: runtime error: |libFuzzer: |^report: ", re.M)
LEAK = re.compile(r"ERROR: LeakSanitizer: |SUMMARY: \w+Sanitizer: \d+ byte\(s\) leaked")
EXPECTATION = re.compile(r"^\[  FAILED  \] ", re.M)


def tell(words, tests):
    if tests:
        print(f"== {len(tests)} {words}:")
        for test in tests:
            print(f"   {test.get('name')}{reason_of(test)}")


def output_of(test):
    return test.findtext("system-out") or ""


def reason_of(test):
    """Returns the last line that says why a test skipped itself."""
    found = re.findall(r"^.*?skip(?:ped)?: *(.*)$", output_of(test), flags=re.M | re.I)
    return f": {found[-1]}" if found else ""


def has_finding(output):
    return FINDING.search(LEAK.sub("", output) if EXPECTATION.search(output) else output)


def names_in(path):
    with open(path, encoding="utf-8") as file:
        return {line for line in file.read().splitlines() if not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results")
    parser.add_argument("--names", required=True, help="file with the names of all tests that are defined")
    parser.add_argument("--passed-before", metavar="FILE", required=True, help="likewise, of those that were left out")
    parser.add_argument("--may-skip", metavar="REGEX", required=True)
    options = parser.parse_args()
    defined, before = names_in(options.names), names_in(options.passed_before)
    missing = defined - before
    tests = ElementTree.parse(options.results).getroot().findall("testcase")
    failed = [test for test in tests if test.get("status") == "fail"]
    unrun = [test for test in tests if test.get("status") not in ("run", "fail")]
    findings = [test for test in failed if has_finding(output_of(test))]
    surprising = [test for test in unrun if not re.fullmatch(options.may_skip, test.get("name"))]
    missing -= {test.get("name") for test in tests}
    print(f"== {len(tests)} tests, {len(defined & before)} passed before: {len(failed)} failed, {len(unrun)} skipped, missing: {', '.join(sorted(missing)) or 'none'}")
    tell("skipped", unrun)
    tell("with a finding that is not forgiven", findings)
    tell("that may not be skipped", surprising)
    return 1 if findings or surprising or missing else 0


if __name__ == "__main__":
    sys.exit(main())
