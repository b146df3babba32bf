#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Runs a program in a network namespace, in which it has ::1 for itself. Needs root, as users who map themselves to root
# would be tested as another user.
# usage: alone.sh COMMAND...
exec unshare --net env PATH="$PATH:/usr/sbin:/sbin" sh -c 'ip link set lo up && exec "$@"' alone "$@"
