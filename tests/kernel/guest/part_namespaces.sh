# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # from lib.sh and main.sh
# Links in network namespaces, which rxe supports since 7.2: each has the UDP port to itself. Standard requests and
# PRISM cross from one to the other, and a namespace takes its link along when it is deleted.

# namespace_link NAMESPACE INTERFACE NUMBER: a link prism-NAMESPACE on 10.6.0.NUMBER
namespace_link() {
	ip -n "$1" -batch - <<-END || return 1
		link set lo up
		addr add 10.6.0.$3/24 dev $2
		link set $2 up
	END
	ip netns exec "$1" rdma link add "prism-$1" type prism netdev "$2"
}

namespaces_links() {
	need_module prism
	modprobe_some veth
	ip netns add here || fail "no namespace"
	ip netns add there || fail "no second namespace"
	ip link add v0 netns here type veth peer name v1 netns there || fail "no pair of interfaces"
	namespace_link here v0 1 || fail "no link in the first namespace"
	namespace_link there v1 2 || fail "no link in the second namespace"
	wait_for 5 port_active prism-here || fail "the first link is down"
	wait_for 5 port_active prism-there || fail "the second link is down"
}

# namespaces_run PROGRAM ARGUMENT...: the server in one, the client in the other
namespaces_run() {
	local program=$1
	shift
	next_port
	ip netns exec here "$program" -p "$port" -d prism-here "$@" &
	wait_for 15 sh -c "ip netns exec here ss -Hltn 'sport = :$port' | grep -q ." || fail "the server does not listen"
	ip netns exec there "$program" -p "$port" -d prism-there "$@" 10.6.0.1 || fail "the client"
	wait $! || fail "the server"
}

links_gone() { ! link_exists prism-there && ! link_exists prism-here; }

# Deleting one end of a pair of interfaces deletes the other, too.
namespaces_go() {
	ip netns del there || fail "the namespace stays"
	wait_for 10 links_gone || fail "a link stays"
	ip netns del here
	unload_module prism || fail "rmmod"
}

group_namespaces() {
	part "links in namespaces" namespaces_links
	part "ib_read_lat between namespaces" namespaces_run ib_read_lat -F -n 100
	part "ib_prism_read_lat between namespaces" namespaces_run "$PRISM_BUILD/bin/ib_prism_read_lat" -n 100
	part "namespaces go" namespaces_go
}
