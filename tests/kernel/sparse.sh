#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What the kernel's make calls as CHECK: sparse, on the files that are ours. What it says of rxe's nobody looks at, and of
# the module it takes two thirds of the time. usage: sparse.sh ARGUMENT... FILE
for file; do :; done
case $file in
*/prism*.c | */core/*.c) exec sparse "$@" ;;
esac
