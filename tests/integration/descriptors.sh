#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Descriptors of channels, and others of the same numbers, under prism-run.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
[ -e /dev/infiniband/rdma_cm ] && skip "this host has a connection manager of the kernel's"

if "$bin/prism-run" "$bin/descriptors" >"$work/descriptors" 2>&1; then
	pass "channels and files are told apart"
else
	fail "channels and files are told apart" "$work/descriptors"
fi
finish
