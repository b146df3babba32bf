#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# check_transactions on files: exit status and output for good, broken and foreign ones. Argument: the folder of programs.
set -euo pipefail
bin=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/prism-transactions.XXXXXX")
trap 'rm -rf "$work"' EXIT

# make NAME OPTION...
make() {
	local folder=$work/$1
	shift
	mkdir "$folder"
	"$bin/make_transactions" "$folder" "$@"
}

# expect STATUS PATTERN ARGUMENT...
expect() {
	local status=0 wanted=$1 pattern=$2
	shift 2
	"$bin/check_transactions" "$@" >"$work/output" 2>&1 || status=$?
	if [ "$status" -ne "$wanted" ] || ! grep -Eq -- "$pattern" "$work/output"; then
		head -c 10000 "$work/output"
		echo "FAIL: status $status, expected $wanted and '$pattern' of: $*"
		exit 1
	fi
}

make good --transactions 1000000 --keys 100000 --clients 32
expect 0 '^serializable' "$work"/good/*
make lists --transactions 200000 --keys 5000 --lists
expect 0 '^strictly serializable' --cycles --strict "$work"/lists/*
expect 0 '"verdict": "serializable"' --json "$work"/lists/*
make late --transactions 20000 --late 20
expect 0 '^serializable' "$work"/late/*
expect 1 'G-single-realtime' --strict "$work"/late/*

make skew --transactions 20000 --fault write-skew
expect 1 '^cycles: G2$' --cycles "$work"/skew/*
expect 1 '^ +-- rw key 0x' --cycles "$work"/skew/*
expect 1 '^replay: stale read$' --replay "$work"/skew/*
expect 1 '"name": "G2"' --json "$work"/skew/*
make repeated --transactions 20000 --fault repeated-timestamp
expect 1 'timestamp repeated' "$work"/repeated/*
expect 0 '^serializable' --cycles "$work"/repeated/*

make bank --transactions 20000 --keys 10 --bank
expect 0 '^serializable' --bank 10000 "$work"/bank/*
expect 2 'no committed transaction has read all' --bank 10000 "$work"/late/*
make thief --transactions 20000 --keys 10 --bank --fault wrong-balance
expect 1 '^bank: wrong total' --bank 10000 "$work"/thief/*
expect 2 'these are lists' --bank 10000 "$work"/lists/*

# A part of a history has values without a writer.
expect 1 'value from nowhere' "$work"/late/0.transactions
# One store cannot have had both histories.
expect 2 'two transactions' "$work"/late/* "$work"/skew/*
expect 2 'another kind of history' "$work"/late/0.transactions "$work"/lists/0.transactions
echo nonsense >"$work/foreign"
expect 2 'not written by a HistoryWriter' "$work/foreign"
head -c 100001 "$work/late/0.transactions" >"$work/short"
expect 2 'short: at byte [0-9]+: the file is cut off' "$work/short"
{ head -c 16 "$work/late/0.transactions" && printf '\377\377\377\377'; } >"$work/absurd"
expect 2 'absurd: at byte 16: a record of 4294967295 bytes' "$work/absurd"
