#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A name server that is silent: clients end when their time is over, though the resolver waits for 10 s and more, and what
# has an address does not wait for what has a name.
# shellcheck disable=SC2015,SC2317 # "A && B || C" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program python3 ip ss unshare
[ -n "${IN_NAMESPACE:-}" ] || unshare -rnm true 2>/dev/null || skip "no namespaces for this user"
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -rnm "$0" "$@"
[ -x "$bin/prism-gam" ] || skip "the applications are not built"

ip link set lo up
echo "nameserver 127.0.0.1" >"$work/resolv.conf"
echo "hosts: files dns" >"$work/nsswitch.conf"
for file in resolv.conf nsswitch.conf; do
	mount --bind "$work/$file" "/etc/$file" 2>/dev/null || skip "/etc/$file cannot be replaced here"
done
clean_up_more() { umount /etc/resolv.conf /etc/nsswitch.conf; }
start "$work/dns" python3 -c '
import signal, socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
signal.pause()'
listens() {
	ss -Hlun "sport = :53" | grep -q .
}
wait_for 10 listens || fail "no name server" "$work/dns"

# in_time STATUS NAME COMMAND...: expects that it ends with the status in less time than the resolver takes
in_time() {
	local begun=$SECONDS code
	expect "$@"
	code=$?
	[ $((SECONDS - begun)) -lt 8 ] || fail "$2: took $((SECONDS - begun)) s"
	return $code
}

silent="no name server has answered in time"
in_time 1 "prism-kv" "$bin/prism-kv" -s some.name --timeout 1 get a && tells "$silent"
in_time 1 "prism-tx" "$bin/prism-tx" --timeout 1 some.name:18620 get a && tells "$silent"
in_time 1 "prism-gam" "$bin/prism-gam" -m some.name:18660 --timeout 1 stat && tells "$silent"
in_time 1 "prism-gam, by etcd" "$bin/prism-gam" -m etcd://some.name:2379/key --timeout 1 stat
in_time 1 "prism-rs, by etcd" "$bin/prism-rs" -c etcd://some.name:2379/key --timeout 1 get 0
in_time 1 "prism-rpc-bench" "$bin/prism-rpc-bench" some.name --timeout 1 -n 10 && tells "$silent"
in_time 1 "ib_prism_read_lat" "$bin/ib_prism_read_lat" some.name && tells "$silent"

start_server kv prism-kv-server "$bin/prism-kv-server" --records 100 --port 0 --shards 2
kv=("$bin/prism-kv" -s "127.0.0.1:$served_port" -s some.name --timeout 2)
printf 'put %s 1\n' {a..z} >"$work/puts"
in_time 6 "puts to both of two shards" "${kv[@]}" batch <"$work/puts" && tells "$silent" # 6: some are done
pass "clients of a store"

read -r first second third < <(free_ports 3)
"$bin/prism-rs" -c "$work/volume" create "127.0.0.1:$first" "127.0.0.1:$second" "127.0.0.1:$third" -b 8 >"$work/out"
for replica in 0 1 2; do
	start "$work/replica$replica" "$bin/prism-rs-server" -c "$work/volume" --replica $replica --new
done
for replica in 0 1 2; do
	wait_for 20 grep -q ' port ' "$work/replica$replica" || fail "replica $replica does not start" "$work/replica$replica"
done
python3 - "$work/volume" "$third" <<'END'
import sys
path, port = sys.argv[1:]
text = open(path).read()
last = text.rindex("127.0.0.1", 0, text.index(port))
open(path + ".named", "w").write(text[:last] + "third.name" + text[last + len("127.0.0.1"):])
END
rs=("$bin/prism-rs" -c "$work/volume.named" --timeout 5)
in_time 0 "put, two replicas of three" "${rs[@]}" put 1 hello
in_time 0 "get, two replicas of three" "${rs[@]}" get 1
in_time 3 "status" "${rs[@]}" status && grep -Fq "third.name:$third: cannot resolve" "$work/out" || fail "the state of the third" "$work/out"
pass "replicas that have an address do not wait for one that has a name"
finish
