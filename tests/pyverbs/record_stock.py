#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Keeps a report of stock rxe, so that guests with the same kernel and the same suite need not make it again.

usage: record_stock.py PRISM_KERNEL_WORK/results/debian-LINE-verbs/pyverbs-stock.json...
It goes to stock/RELEASE.json beside this script, where tests/kernel/guest/part_pyverbs.sh looks; that of an older release
of the same line can then be deleted.
"""
import json
import pathlib
import sys


def record(report):
    about = report['about']
    tests = {name: {'status': test['status']} for name, test in sorted(report['tests'].items())}
    file = pathlib.Path(__file__).parent / 'stock' / f'{about.split()[0]}.json'
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({'device': report['device'], 'about': about, 'counts': report['counts'], 'tests': tests},
                               indent=1) + '\n')
    print(f'{file}: {about}: {report["counts"]}')


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        record(json.loads(pathlib.Path(name).read_text()))
