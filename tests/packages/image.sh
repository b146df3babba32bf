#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The image that examples/containers/Containerfile makes of the packages, on a bare machine in place of its base image;
# and in it, the commands of the job for Jenkins.
# usage: image.sh MACHINES PACKAGES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The RUN of the last stage, without the builder's own options
sed -n '/^FROM debian:bookworm-slim$/,$p' "$source/examples/containers/Containerfile" |
	sed -n '/^RUN /,/[^\\]$/p' | sed -E 's/^RUN( --[^ ]+)*//' >"$work/run"
grep -q 'apt-get install' "$work/run" || { echo "FAIL: the Containerfile's last stage installs nothing"; exit 1; }
sed -n "/sh '''$/,/^ *'''$/p" "$source/examples/containers/Jenkinsfile" | sed '1d;$d' >"$work/job"
cat >"$work/use" <<'END'
set -euo pipefail
sh -e /run.sh >/tmp/log 2>&1 || { tail -n 20 /tmp/log; echo "FAIL: the Containerfile's last RUN"; exit 1; }
for program in g++ gcc make; do
	! command -v $program || { echo "FAIL: an image with $program is not small"; exit 1; }
done
setpriv --reuid=1000 --regid=1000 --clear-groups sh -ec '
	. /job
	prism-kv --version
	python3 -c "import pyprism.kv"'
END
"$here/../machine/machine.sh" run bookworm "$1" --put "$2=/packages" --put "$work/run=/run.sh" --put "$work/job=/job" \
	--put "$work/use=/use" -- bash /use
