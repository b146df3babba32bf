#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks the promises of docs/containers.md: everything works under the limits of a container engine, and under harder
# ones: an empty /sys, 64 MiB of /dev/shm, 64 KiB of locked memory, no capability, no IPv6, a read-only file system,
# Docker's list of system calls; as root and as uid 1000; between containers of one pod, which share a network, and
# between two pods. Also checks the message that two users in one pod get.
# shellcheck disable=SC2015,SC2016,SC2317 # "A && pass || fail" cannot go wrong in between; other shells expand what is
# quoted; functions are called by name
if [ -z "${IN_NAMESPACE:-}" ]; then
	users=()
	[ "$(id -u)" -eq 0 ] || users=(--map-root-user --map-auto)
	unshare "${users[@]}" --net --mount true 2>/dev/null || {
		echo "SKIP: this user may not make namespaces with other users in them: be root, or install uidmap"
		exit 77
	}
	IN_NAMESPACE=1 exec unshare "${users[@]}" --net --mount "$0" "$@"
fi
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
need_program ibv_devinfo ib_send_lat ib_write_bw ib_read_bw ucmatose ip ss setpriv prlimit nsenter unshare fallocate
ulimit -c 0

port=${PRISM_TEST_PORT:-20500}
row='^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+'

# Does what a run-time does inside a container's namespaces. /mnt has the build tree, as not every user may look into
# its folder. Newer run-times set a soft limit of 1024 descriptors.
cat >"$work/enter" <<'END'
set -e
uid=$1
shift
mount --bind "$PRISM_BUILD" /mnt
mount -t tmpfs -o ro none /sys
mount -t tmpfs -o nosuid,nodev,noexec,size=64m shm /dev/shm
mount --bind -o ro /proc/sys /proc/sys
mount -o remount,bind,ro /
exec env -i PATH=/mnt/bin:/usr/bin:/bin:/usr/sbin:/sbin LD_LIBRARY_PATH=/mnt/lib \
	prlimit --core=0 --memlock=65536:65536 --nofile=1024: setpriv --reuid="$uid" --regid="$uid" --clear-groups \
	--inh-caps=-all --bounding-set=-all --no-new-privs /mnt/bin/confined "$@"
END

# make_pod ADDRESS: makes a network without IPv6, whose eth0 is one end of the bridge. The words in $in_pod, a user's
# number and a command run it in a new container.
make_pod() {
	start "$work/pod" unshare --net sleep 600
	local pod=$started network=(nsenter --net="/proc/$started/ns/net")
	wait_for 10 has_network "$pod" || fail "no pod" "$work/pod"
	"${network[@]}" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 2>/dev/null
	ip link set "$2" netns "$pod" name eth0
	"${network[@]}" ip link set lo up
	"${network[@]}" ip address add "$1/24" dev eth0
	"${network[@]}" ip link set eth0 up
	in_pod=("${network[@]}" unshare --mount --pid --ipc --uts --fork --kill-child --mount-proc bash "$work/enter")
}
has_network() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

ip link add one type veth peer name two 2>"$work/link" || skip "no veth here: $(cat "$work/link")"
make_pod 10.79.0.2 two
there=("${in_pod[@]}")
make_pod 10.79.0.1 one
here=("${in_pod[@]}")
pod=$started
ss() { nsenter --net="/proc/$pod/ns/net" ss "$@"; } # common.sh calls it to find listening servers

# Actions of an unconfined user; each must fail in a container, and none of them outside.
mlock='import ctypes; exit(ctypes.CDLL(None).mlock(ctypes.create_string_buffer(1 << 18), 1 << 18) != 0)'
liberties=('unshare --user true' 'fallocate -l 65M /dev/shm/prism-test' "python3 -c '$mlock'" 'ls -A /sys | grep -q .'
	'grep -q "^Cap...:.*[1-9a-f]" /proc/self/status' 'findmnt -n -o OPTIONS / | grep -q ^rw')

controls() {
	local user=$1 liberty
	for liberty in "${liberties[@]}"; do
		! { "${here[@]}" "$user" bash -c "$liberty" >"$work/liberty" 2>&1; } 2>/dev/null ||
			fail "uid $user may in a container: $liberty" "$work/liberty"
	done
	"${here[@]}" "$user" bash -c "[ \$(id -u) = $user ] && [ ! -s /proc/net/if_inet6 ] && fallocate -l 63M /dev/shm/x" \
		>"$work/within" 2>&1 && pass "uid $user is confined" || fail "uid $user is not confined as it should be" "$work/within"
}

devices() {
	expect 0 "uid $1: ibv_devinfo" "${here[@]}" "$1" prism-run ibv_devinfo &&
		grep -q 'prism_lo$' "$work/out" && grep -q 'prism_eth0$' "$work/out" && pass "uid $1: ibv_devinfo" ||
		fail "uid $1: ibv_devinfo does not list prism_lo and prism_eth0" "$work/out"
}

# Prints the bytes received on lo: all packets to an address of the same pod
lo_bytes() { nsenter --net="/proc/$pod/ns/net" awk '$1 == "lo:" { print $2 }' /proc/net/dev; }

# tool UID ARGUMENT...: runs within the pod through shared memory, once that is set up, which lo does not see; and from
# the other pod over UDP. The tools for bandwidth move 20 MB or more.
tool() {
	local user=$1 before command
	shift
	port=$((port + 2))
	before=$(lo_bytes)
	command=("$@" -d prism_eth0 -p "$port")
	pair "uid $user, one pod: $*" $port "$row" "${here[@]}" "$user" "${command[@]}" -- \
		"${here[@]}" "$user" "${command[@]}" 127.0.0.1
	[ $(($(lo_bytes) - before)) -lt 8000000 ] || fail "uid $user, one pod: $*: not through shared memory"
	command=("$@" -d prism_eth0 -p $((port + 1)))
	pair "uid $user, two pods: $*" $((port + 1)) "$row" "${here[@]}" "$user" "${command[@]}" -- \
		"${there[@]}" "$user" "${command[@]}" 10.79.0.1
}

store() {
	local user=$1
	port=$((port + 2))
	start "$work/server" timeout -k 5 60 "${here[@]}" "$user" prism-kv-server -d prism_eth0 --port $port --records 1000
	wait_listening $port "$started" || fail "uid $user: prism-kv-server" "$work/server"
	expect 0 "uid $user: prism-kv put" "${here[@]}" "$user" prism-kv -d prism_eth0 --server 10.79.0.1:$port put greeting hello
	expect 0 "uid $user: prism-kv get" "${there[@]}" "$user" prism-kv -d prism_eth0 --server 10.79.0.1:$port get greeting
	grep -q '^hello' "$work/out" && pass "uid $user: prism-kv" || fail "uid $user: prism-kv gets something else" "$work/out"
	kill "$started"
	wait "$started"
}

# Connects through the connection manager, whose servers have no TCP port
connections() {
	local user=$1 client
	for client in here there; do
		local -n in_pod_of_client=$client
		port=$((port + 1))
		start "$work/server" timeout -k 5 60 "${here[@]}" "$user" prism-run ucmatose -b 10.79.0.1 -p $port
		wait_for 20 rdma_listens || fail "uid $user: ucmatose does not listen" "$work/server"
		expect 0 "uid $user: ucmatose, from $client" timeout -k 5 60 \
			"${in_pod_of_client[@]}" "$user" prism-run ucmatose -s 10.79.0.1 -p $port
		grep -q '^data transfers complete' "$work/out" && wait "$started" && pass "uid $user: ucmatose, from $client" ||
			fail "uid $user: ucmatose, from $client" "$work/out" "$work/server"
	done
}
rdma_listens() { nsenter --net="/proc/$pod/ns/net" grep -q "@prism-cm/.*/$port/" /proc/net/unix; }

# Recipes that examples/containers tells others to copy, unchanged. Checks the pod as its text describes it: each of its
# containers has one user, without privileges.
recipes() {
	local name
	mkdir "$work/recipes"
	/usr/bin/python3 - "$PRISM_SOURCE/examples/containers" "$work/recipes" >"$work/said" 2>&1 <<-'END' ||
		import pathlib, re, shlex, sys, yaml
		source, scripts = map(pathlib.Path, sys.argv[1:])
		def read(name):
		    return yaml.safe_load((source / name).read_text())
		(scripts / "github").write_text("\n".join(
		    step["run"] for step in read("github-actions.yml")["jobs"]["rdma"]["steps"] if "run" in step))
		(scripts / "jenkins").write_text(re.search(r"sh \'{3}(.*?)\'{3}", (source / "Jenkinsfile").read_text(), re.S).group(1))
		(scripts / "gitlab").write_text("\n".join(read("gitlab-ci.yml")["rdma"]["script"]))
		made = set(re.findall(r"^Package: (\S+)", (source / "../../debian/control").read_text(), re.M))
		installed = set(re.findall(r"/packages/(\S+)_\*\.deb", (source / "Containerfile").read_text()))
		assert "prism-utils" in installed <= made, installed
		pod = read("kubernetes.yaml")["spec"]
		assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
		assert not {"hostNetwork", "hostPID", "hostIPC", "volumes"} & set(pod), pod
		(scripts / "user").write_text(str(pod["securityContext"]["runAsUser"]))
		for container in pod["containers"]:
		    rights = container["securityContext"]
		    assert rights == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
		    assert not {"args", "resources", "env", "volumeMounts"} & set(container), container
		    (scripts / container["name"]).write_text("exec " + shlex.join(container["command"]))
	END
		fail "the recipes are not as they should be" "$work/said"
	for name in github gitlab jenkins; do
		expect 0 "$name" timeout -k 5 60 "${here[@]}" 0 sh -ec "$(cat "$work/recipes/$name")" &&
			grep -q 'hca_id' "$work/out" && grep -Eq "$row" "$work/out" && pass "the recipe of $name" ||
			fail "the recipe of $name" "$work/out" "$work/err"
	done
	read -r user <"$work/recipes/user"
	start "$work/server" timeout -k 5 60 "${here[@]}" "$user" sh -c "$(cat "$work/recipes/server")"
	expect 0 "the pod's client" timeout -k 5 60 "${here[@]}" "$user" sh -c "$(cat "$work/recipes/client")"
	wait "$started" && grep -Eq "$row" "$work/out" && pass "the pod of Kubernetes" ||
		fail "the pod of Kubernetes" "$work/out" "$work/err" "$work/server"
}

# Two users cannot share an address: the kernel would have to guess the owner of a packet. Each has an address of its
# own on lo.
two_users() {
	port=$((port + 2))
	start "$work/server" timeout -k 5 60 "${here[@]}" 0 prism-run ib_send_lat -F -x 0 -d prism_eth0 -p $port
	wait_listening $port "$started" || fail "two users: the first" "$work/server"
	expect 1 "two users: the second" "${here[@]}" 1000 ib_prism_read_lat -d prism_eth0 -p $port 127.0.0.1
	grep -q 'prism: cannot open prism_eth0: eth0: UDP port 4791 of 10.79.0.1 belongs to user 0 .*runAsUser.*prism_lo' "$work/err" &&
		pass "two users: $(head -n 1 "$work/err")" || fail "two users: the second is not told what to do" "$work/err"
	kill "$started" 2>/dev/null
	port=$((port + 2))
	local command=(prism-run --device=prism_lo ib_send_lat -F -x 0 -n 100 -p "$port")
	pair "two users, prism_lo" $port "$row" "${here[@]}" 0 "${command[@]}" -- "${here[@]}" 1000 "${command[@]}" 127.0.0.1
}

"$bin/confined" --check >"$work/check" 2>&1 || fail "the filter of system calls" "$work/check"
mount -t tmpfs -o size=128m shm /dev/shm
for liberty in "${liberties[@]}"; do
	bash -c "$liberty" >"$work/liberty" 2>&1 || fail "this shows nothing, as nobody may here: $liberty" "$work/liberty"
done
for user in 0 1000; do
	controls $user
	devices $user
	tool $user prism-run ib_send_lat -F -x 0 -n 50
	tool $user prism-run ib_write_bw -F -x 0 -n 160 -b
	tool $user prism-run ib_read_bw -F -x 0 -n 320
	tool $user ib_prism_chain_lat -n 50
	store $user
	connections $user
done
recipes
two_users
finish
