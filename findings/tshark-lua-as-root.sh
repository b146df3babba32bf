#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tshark of Debian 13 and later, run as root, leaves out a script that -X lua_script names, without a word.
#
# One would guess: the script is run, as with Debian 12, or tshark says that it is not.
# What happens: exit status 0, nothing on standard error but the usual line about root, and packets look as if there were
# no script. The same command as another user runs it. Scripts in the folder "Global Lua Plugins" (tshark -G folders) are
# run for root as well. People meet this in containers and in CI, where all is root.
# Source: Wireshark's Developer's Guide, "Lua Support": run_user_scripts_when_superuser. Debian 12's
# /etc/wireshark/init.lua sets it to true; since Wireshark 4.4 there is no such file.
# shellcheck source=findings/debian.sh
. "$(dirname "$0")/debian.sh"

# check VERSION STATUS: how a script's own exit status comes out as root
check() {
	local version=$1 as_root=0 as_user=0
	unpack "tshark=$version"
	echo 'os.exit(7)' >"$root/tmp/exits.lua"
	chmod -R a+rX "$folder"
	within tshark -G folders -X lua_script:/tmp/exits.lua >"$folder/out" 2>"$folder/said" || as_root=$?
	within_as_user tshark -G folders -X lua_script:/tmp/exits.lua >/dev/null 2>&1 || as_user=$?
	printf '\n%s: tshark %s: a script that ends it with status 7: %d as root, %d as another user\n' \
		"$suite" "$version" "$as_root" "$as_user"
	expect "$suite: another user's script is run" [ "$as_user" = 7 ]
	expect "$suite: root's is $([ "$2" = 7 ] || echo 'not ')run" [ "$as_root" = "$2" ]
	[ "$2" = 7 ] || expect "$suite: and nothing says so" says_nothing_of_lua
}

says_nothing_of_lua() { ! grep -qi 'lua\|script' "$folder/said"; }

use bookworm
check 4.0.17-0+deb12u3 7
use trixie
check 4.4.19-0+deb13u1 0
use forky
check 4.6.9-1+b1 0
finish
