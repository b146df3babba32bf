#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run a program in a network namespace, in which nobody else is on ::1. Needs root, as users who map themselves to root
# would be tested as somebody else.
# usage: alone.sh COMMAND...
exec unshare --net env PATH="$PATH:/usr/sbin:/sbin" sh -c 'ip link set lo up && exec "$@"' alone "$@"
