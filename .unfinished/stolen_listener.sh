#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A server listens on all addresses. Another user takes the name that a listener on 127.0.0.1 alone would have: he must
# not get what is for the server (with the transaction in it he can answer in the server's place).
#
# Belongs to tests/integration/rdmacm.sh, beside two_servers.
# shellcheck source=tests/integration/common.sh
. "${PRISM_SOURCE:?}/tests/integration/common.sh"
need_program python3 rping
[ -e /dev/infiniband/rdma_cm ] && skip "this host has a connection manager of the kernel's"
run=("$bin/prism-run")
port=17191
other_user=()
[ "$(id -u)" -ne 0 ] || { need_program setpriv && other_user=(setpriv --reuid=65534 --regid=65534 --clear-groups); }
listens() { grep -aq "@prism-cm/0106/$port/" /proc/net/unix; }

start "$work/server" timeout -k 5 60 "${run[@]}" rping -s -C 3 -a 0.0.0.0 -p "$port"
wait_for 20 listens || fail "the server does not listen" "$work/server"
start "$work/thief" timeout -k 5 60 "${other_user[@]}" python3 -uc '
import socket, struct, sys
thief = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
try:
    thief.bind(f"\0prism-cm/0106/{sys.argv[1]}/127.0.0.1")
except OSError as error:
    sys.exit(f"ready: {error}")
print("ready")
message = thief.recv(1000)
transaction, attribute = struct.unpack_from(">QH", message, 40 + 8)
print(f"stolen: attribute {attribute:#x}, transaction {transaction:#x}")' "$port"
wait_for 10 grep -q ready "$work/thief" || fail "the thief does not begin" "$work/thief"
timeout 15 "${run[@]}" rping -c -C 3 -v -a 127.0.0.1 -p "$port" >"$work/client" 2>&1 </dev/null
if grep -q stolen "$work/thief"; then
	fail "another user has the client's request, and the server has not" "$work/thief" "$work/client"
else
	pass "another user does not get a client's request"
fi
finish
