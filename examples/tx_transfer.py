#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# $ ninja -C build programs
# $ head -c 32 /dev/urandom >store.secret
# $ build/bin/prism-tx-server --shard 0 --shards 2 --secret store.secret --port 18660 &
# $ build/bin/prism-tx-server --shard 1 --shards 2 --secret store.secret --port 18661 &
# $ PYTHONPATH=build/python /usr/bin/python3 examples/tx_transfer.py localhost:18660,localhost:18661 alice bob 30
"""Moves an amount from one account to another, on whatever shards they are: tx_transfer.py SHARDS FROM TO AMOUNT"""
import sys

import pyprism.tx


def balance(transaction, account):
    try:
        return int(transaction.read(account))
    except pyprism.tx.NoSuchKey:
        return 100  # what accounts begin with


def move(transaction, source, target, amount):
    """Runs again after each conflict. An exception aborts."""
    transaction.fetch(source, target)  # both at once: one round trip instead of two
    left = balance(transaction, source) - amount
    if left < 0:
        raise SystemExit(f'{source.decode()} has less than {amount}')
    transaction.write(target, b'%d' % (balance(transaction, target) + amount))
    transaction.write(source, b'%d' % left)
    return left


if len(sys.argv) != 5:
    sys.exit(__doc__)
_, shards, source, target, amount = sys.argv
with pyprism.tx.open(shards) as store:
    left = store.run(lambda transaction: move(transaction, source.encode(), target.encode(), int(amount)))
print(f'{source} has {left}')
