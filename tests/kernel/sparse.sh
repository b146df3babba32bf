#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# CHECK of the kernel's make: runs sparse on our own files only. Reports on rxe's files are of no use, and would take
# two thirds of the module's time. usage: sparse.sh ARGUMENT... FILE
for file; do :; done
case $file in
*/prism*.c | */core/*.c) exec sparse "$@" ;;
esac
