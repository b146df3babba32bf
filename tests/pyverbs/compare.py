#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Compare two reports of run.py: every test that is ok on the first must be ok on the second.

usage: compare.py [--clean] FIRST.json SECOND.json
With --clean the second may have no failure or error at all.
"""
import json
import pathlib
import sys


def main(first, second, clean):
    stock, ours = (json.loads(pathlib.Path(name).read_text())['tests'] for name in (first, second))
    worse = 0
    broken = 0
    for name in sorted(stock.keys() | ours.keys()):
        before = stock.get(name, {}).get('status', 'none')
        after = ours.get(name, {}).get('status', 'none')
        attempts = ours.get(name, {}).get('attempts', 1)
        if attempts > 1:
            print(f'     {name}: {after} at attempt {attempts}')
        broken += after in ('fail', 'error')
        if before == after or (before, after) == ('none', 'skip'):
            continue
        lost = before == 'ok'
        worse += lost
        text = ours.get(name, {}).get('text', '').strip().splitlines()
        print(f'{"LOST" if lost else "    "} {name}: {before} -> {after} {text[-1] if text else ""}')
    passed = sum(test['status'] == 'ok' for test in stock.values())
    print(f'{passed} tests are ok on the first device, {worse} of them not on the second')
    if clean:
        print(f'{broken} failures and errors on the second')
    return 1 if worse or not passed or (clean and broken) else 0


if __name__ == '__main__':
    files = [argument for argument in sys.argv[1:] if argument != '--clean']
    if len(files) != 2:
        sys.exit(__doc__)
    sys.exit(main(*files, '--clean' in sys.argv))
