# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# Both modules want UDP port 4791: the second one must say so, and works on another port.

# Up to 6.12 with the module, since 7.2 with the module's first link
takes_port() {
	load_module prism && link_add prism0 prism d1
}

port_taken() {
	[ -f "$KO" ] || skip "KO names no module"
	! loaded prism || unload_module prism || fail "rmmod of ours"
	need_module stock
	check "no dummy interface" dummy_link d0 1
	check "no dummy interface" dummy_link d1 2
	link_exists rxe0 || link_add rxe0 stock d0 || fail "no stock device"
	! takes_port || fail "it took a port that is taken"
	# part() marks its beginning in the kernel's log
	dmesg | sed -n '/part port taken/,$p' | grep -i prism >/tmp/messages
	cat /tmp/messages
	grep -Eq '4791|udp_port' /tmp/messages || fail "no message names the port"
	! loaded prism || unload_module prism || fail "it failed and cannot be unloaded"
}

other_port() {
	[ -f "$KO" ] || skip "KO names no module"
	need_module stock
	loaded prism || load_module prism udp_port=4792 || fail "it does not load with udp_port=4792"
	link_exists prism0 || link_add prism0 prism d1 || fail "no device of ours"
	rdma link
	perftest_run rxe0 10.9.1.1 rxe0 10.9.1.1 ib_read_lat -n 100 || fail "stock rxe does not work beside ours"
	perftest_run prism0 10.9.2.1 prism0 10.9.2.1 ib_read_lat -n 100 || fail "ours does not work beside stock rxe"
}

both_go() {
	[ -f "$KO" ] || skip "KO names no module"
	check "link delete of stock rxe" link_delete rxe0
	check "link delete of ours" link_delete prism0
	unload_module prism || fail "rmmod of ours"
	unload_module stock || fail "rmmod of stock rxe"
}

group_stock_port() {
	part "port taken by stock rxe" port_taken
	part "another port" other_port
	part "both unload" both_go
}
