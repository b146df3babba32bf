#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs the commands that a page tells its reader to type, all of one page in one shell, as somebody pastes them: without
a pause after what goes on in the background.

The reader's host is made for each page: namespaces of its own (network, mounts, processes), an interface eth0 beside
lo, names for the hosts that pages speak of, and an empty folder to work in, where build/ and the source tree's files are.
The build tree's programs are in the path for manual pages, whose readers have installed them, but not for other pages.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.realpath(os.path.join(HERE, os.pardir, os.pardir))
sys.path.insert(0, HERE)

from pages import PLACES, PageError, read_page  # noqa: E402

# Names of hosts in pages. All are this one.
HOSTS = ("one", "two", "three", "hub", "HOST")
# Programs of others that pages tell readers to type
FOREIGN = ("apt", "apt-get", "cmake", "ctest", "dpkg-buildpackage", "git", "insmod", "mckey", "modprobe", "mpicc", "mpirun")
FOREIGN += ("nbdkit", "ninja", "pkg-config", "rdma", "tshark", "ucmatose", "ucx_info", "ucx_perftest", "fi_pingpong")

SPACES = ("unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")

PROLOGUE = r"""
set -euo pipefail
trap 'echo "FAILED ($?): line $((LINENO)): $BASH_COMMAND" >&2' ERR
# Wherever it stands: behind "||", in a substitution, in the background
command_not_found_handle() { echo "FAILED (127): no such program: $1" >&2; echo "$1" >>"$PAGE_FAILURES"; return 127; }
# Programs in the background that have ended by themselves must have succeeded; 137 and 143 are of the page's own kill.
background=()
judge_background() {
    local pid status
    for pid in "${background[@]}"; do
        kill -0 "$pid" 2>/dev/null && continue
        status=0
        wait "$pid" || status=$?
        case $status in
        0 | 137 | 143) ;;
        *) echo "FAILED ($status): in the background" >&2; echo "$status" >>"$PAGE_FAILURES" ;;
        esac
    done
}
"""


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def script_of(blocks):
    """Returns one bash script; each block's output between marks of its own."""
    lines = [PROLOGUE]
    for number, block in enumerate(blocks):
        lines.append(f"printf '\\n##block {number}\\n'")  # the output before may have no line end
        for command in block.first:
            lines.append(command)
        for line in block.joined():
            if re.search(r"&\s*(#.*)?$", line) and not re.search(r"&&\s*(#.*)?$", line):
                lines.append(line)
                lines.append("background+=($!)")
            elif line.strip() == "wait":  # it would forget how the programs have ended
                lines.append('for pid in "${background[@]}"; do wait "$pid"; done; background=()')
            else:
                lines.append(line)
    lines.append("sleep 0.3; judge_background")  # the last job may not have failed yet
    lines.append("printf '\\n##end\\n'")
    return "\n".join(lines) + "\n"


def make_host(folder, build):
    """Makes the reader's host; returns a script that runs the page's shell inside of its namespaces."""
    work = os.path.join(folder, "work")
    os.mkdir(work)
    for name in os.listdir(SOURCE):
        if not name.startswith((".git", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(work, name))
    os.symlink(build, os.path.join(work, "build"))
    hosts = os.path.join(folder, "hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {name}\n" for name in HOSTS))
    enter = os.path.join(folder, "enter")
    with open(enter, "w", encoding="ascii") as file:
        file.write(
            "set -e\n"
            f"mount --bind {quote(hosts)} /etc/hosts\n"
            "ip link set lo up\n"
            "ip link add eth0 type veth peer name eth0-peer\n"
            "ip link set eth0 addrgenmode none\nip link set eth0-peer addrgenmode none\n"  # new addresses are tentative
            "ip address add 192.0.2.2/24 dev eth0\n"
            "ip link set eth0 up\nip link set eth0-peer up\n"
            f"cd {quote(work)}\n"
            f"exec bash {quote(os.path.join(folder, 'script'))}\n"
        )
    return enter


def path_for(block, build):
    """Returns the search path of the page's reader."""
    installed = block.where == "guest" or not block.page.endswith(".md")
    return f"{build}/bin:" * installed + f"/usr/local/sbin:/usr/sbin:/sbin:{os.environ['PATH']}"


def run_blocks(blocks, build, seconds, here):
    """Runs the blocks in a host made for the page, or in this one. Returns the exit status and the output."""
    folder = tempfile.mkdtemp(prefix="prism-page.")
    try:
        script = os.path.join(folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(script_of(blocks))
        host = ["bash", script] if here else [*SPACES, "bash", make_host(folder, build)]
        failures = os.path.join(folder, "failures")
        environment = dict(os.environ, PRISM_BUILD=build, PRISM_SOURCE=SOURCE, PAGE_FAILURES=failures)
        environment["PATH"] = path_for(blocks[0], build)
        command = ["timeout", "-k", "5", str(seconds), *host]
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        output = done.stdout.decode(errors="replace")
        if os.path.exists(failures) and "FAILED (" not in output:
            output += "\nFAILED (127): a program that is not there\n"  # its message is not in the output
        return done.returncode, output
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def complaints(blocks, status, output):
    """Yields the differences from the page."""
    parts = re.split(r"^##block \d+$|^##end$", output, flags=re.M)
    if status == 124:
        yield "out of time"
    elif re.search(r"^FAILED \(", output, flags=re.M):
        yield "a command failed"
    elif status or "##end" not in output:
        yield f"ended with {status}"
    for block, part in zip(blocks, parts[1:]):
        for pattern in block.prints:
            if not re.search(pattern, part, flags=re.M):
                yield f"{block.page}:{block.line}: the output has no '{pattern}'"


def say(text):
    print(text, flush=True)


def tell(blocks):
    for block in blocks:
        for command in block.commands():
            if block.shown:
                say(f"shown   {block.page}:{block.line}: {command}   ({block.shown})")
            else:
                say(f"{block.where:<8}{block.page}:{block.line}: {command}")


def why_no_host():
    """Returns why this user may not make a host for readers; empty if it may."""
    done = subprocess.run([*SPACES, "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip() if done.returncode else ""


def own_programs(build):
    try:
        return set(os.listdir(os.path.join(build, "bin"))) | {"prism-run"}
    except OSError:
        return set()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", help="below the source tree")
    parser.add_argument("--where", choices=PLACES, default="tree", help="the blocks that are run (default %(default)s)")
    parser.add_argument("--here", action="store_true", help="run them in this host, not in one made for the page")
    parser.add_argument("--script", action="store_true", help="print them as a bash script, instead of running them")
    parser.add_argument("--list", action="store_true", help="print all commands, and where they are run; run none")
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"), help="(default: build/)")
    parser.add_argument("--seconds", type=int, default=240, help="of a page (default %(default)s)")
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    if not options.list and not options.script and not options.here and (why := why_no_host()):
        say(f"SKIP: no namespaces for this user: {why}")
        return 77
    programs = own_programs(build) | set(FOREIGN)
    failed = False
    for page in options.pages:
        blocks = read_page(os.path.join(SOURCE, page), page, programs)
        chosen = [block for block in blocks if not block.shown and block.where == options.where]
        if options.list:
            tell(blocks)
            continue
        if options.script:
            print(script_of(chosen), end="")
            continue
        tell(blocks)
        if not chosen:
            continue
        status, output = run_blocks(chosen, build, options.seconds, options.here)
        found = list(complaints(chosen, status, output))
        if found:
            failed = True
            say(output)
            for complaint in found:
                say(f"FAIL: {page}: {complaint}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PageError as error:
        sys.exit(f"FAIL: {error}")
