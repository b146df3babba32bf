#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Searches a guest's log for reports of kernel errors.
set -euo pipefail

usage() {
	cat <<-END
	usage: scan_log.sh [--allow REGEX]... [--kcsan-in REGEX] LOG
	  --allow     a report whose title matches is not counted
	  --kcsan-in  data races count only if a line of the report matches: the rest of the kernel has its own
	exit status: 0 nothing found, 1 reports found (they are printed), 2 the log is not one
	END
}

allow='' kcsan_in=''
while [ $# -gt 0 ]; do
	case $1 in
	--allow) allow=${allow:+$allow|}$2; shift 2 ;;
	--kcsan-in) kcsan_in=$2; shift 2 ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
done
if [ $# -ne 1 ] || [ ! -r "$1" ]; then
	usage >&2
	exit 2
fi

# Beginnings of the reports. "WARNING: " alone is also printed by programs, so only lines with a kernel's time stamp
# count.
titles=(
	'BUG: ' 'BUG [^ ]+ .*\): ' 'kernel BUG at' 'WARNING: ' 'KASAN: ' 'KCSAN: ' 'KFENCE: ' 'UBSAN: '
	'possible circular' 'possible recursive' 'inconsistent lock state' 'lock ordering' 'suspicious RCU usage'
	'bad unlock balance' 'non-static key' 'DEBUG_LOCKS_WARN_ON' 'sleeping function' 'scheduling while atomic'
	'INFO: task .* blocked for more than' 'INFO: rcu' 'rcu: INFO' 'soft lockup' 'LOCKUP'
	'Oops' 'general protection' 'unable to handle' 'Unable to handle' 'Kernel panic' 'Bad page' 'Bad rss'
	'refcount_t' 'ODEBUG: ' 'list_(add|del) corruption' 'kmemleak: [1-9][0-9]* new' 'unregister_netdevice: waiting'
	'stack-protector' 'page allocation failure' 'waiting for .* to become free' 'nobody cared'
)
pattern=$(IFS='|'; echo "${titles[*]}")

# The log has the console and all kernel messages, most lines twice: the time stamp identifies duplicates.
awk -v pattern="$pattern" -v allow="$allow" -v kcsan_in="$kcsan_in" '
	function races_here(i,    j) {
		for (j = i; j <= lines && line[j] !~ /==========/; j++)
			if (line[j] ~ kcsan_in)
				return 1
		return 0
	}
	match($0, /\[ *[0-9]+\.[0-9]+\] /) {
		text = substr($0, RSTART)
		# The rulers of a report are alike, and may have the same time.
		if (!seen[text]++ || text ~ /==========/)
			line[++lines] = text
	}
	END {
		for (i = 1; i <= lines; i++) {
			title = line[i]
			sub(/^\[[^]]*\] (\[ *[TC][0-9]+\] )?/, "", title)
			if (title !~ pattern)
				continue
			if (allow != "" && title ~ allow) {
				allowed++
				continue
			}
			if (kcsan_in != "" && title ~ /KCSAN: / && !races_here(i)) {
				elsewhere++
				continue
			}
			reports++
			# A repeated report of one place adds nothing, and a loop may print it a thousand times.
			if (times[title]++)
				continue
			found[++kinds] = title
			for (j = i > 2 ? i - 2 : 1; j <= i + 50 && j <= lines; j++)
				shown[j] = 1
		}
		if (lines == 0) {
			print "no kernel messages in this log"
			exit 2
		}
		for (i = 1; i <= lines; i++) {
			if (shown[i])
				print "    " line[i]
			else if (shown[i - 1])
				print "    --"
		}
		for (i = 1; i <= kinds; i++)
			print "report: " found[i] " (" times[found[i]] " times)"
		printf "scan: %d kernel messages, %d reports", lines, reports
		if (allowed)
			printf ", %d allowed ones", allowed
		if (elsewhere)
			printf ", %d data races elsewhere in the kernel not counted", elsewhere
		print ""
		exit reports ? 1 : 0
	}' "$1"
