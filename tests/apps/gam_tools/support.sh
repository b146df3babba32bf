# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the tests of this folder, behind common.sh.

# bench OPTION...
bench() {
	timeout -k 5 60 "$bin/prism-gam-bench" "$@"
}

# holds EXPRESSION: of the report in $work/json, as r (results) and i (test_info)
holds() {
	python3 - "$work/json" "$1" <<'END' || fail "does not hold: $1" "$work/json"
import json, sys
with open(sys.argv[1]) as file:
    report = json.load(file)
sys.exit(not eval(sys.argv[2], {"r": report["results"], "i": report["test_info"]}))
END
}

# says TEXT: the last command did, when it failed
says() {
	grep -Fq -- "$1" "$work/err" || fail "it does not say '$1':" "$work/err"
}
