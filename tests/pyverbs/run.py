#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run rdma-core's pyverbs suite, as Debian ships it, on one device and write what became of each test as JSON.

usage: run.py --dev DEVICE --gid INDEX --suite FOLDER --out FILE [--only REGEX] [--expect REPORT] [--about TEXT]
A test that is ok in the other device's report is given up to 20 attempts within a minute: some of the tests race
with the device, as test_resize_cq, which takes it that a UD send is complete when posting it returns, and loses
every other time where an emulator shares its processors. Attempts are part of the report.
Ends with 0 if the suite ran, whatever the results: compare.py judges them.
"""
import argparse
import gzip
import json
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
import unittest


def unpack(suite, folder):
    """Decompresses files: the package compresses the larger ones, and Python cannot import those."""
    for file in suite.iterdir():
        if file.suffix == '.gz':
            (folder / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        elif file.suffix == '.py':
            shutil.copy(file, folder)


def load(folder, dev, gid):
    """Prepares sys.argv, which the suite's own parser reads, and sys.path, on which its modules expect to find each
    other."""
    sys.path[:0] = [str(folder), str(folder.parent)]
    sys.argv = ['run_tests.py', '--dev', dev, '--gid', str(gid)]
    from args_parser import parser
    parser.parse_args()
    return unittest.defaultTestLoader.loadTestsFromModule(__import__(folder.name))


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def name_of(test):
    return re.sub(r'^.*?(test_)', r'\1', test.id(), count=1)


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcome = {}

    def startTest(self, test):
        super().startTest(test)
        random.seed(1)  # both devices get the same choices
        self.begin = time.monotonic()

    def note(self, test, status, text=''):
        name = name_of(test)
        self.outcome[name] = {'status': status, 'text': text, 'seconds': round(time.monotonic() - self.begin, 2),
                              'attempts': self.outcome.get(name, {}).get('attempts', 0) + 1}
        print(f'{status:5} {name} {text.strip().splitlines()[-1] if text.strip() else ""}', flush=True)

    def addSuccess(self, test):
        self.note(test, 'ok')

    def addSkip(self, test, reason):
        self.begin = getattr(self, 'begin', time.monotonic())
        self.note(test, 'skip', reason)

    def addError(self, test, err):
        self.begin = getattr(self, 'begin', time.monotonic())
        self.note(test, 'error', self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self.note(test, 'fail', self._exc_info_to_string(err, test))


def run(test, result, attempts):
    end = time.monotonic() + 60
    for _ in range(attempts):
        unittest.TestSuite([test]).run(result)
        if result.outcome.get(name_of(test), {}).get('status') in ('ok', 'skip') or time.monotonic() > end:
            return


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--dev', required=True)
    options.add_argument('--gid', required=True, type=int)
    options.add_argument('--suite', required=True, type=pathlib.Path)
    options.add_argument('--out', required=True, type=pathlib.Path)
    options.add_argument('--only', default='.')
    options.add_argument('--expect', type=pathlib.Path)
    options.add_argument('--about', default='')
    given = options.parse_args()
    expected = json.loads(given.expect.read_text())['tests'] if given.expect else {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / 'tests'
        folder.mkdir()
        unpack(given.suite, folder)
        suite = load(folder, given.dev, given.gid)
        result = Result()
        for test in flatten(suite):
            if re.search(given.only, test.id()):
                run(test, result, 20 if expected.get(name_of(test), {}).get('status') == 'ok' else 1)
    counts = {}
    for outcome in result.outcome.values():
        counts[outcome['status']] = counts.get(outcome['status'], 0) + 1
    given.out.write_text(json.dumps({'device': given.dev, 'about': given.about, 'counts': counts, 'tests': result.outcome}, indent=1))
    print(f'{len(result.outcome)} tests: ' + ', '.join(f'{n} {word}' for word, n in sorted(counts.items())))
    return 0 if result.outcome else 1


if __name__ == '__main__':
    sys.exit(main())
