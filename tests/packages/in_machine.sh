#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Part of install.sh that runs on the bare machine, as root.
set -euo pipefail
export LC_ALL=C.UTF-8
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

pass() { echo "ok: $*"; }

# shellcheck source=tests/packages/apt.sh
. /apt.sh

# Lists all files, checksums of those in /etc, users and groups; but not files that every installation changes, such as
# the copies that adduser and apt keep
list_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /packages -o -path /root \
		-o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune -o \
		-not -path '/etc/g*shadow-' -not -path '/etc/g*roup-' -not -path '/etc/passwd-' -print | sort
	find /etc -type f -not -name ld.so.cache -not -name '*-' -not -name '*shadow' -not -name group -exec cksum {} + | sort -k3
	grep -Ev '^(rdma|input|sgx|kvm|render):' /etc/group # libibverbs1 leaves the first, udev the others
}

# Prefix that runs a command as an unprivileged user
as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp)

# expect NAME PATTERN COMMAND...: expects that it succeeds and prints that, if there is a pattern
expect() {
	local name=$1 pattern=$2
	shift 2
	if timeout 60 "$@" >/tmp/out 2>&1 && { [ -z "$pattern" ] || grep -Eq -- "$pattern" /tmp/out; }; then
		pass "$name"
	else
		sed 's/^/    /' /tmp/out | tail -n 15
		fail "$name"
	fi
}

wait_for() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

listening() { grep -qi ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; }

# Checks programs that the autopkgtests (autopkgtest.sh) leave out
programs_work() {
	timeout 120 "${as_user[@]}" prism-kv-server --records 1000 -p 19820 >/tmp/server 2>&1 &
	local server=$!
	wait_for listening 19820 || fail "prism-kv-server does not listen"
	expect "prism-kv put" '' "${as_user[@]}" prism-kv -s 127.0.0.1:19820 put greeting "hello world"
	expect "kv_figures" 'GET, one client' "${as_user[@]}" kv_figures --table --systems prism,pilaf --mixes C --clients 1 --rounds 1 -D 0.1
	kill $server
	expect "nbdkit plugin" 'prism-rs|configuration' nbdkit prism-rs --help
	expect "wireshark-prism" prism_rdma tshark -G protocols
	expect "manual pages" '^prism-run.1' ls /usr/share/man/man1
	expect "manual pages of the library" '^prismdv.7' ls /usr/share/man/man7
}

# offered NAME WANTED COMMAND...: expects that it prints these words, each on a line, perhaps with an explanation behind
# a tab
offered() {
	local name=$1 wanted=$2
	shift 2
	"$@" >/tmp/out 2>&1 || true
	if [ "$(cut -f1 /tmp/out | sort -u | tr '\n' ' ')" = "$wanted " ]; then pass "$name"; else
		cat /tmp/out
		fail "$name"
	fi
}

# Finds completions by name, as bash-completion does. The last word is incomplete.
in_bash() {
	# shellcheck disable=SC2016 # the inner shell's
	timeout 60 bash -c '. /usr/share/bash-completion/bash_completion
		_completion_loader "$1"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		"$(complete -p "$1" | sed "s/.* -F \([^ ]*\) .*/\1/")" "$1" 2>/dev/null # it reports no completion
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

# in_zsh LINE END: expects that zsh appends END when LINE is typed and then a tab
in_zsh() {
	if timeout 60 zsh -f -s "$@" >/tmp/out 2>&1 <<-'END'; then pass "zsh: $1"; else
		setopt extended_glob
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell 'autoload -U compinit && compinit -u -D; PS1=; echo rea\dy'
		zpty -r -m shell line '*ready*'
		zpty -w -n shell "$1"$'\t'
		for ((i = 0; i < 100; i++)); do
			sleep 0.1
			zpty -r -t shell line && seen+=$line
			[[ ${seen//($'\e'\[[0-9;?]#[a-zA-Z]|$'\a')/} != *"$1$2"* ]] || exit 0
		done
		print -r -- "${(V)seen}"
		exit 1
	END
		cat /tmp/out
		fail "zsh: $1, and then $2"
	fi
}

shells_complete() {
	local sub='add forget free malloc read rlock stat wlock write'
	offered "bash: subcommands" "$sub" in_bash prism-gam -d eth0 ''
	offered "bash: options of a subcommand" --on in_bash prism-gam malloc --o
	offered "bash: words that a value is one of" 'directory latch' in_bash prism-gam --protocol = ''
	offered "bash: a script's options" --table in_bash kv_figures --ta
	offered "bash: the program that prism-run runs" ibv_devinfo in_bash prism-run -d prism_lo ibv_devin
	offered "bash: that program's own options" --protocol in_bash prism-run prism-gam --prot
	offered "fish: subcommands" "$sub" timeout 60 fish -c 'complete -C "prism-gam -d eth0 "'
	offered "fish: options of a subcommand" --on timeout 60 fish -c 'complete -C "prism-gam malloc --o"'
	offered "fish: words that a value is one of" 'directory latch' timeout 60 fish -c 'complete -C "prism-gam --protocol "'
	offered "fish: the program that prism-run runs" ibv_devinfo timeout 60 fish -c 'complete -C "prism-run -d prism_lo ibv_devin"'
	in_zsh 'prism-gam mal' 'loc '
	in_zsh 'prism-gam malloc --o' 'n='
	in_zsh 'prism-gam --protocol=d' 'irectory'
	in_zsh 'prism-tx 127.0.0.1 stat' 'us'
	in_zsh 'prism-tx 127.0.0.1 status --j' 'son'
	in_zsh 'prism-run -d prism_lo ibv_devin' 'fo '
}

# Sets up units as docs/operations.md tells an administrator, and checks them with systemd
use_units() {
	local state
	cp /usr/share/prism/examples/kv-example.toml /etc/prism/kv-cache.toml
	echo secret >/etc/prism/tx-one.secret
	echo PRISM_DEVICES=lo >/etc/default/prism
	ln -s /usr/lib/systemd/system/prism-kv@.service /etc/systemd/system/multi-user.target.wants/prism-kv@cache.service
	for state in prism-gam prism-rs; do
		mkdir -p "/var/lib/private/$state/one"
		echo record >"/var/lib/private/$state/one/record"
		ln -s "private/$state" "/var/lib/$state"
	done
}

# removed NAME...: expects that the instances of units are stopped, and that the files of their administrator stay until
# a purge
removed() {
	mkdir -p /run/systemd/system
	printf '#!/bin/sh\necho "$@" >>/run/systemctl.log\n' >/usr/bin/systemctl
	chmod +x /usr/bin/systemctl
	apt_quietly remove "$@"
	rm -r /usr/bin/systemctl /run/systemd
	expect "instances are stopped" '^stop prism-kv@\*\.service$' cat /run/systemctl.log
	expect "configurations are left" '' ls /etc/prism/kv-cache.toml /etc/default/prism /var/lib/prism-rs/one/record
	dpkg --purge "$@" >/tmp/purge.log 2>&1 || { cat /tmp/purge.log; fail "purge"; } # apt forgot them
}

apt-get update -qq
mkdir -p /var/lib/private /etc/systemd/system/multi-user.target.wants # systemd has these on machines that are less bare
list_files >/tmp/before
mapfile -t packages < <(printf '%s\n' /packages/*.deb | grep -v /rxe-prism-dkms_)
mapfile -t runtime < <(printf '%s\n' "${packages[@]}" | grep -v /libprism-dev_)
others=(bash-completion fish ibverbs-utils nbdkit tshark zsh)
apt_quietly install "${runtime[@]}" "${others[@]}"
if command -v gcc cc >/dev/null; then fail "the packages have brought a compiler"; else pass "no compiler"; fi
apt_quietly install "${packages[@]}"
programs_work
shells_complete
use_units
mapfile -t names < <(printf '%s\n' "${packages[@]##*/}" | sed 's/_.*//')
removed "${names[@]}"
apt_quietly purge "${others[@]}"
apt_quietly -o APT::AutoRemove::RecommendsImportant=false -o APT::AutoRemove::SuggestsImportant=false autoremove --purge
list_files >/tmp/after
if diff /tmp/before /tmp/after >/tmp/left; then
	pass "nothing is left after removal"
else
	cat /tmp/left
	fail "files are left, missing, or changed after removal"
fi
[ $failures -eq 0 ] || { echo "$failures checks failed"; exit 1; }
echo "all checks passed"
