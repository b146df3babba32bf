# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# rdma-core's pyverbs suite, on stock rxe and on our device: tests that pass there must pass here.

pyverbs_suite=/usr/share/doc/rdma-core/tests

# pyverbs_device KIND DEVICE [OPTION...]: writes a report of all tests
pyverbs_device() {
	local kind=$1 device=$2 gid
	shift 2
	[ -e $pyverbs_suite/run_tests.py ] || skip "no $pyverbs_suite: package rdma-core, with its documentation"
	need_module "$kind"
	dummy_link d0 1 || fail "no dummy interface"
	link_exists "$device" || link_add "$device" "$kind" d0 || fail "no device"
	gid=$(gid_index "$device" 10.9.1.1) || fail "no GID"
	python3 "$guest_folder/../../pyverbs/run.py" --dev "$device" --gid "$gid" --suite $pyverbs_suite \
		--out "$RESULTS/pyverbs-$kind.json" --about "$(pyverbs_versions)" "$@" || fail "the suite did not run"
	grep -q '"ok"' "$RESULTS/pyverbs-$kind.json" || fail "no test is ok"
}

# Versions that a report depends on, unless it is of a driver of ours
pyverbs_versions() { echo "$(uname -rv), rdma-core $(dpkg-query -W -f '${Version}' rdma-core)"; }

# Reuses a report of stock rxe as long as the kernel and the suite are the same. tests/pyverbs/record_stock.py keeps
# reports.
pyverbs_stock() {
	local record
	record=$guest_folder/../../pyverbs/stock/$(uname -r).json
	if [ -n "$SHORT" ] && grep -qsF "\"about\": \"$(pyverbs_versions)\"" "$record"; then
		echo "as recorded: $record"
		cp "$record" "$RESULTS/pyverbs-stock.json"
		return
	fi
	echo "no record for: $(pyverbs_versions)"
	pyverbs_device stock rxe0
}

pyverbs_remove() {
	loaded "$1" || skip "it has not been loaded"
	link_delete "$2" || fail "link delete"
	unload_module "$1" || fail "rmmod"
}

pyverbs_compare() {
	[ -f "$RESULTS/pyverbs-prism.json" ] || skip "no report of our device"
	python3 "$guest_folder/../../pyverbs/compare.py" "$RESULTS/pyverbs-stock.json" "$RESULTS/pyverbs-prism.json"
}

# Both devices in one guest, one after the other: both modules need the same UDP port.
group_pyverbs() {
	PART_SECONDS=150 part "pyverbs on stock rxe" pyverbs_stock
	part "remove stock rxe" pyverbs_remove stock rxe0
	PART_SECONDS=150 part "pyverbs on prism" pyverbs_device prism prism0 \
		--expect "$RESULTS/pyverbs-stock.json"
	part "pyverbs: as good as stock rxe" pyverbs_compare
	part "remove prism" pyverbs_remove prism prism0
}
