#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# In the guest: guest.sh MODULE FAULT...: provokes them one after the other. lockdep stops at a memory fault, so the
# caller names the faults of locks first.
set -eu
insmod "$1"
shift
for fault in "$@"; do
	echo "provoking $fault"
	echo "$fault" >/sys/module/prism_negative/parameters/fault
	[ "$fault" != leak ] || {
		sleep 6 # younger objects are not reported
		echo scan >/sys/kernel/debug/kmemleak
		echo scan >/sys/kernel/debug/kmemleak
	}
done
