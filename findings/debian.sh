# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Common part of the findings: packages of a Debian release, by an apt with a state of its own, unpacked below a
# temporary folder. Nothing of the machine changes, and the folder is deleted at the end. To be sourced.
set -euo pipefail
LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

die() {
	echo "$(basename "$0"): $*" >&2
	exit 2
}

# The mirror that the machine's apt uses. It may be another one: MIRROR=URL
mirror() {
	# shellcheck disable=SC2016 # apt's own names
	[ -n "${MIRROR:-}" ] || MIRROR=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') ||
		die "apt knows no Debian mirror: set MIRROR to the URL of one"
}

# use SUITE: what follows is about this release, below $folder/SUITE
use() {
	suite=$1 place=$folder/$1 root=$folder/$1/root
	[ -d "$place" ] || mirror
	export APT_CONFIG=$place/apt.conf
	[ ! -d "$place" ] || return 0
	mkdir -p "$place"/{state/lists/partial,cache/archives/partial,debs} "$root"/{usr/{bin,sbin,lib,lib64},tmp}
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
	: >"$place/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR $suite main" >"$place/sources.list"
	cat >"$APT_CONFIG" <<-END
		Dir::State "$place/state";
		Dir::State::status "$place/status";
		Dir::Cache "$place/cache";
		Dir::Etc::SourceList "$place/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
	END
	apt-get -qq --error-on=any update || die "cannot read the package lists of $suite at $MIRROR"
}

gone() {
	die "$MIRROR has no $* in $suite any more: this finding is about these versions"
}

# fetch PACKAGE=VERSION...: the packages alone, into $place/debs
fetch() {
	(cd "$place/debs" && apt-get -qq download "$@") || gone "$@"
}

# unpack PACKAGE=VERSION...: with all that they depend on, into $root
unpack() {
	local deb
	apt-get -qq --no-install-recommends --download-only -y install "$@" >/dev/null || gone "$@"
	for deb in "$place"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
}

# within COMMAND...: in $root, as root of it
within() {
	if [ "$(id -u)" -eq 0 ]; then chroot "$root" "$@"; else unshare --map-root-user chroot "$root" "$@"; fi
}

# within_as_user COMMAND...: in $root, as somebody else
within_as_user() {
	if [ "$(id -u)" -eq 0 ]; then
		chroot --userspec=65534:65534 "$root" "$@"
	else
		unshare --map-user=65534 --map-group=65534 --keep-caps chroot "$root" "$@"
	fi
}

# scapy_script FILE: what stands at its input makes packets of RoCEv2, whose ICRCs scapy computes. They become FILE.
scapy_script() {
	{
		cat <<-END
			from scapy.contrib.roce import BTH, cnp
			from scapy.layers.inet import IP, UDP
			from scapy.packet import Raw
			from scapy.utils import wrpcap
			front = IP(src="192.0.2.1", dst="192.0.2.2", id=0, flags="DF") / UDP(sport=49152, dport=4791)
		END
		cat
		echo "wrpcap('$1', packets)"
	} >"$root/tmp/packets.py"
	within python3 /tmp/packets.py 2>"$folder/scapy.log" || die "scapy made no packets: $(tail -n 1 "$folder/scapy.log")"
}

failures=0

# expect TEXT COMMAND...: that the command succeeds is what the finding says
expect() {
	local text=$1
	shift
	if "$@"; then
		echo "as found: $text"
	else
		echo "CHANGED: $text" >&2
		failures=$((failures + 1))
	fi
}

finish() {
	[ "$failures" -eq 0 ] || exit 1
}
