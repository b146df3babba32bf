#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run the tests of pyprism on one device, in the manner of rdma-core's run_tests.py.

usage: prism-run run_tests.py [--dev DEVICE] [--progress inline|thread] [unittest's options and names of tests]
Ends with 77 if pyverbs is not installed.
"""
import argparse
import importlib.util
import pathlib
import sys
import unittest


def main():
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument('--dev', default='prism_lo')
    options.add_argument('--progress', choices=('inline', 'thread'), default='inline')
    given, rest = options.parse_known_args()
    if importlib.util.find_spec('pyverbs') is None:
        print(f'SKIP: pyverbs is not installed for {sys.executable} (Debian: python3-pyverbs)')
        return 77

    folder = pathlib.Path(__file__).parent
    sys.path.insert(0, str(folder))
    from base import Config, pe
    Config.device = given.dev
    Config.progress = getattr(pe, f'PRISMDV_PROGRESS_{given.progress.upper()}')
    modules = sorted(path.stem for path in folder.glob('test_*.py'))
    named = [argument for argument in rest if not argument.startswith('-')]
    program = unittest.main(module=None, argv=[sys.argv[0], *rest, *([] if named else modules)], exit=False)
    return 0 if program.result.wasSuccessful() and program.result.testsRun else 1


if __name__ == '__main__':
    sys.exit(main())
