# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2206 # used by the parts; words without spaces
# Sourced in the guest by main.sh: parts and their count, modules and RDMA links, networks, pairs of processes.
# Environment: RESULTS and MACHINE (run.sh), KIND: stock or prism, the driver under test, KO: rxe_prism.ko,
# PRISM_BUILD: the build tree, PARTS_ONLY: a regular expression, SHORT: anything, for kernels that are slow,
# SHARE: 1 or 2, what of the parts that two kernels share (README.md) this one runs; all of them if it is empty.

guest_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${RESULTS:?}" "${MACHINE:?}" "${KIND:=stock}" "${KO:=}" "${PRISM_BUILD:=}" "${PARTS_ONLY:=.}" "${SHORT:=}"
: "${SHARE:=}" "${TIME_FACTOR:=1}" # debug kernels are slower
logs=$RESULTS/$MACHINE/parts
mkdir -p "$logs"
port=18600

# Parts --------------------------------------------------------------------------------------------------------------

parts_ok=0 parts_failed=0 parts_skipped=0

# skip TEXT, fail TEXT: end a part that cannot run or must not go on
skip() {
	echo "skip: $*"
	exit 77
}

fail() {
	echo "FAIL: $*"
	exit 1
}

# check TEXT COMMAND...
check() {
	local text=$1
	shift
	"$@" || fail "$text"
}

# tell_hang NAME: writes the waiting processes to the kernel's log
tell_hang() {
	echo "part $1 is out of time" >/dev/kmsg
	echo w >/proc/sysrq-trigger
	echo l >/proc/sysrq-trigger
}

# pause SECONDS: without a process, as an emulated machine starts ten a second at most. Nothing is written to this pipe.
mkfifo /tmp/silent && exec {silent}<>/tmp/silent
pause() { read -rt "$1" -u "$silent" _ || true; }

# runs PID: without relying on bash, which now and then leaves its dead children to an explicit wait
runs() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null && [[ ${stat##*) } != [ZX]* ]]
}

# limited SECONDS NAME LOG COMMAND...: runs it in a process group of its own, of which nothing is left afterwards
limited() {
	local seconds=$1 name=$2 log=$3 group status=0 deadline
	shift 3
	set -m
	(
		set +m
		"$@"
	) >"$log" 2>&1 </dev/null &
	group=$!
	set +m
	deadline=$((SECONDS + seconds))
	while runs $group && [ $SECONDS -lt $deadline ]; do
		pause 0.1
	done
	if runs $group; then
		tell_hang "$name"
		echo "out of time: $seconds s" >>"$log"
		ps --ppid 2 -p 2 --deselect -o pid,ppid,pgid,stat,wchan:24,args >>"$log"
		kill -9 -- -$group 2>/dev/null
		wait $group 2>/dev/null
		return 124
	fi
	wait $group || status=$?
	kill -9 -- -$group 2>/dev/null
	return $status
}

# part NAME COMMAND...: runs a part and prints its line. PART_SECONDS is its time limit.
part() {
	local name=$1 begin=$SECONDS status=0 word
	shift
	[[ $name =~ $PARTS_ONLY ]] || return 0
	local log=$logs/${name//[^A-Za-z0-9_.-]/_}.log
	echo "part $name" >/dev/kmsg
	limited $((${PART_SECONDS:-60} * TIME_FACTOR)) "$name" "$log" "$@" || status=$?
	case $status in
	0) word=ok parts_ok=$((parts_ok + 1)) ;;
	77) word=skip parts_skipped=$((parts_skipped + 1)) ;;
	*) word=FAIL parts_failed=$((parts_failed + 1)) ;;
	esac
	printf '%-4s %s (%d s)%s\n' $word "$name" $((SECONDS - begin)) \
		"$([ $status -ne 77 ] || sed -n 's/^skip: /: /p' "$log" | tail -n 1)" | tee -a "$RESULTS/$MACHINE/summary"
	[ $word != FAIL ] || tail -n 30 "$log" | sed 's/^/     | /'
}

# thorough_part NAME COMMAND...: skipped on slow kernels
thorough_part() {
	[ -n "$SHORT" ] || part "$@"
}

# share NUMBER COMMAND...: skipped if another kernel runs this share
share() {
	[ -z "$SHARE" ] || [ "$SHARE" = "$1" ] || return 0
	shift
	"$@"
}

# count N: prints a number of iterations, a quarter of N on slow kernels
count() {
	local divisor=1
	[ -z "$SHORT" ] || divisor=4
	echo $(($1 / divisor))
}

# finish_parts: prints the count and returns the exit status of main.sh
finish_parts() {
	printf 'parts: %d ok, %d failed, %d skipped\n' $parts_ok $parts_failed $parts_skipped |
		tee -a "$RESULTS/$MACHINE/summary"
	[ $parts_failed -eq 0 ]
}

# wait_for SECONDS COMMAND...: waits until the command succeeds
wait_for() {
	local deadline=$((SECONDS + $1 * TIME_FACTOR))
	shift
	while ! "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		pause 0.1
	done
}

ended() { ! runs "$1"; }

# Modules and RDMA links ---------------------------------------------------------------------------------------------

modprobe_some() {
	modprobe -qa "$@" || true # built in, or not of this kernel: a part that needs it will tell
}

# load_module KIND [PARAMETER...]
load_module() {
	local kind=$1 depends
	shift
	modprobe_some ib_uverbs rdma_ucm ib_umad crc32_generic crc32_pclmul
	case $kind in
	stock) modprobe rdma_rxe "$@" ;;
	prism)
		depends=$(modinfo -F depends "$KO")
		# shellcheck disable=SC2086 # a list
		modprobe_some ${depends//,/ }
		insmod "$KO" "$@"
		;;
	esac
}

module_name() {
	case $1 in
	stock) echo rdma_rxe ;;
	prism) echo rxe_prism ;;
	esac
}

loaded() { [ -d "/sys/module/$(module_name "$1")" ]; }

unload_module() { rmmod "$(module_name "$1")"; }

need_module() {
	[ "$1" != prism ] || [ -f "$KO" ] || skip "KO names no module"
	loaded "$1" || load_module "$1" || fail "the module does not load"
}

# link_type KIND: prints the type that `rdma link add` knows
link_type() {
	case $1 in
	stock) echo rxe ;;
	prism) echo prism ;;
	esac
}

port_active() { grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state" 2>/dev/null; }

# link_add DEVICE KIND INTERFACE: adds a link and waits until it has the interface's addresses
link_add() {
	local address
	rdma link add "$1" type "$(link_type "$2")" netdev "$3" || return 1
	wait_for 5 port_active "$1" || return 1
	for address in $(ip -o addr show dev "$3" | awk '{ sub(/\/.*/, "", $4); print $4 }'); do
		wait_for 5 gid_index "$1" "$address" >/dev/null || return 1
	done
}

link_exists() { [ -d "/sys/class/infiniband/$1" ]; }

# link_delete DEVICE
link_delete() { rdma link delete "$1"; }

# gid_text ADDRESS: prints the GID of an IPv4 or IPv6 address as sysfs writes it
gid_text() {
	local head tail group text=''
	if [[ $1 != *:* ]]; then
		# shellcheck disable=SC2046,SC2086 # four numbers
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' ${1//./ }
		return
	fi
	head=${1%%::*} tail=''
	[[ $1 != *::* ]] || tail=${1#*::}
	local heads=(${head//:/ }) tails=(${tail//:/ })
	while [ $((${#heads[@]} + ${#tails[@]})) -lt 8 ]; do
		heads+=(0)
	done
	for group in "${heads[@]}" "${tails[@]}"; do
		text+=$(printf ':%04x' "0x$group")
	done
	echo "${text#:}"
}

# gid_index DEVICE ADDRESS. No GID of these tests is beyond the first 32.
gid_index() {
	local index text gid
	text=$(gid_text "$2")
	for ((index = 0; index < 32; index++)); do
		read -r gid 2>/dev/null <"/sys/class/infiniband/$1/ports/1/gids/$index" || continue
		[ "$gid" = "$text" ] || continue
		echo $index
		return 0
	done
	return 1
}

# counter DEVICE NAME
counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# Uses our provider from the build tree, in a place that libibverbs searches. The guest's /etc is its own. Removes
# providers of devices that are not present: every program loads them all before it finds ours, which is half of its
# start-up time.
use_provider() {
	local folder=/tmp/prism-provider file
	for file in /etc/libibverbs.d/*.driver; do
		[[ $file == */rxe.driver ]] || rm -f "$file"
	done
	[ -n "$PRISM_BUILD" ] || return 0
	mkdir -p $folder
	ln -sfn "$PRISM_BUILD"/lib/libprism-rdmav*.so $folder/
	echo "driver $folder/libprism" >/etc/libibverbs.d/prism.driver
}

# Networks -----------------------------------------------------------------------------------------------------------

quiet_ipv6() {
	sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 \
		net.ipv6.conf.default.router_solicitations=0
}

# An emulated machine starts ten processes a second at most, a debug kernel two: so one process for many commands of
# ip(8).

# dummy_link INTERFACE NUMBER: 10.9.NUMBER.1 and fd00:9:NUMBER::1
dummy_link() {
	modprobe_some dummy
	[ ! -d "/sys/class/net/$1" ] || return 0
	ip -batch - <<-END
		link add $1 type dummy
		link set $1 mtu 1500 up
		addr add 10.9.$2.1/24 dev $1
		addr add fd00:9:$2::1/64 dev $1 nodad
	END
}

# crossing_pair A B: makes a veth pair with both ends here, whose traffic really crosses it: 10.8.0.1 and fd00:8::1 on
# A, 10.8.0.2 and fd00:8::2 on B. Local addresses are looked up last, and only for packets that arrive by the pair.
crossing_pair() {
	local a=$1 b=$2
	modprobe_some veth
	[ ! -d "/sys/class/net/$a" ] || return 0
	ip -batch - <<-END || return 1
		link add $a type veth peer name $b
		addr add 10.8.0.1/24 dev $a
		addr add fd00:8::1/64 dev $a nodad
		addr add 10.8.0.2/24 dev $b
		addr add fd00:8::2/64 dev $b nodad
		link set $a up
		link set $b up
	END
	sysctl -qw net.ipv4.conf.{all,"$a","$b"}.{accept_local=1,rp_filter=0}
	cross_rules -4 "$a" "$b" 10.8.0 32 . && cross_rules -6 "$a" "$b" fd00:8: 128 :
}

# cross_rules FAMILY A B PREFIX LENGTH SEPARATOR
cross_rules() {
	local family=$1 a=$2 b=$3 one=$4$6"1" two=$4$6"2" length=$5
	ip "$family" -batch - <<-END
		rule add pref 10 iif $a lookup local
		rule add pref 11 iif $b lookup local
		route add $two/$length dev $a src $one table 101
		route add $one/$length dev $b src $two table 101
		rule add pref 20 lookup 101
		rule add pref 30 lookup local
		rule del pref 0
		neigh replace $two lladdr $(<"/sys/class/net/$b/address") dev $a nud permanent
		neigh replace $one lladdr $(<"/sys/class/net/$a/address") dev $b nud permanent
	END
}

# namespace_pair A B NAMESPACE: a veth pair, B in a network namespace: 10.7.0.1 and fd00:7::1 here, .2 there
namespace_pair() {
	local a=$1 b=$2 name=$3
	modprobe_some veth
	[ ! -d "/sys/class/net/$a" ] || return 0
	ip netns add "$name" || return 1
	ip -batch - <<-END || return 1
		link add $a type veth peer name $b netns $name
		addr add 10.7.0.1/24 dev $a
		addr add fd00:7::1/64 dev $a nodad
		link set $a up
	END
	ip -n "$name" -batch - <<-END
		link set lo up
		addr add 10.7.0.2/24 dev $b
		addr add fd00:7::2/64 dev $b nodad
		link set $b up
	END
}

# netem INTERFACE ARGUMENT...: loss 2% duplicate 1% corrupt 1% delay 200us reorder 20%, and so on
netem() {
	local interface=$1
	shift
	modprobe_some sch_netem
	tc qdisc replace dev "$interface" root netem limit 10000 "$@"
}

netem_off() { tc qdisc del dev "$1" root; }

# Server and client --------------------------------------------------------------------------------------------------

# listening PORT PID: true if that process's network namespace has a TCP listener at the port. Starts no process, as
# pause().
listening() {
	local port sockets=()
	printf -v port %04X "$1"
	{ mapfile -t sockets <"/proc/$2/net/tcp" && mapfile -tO ${#sockets[@]} sockets <"/proc/$2/net/tcp6"; } 2>/dev/null
	[[ "${sockets[*]}" =~ :$port\ 0+:0000\ 0A ]]
}

# listening_by_cm PORT: true if librdmacm listens at the port on a device
listening_by_cm() { rdma resource show cm_id 2>/dev/null | grep -qE "LISTEN.*:$1( |$)"; }

# listening_or_ended PORT PID [PROGRAM]
listening_or_ended() {
	case ${3:-} in
	rping* | ucmatose) listening_by_cm "$1" || ended "$2" ;;
	*) listening "$1" "$2" || ended "$2" ;;
	esac
}

# Chooses a port for the next pair of processes. Parts run in shells of their own, so each begins elsewhere. None is of
# those that the guest's kernel gives to clients, which begin at 32768.
next_port() { port=$((18000 + (RANDOM % 14000))); }

one_ended() { ended "$1" || ended "$2"; }

# side_status SIDE PID PATIENCE PEER-STATUS: returns the exit status of a process whose peer has ended. If the peer
# failed, the process may wait for ever, and is killed. If the peer succeeded, it is killed after PATIENCE seconds (may
# be empty): then that is no failure.
side_status() {
	if [ "$4" -ne 0 ]; then
		kill "$2" 2>/dev/null
	elif [ -n "$3" ] && ! wait_for "$3" ended "$2"; then
		echo "the $1 goes on: ended" >&2
		kill "$2"
		wait "$2"
		return 0
	fi
	wait "$2"
}

# run_pair_of PORT SERVER... -- CLIENT...: both must end with 0. The client begins when the server listens on the port.
# SERVER_PATIENCE: seconds after a successful client when the server is killed, which is no failure. CLIENT_PATIENCE:
# the same with the sides exchanged; without it, the server is not checked before the client has ended.
run_pair_of() {
	local at=$1 server=() server_pid client_pid client_status=0 server_status=0 log
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	log=$(mktemp)
	echo "+ ${server[*]}"
	"${server[@]}" >"$log" 2>&1 &
	server_pid=$!
	wait_for 15 listening_or_ended "$at" $server_pid "${server[0]}" || true
	echo "+ $*"
	"$@" &
	client_pid=$!
	[ -z "${CLIENT_PATIENCE:-}" ] || wait_for 100000 one_ended $server_pid $client_pid
	if [ -n "${CLIENT_PATIENCE:-}" ] && ended $server_pid; then
		wait $server_pid || server_status=$?
		side_status client $client_pid "$CLIENT_PATIENCE" $server_status || client_status=$?
	else
		wait $client_pid || client_status=$?
		side_status server $server_pid "${SERVER_PATIENCE:-}" $client_status || server_status=$?
	fi
	sed 's/^/server: /' "$log"
	echo "client ended with $client_status, server with $server_status"
	[ $((client_status + server_status)) -eq 0 ]
}
