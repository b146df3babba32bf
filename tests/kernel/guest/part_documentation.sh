# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # from lib.sh and main.sh
# Commands that docs/kernel-module.md tells the module's user to type, on a host as it describes: an interface eth0, the
# module in modprobe's path, another host.

documentation_host() {
	[ "$KIND" = prism ] || skip "PRISM needs our module"
	need_module "$KIND" # its dependencies
	unload_module "$KIND" || fail "rmmod"
	echo "install rxe_prism insmod $KO" >/etc/modprobe.d/rxe_prism.conf
	modprobe_some dummy
	check "no eth0" ip link add eth0 type dummy
	check "no address" ip addr add 192.0.2.2/24 dev eth0
	check "eth0 stays down" ip link set eth0 up
	echo "192.0.2.2 HOST" >>/etc/hosts
}

documentation_page() {
	python3 "$guest_folder/../../documentation/run_page.py" --where guest --here --build "$PRISM_BUILD" "$1"
}

group_documentation() {
	part "documentation host" documentation_host
	PART_SECONDS=120 part "docs/kernel-module.md" documentation_page docs/kernel-module.md
}
