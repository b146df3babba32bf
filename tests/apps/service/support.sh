# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Sourced by the tests of the servers' units.
# shellcheck source=tests/integration/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../integration/common.sh"

# outcomes_are_known REPORT: checks a report of prism-tx-bench whose shards were stopped meanwhile: some transactions
# were committed, some were refused as a shard stops or has stopped, and none is in doubt
outcomes_are_known() {
	python3 - "$1" >"$work/outcomes" 2>&1 <<-'END' || fail "transactions under load:" "$work/outcomes"
		import errno, json, os, sys
		results = json.load(open(sys.argv[1]))["results"]
		refusals = {os.strerror(errno.EHOSTUNREACH)}
		assert results["committed"] > 0, "none was committed"
		assert results["unknown"] == results["abandoned"] == 0, f"outcomes are not known: {results}"
		assert results["errors"], "none was refused"
		assert results["errors"].keys() <= refusals, f"other errors: {results['errors']}"
	END
}
