#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Leaves out tests whose inputs have not changed since they passed: virtual machines, packages.

unchanged.py run GROUP/MEMBER [--package NAME]... INPUT... -- COMMAND [ARGUMENT...]
    Runs COMMAND, unless tests/passed says that all tests of GROUP have passed on the same inputs. What a test makes, others
    of its group need, so they run together or not at all. A test that passes is noted in PRISM_BUILD/passed.
    INPUT: a file or folder of the project, or a pattern of git's; --package: a Debian package whose version matters.
    PRISM_ALL: anything, to run it always.
unchanged.py record BUILD
    Writes groups of which all tests have passed, by BUILD/passed, into tests/passed, which is committed.
unchanged.py rest BUILD OPTIONS [again]
    Writes BUILD/rest, for ctest -I: the tests that have not passed in BUILD on these very files, with these packages and
    OPTIONS. BUILD/tested says which have passed; so does BUILD/ctest.log, which has what the caller's ctest printed since.
    Prints how many have passed. again: none counts as passed.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests/passed"
HEADER = """# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Recorded by tests/unchanged.py: a group of tests, the hash of the inputs on which all of them have passed.
"""


PASSED = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.* +Passed +[\d.]+ sec", re.M)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def hash_of(inputs, packages):
    """The hash of the names and bytes of all files that git does not ignore, and of versions; None without git."""
    digest = hashlib.sha256()
    try:
        names = output("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *inputs)
    except (OSError, subprocess.CalledProcessError):
        return None  # no checkout of git's: nothing is known to be unchanged
    for name in sorted(set(names.split(b"\0")) - {b""}):
        path = ROOT / os.fsdecode(name)
        if path.is_file():
            digest.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    if not names:
        sys.exit(f"unchanged.py: no input among {' '.join(inputs)}")
    for package in packages:
        digest.update(output("dpkg-query", "--show", package))
    return digest.hexdigest()


def listed(build):
    """The tests of a build, in ctest's order."""
    return json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]


def recorded():
    if not RECORD.exists():
        return {}
    lines = [line.split() for line in RECORD.read_text().splitlines() if not line.startswith("#")]
    return {group: digest for group, digest in lines}


def parse(arguments):
    """GROUP/MEMBER, inputs, packages and command of `run`."""
    end = arguments.index("--")
    words, command = arguments[1:end], arguments[end + 1 :]
    packages = [name for option, name in zip(words, words[1:]) if option == "--package"]
    inputs = [word for word in words if word != "--package" and word not in packages]
    return arguments[0], inputs, packages, command


def run(arguments):
    name, inputs, packages, command = parse(arguments)
    digest = hash_of(inputs, packages)
    if digest and not os.environ.get("PRISM_ALL") and recorded().get(name.split("/")[0]) == digest:
        print(f"unchanged: {name} has passed on the same inputs (tests/passed); ./check.sh --all runs it again")
        return 0
    note = pathlib.Path(os.environ["PRISM_BUILD"]) / "passed" / name
    note.unlink(missing_ok=True)
    status = subprocess.run(command).returncode
    if status == 0 and digest:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(digest)
    return status if status >= 0 else 128 - status


def record(build):
    groups = {}
    for words in (test.get("command", ()) for test in listed(build)):
        if len(words) > 2 and pathlib.Path(words[0]).name == "unchanged.py":
            group, member = words[2].split("/")
            note = pathlib.Path(build) / "passed" / group / member
            groups.setdefault(group, []).append(note.read_text() if note.exists() else None)
    known = recorded()
    for group, digests in groups.items():
        if None not in digests and len(set(digests)) == 1:
            known[group] = digests[0]
    RECORD.write_text(HEADER + "".join(f"{group} {known[group]}\n" for group in sorted(known)))
    return 0


def rest(build, options, again=""):
    folder = pathlib.Path(build)
    tested, log = folder / "tested", folder / "ctest.log"
    files = hash_of(["."], ())
    digest = hashlib.sha256(f"{files} {options}\n".encode() + output("dpkg-query", "--show")).hexdigest()
    known = tested.read_text().split() if files and tested.exists() and not again else []
    passed = set()
    if known[:1] == [digest]:
        passed = set(known[1:]) | set(PASSED.findall(log.read_text(errors="replace") if log.exists() else ""))
    log.unlink(missing_ok=True)
    tested.write_text("\n".join([digest, *sorted(passed)]) + "\n")
    left = [number for number, test in enumerate(listed(build), 1) if test["name"] not in passed]
    (folder / "rest").write_text("0,0,0," + ",".join(map(str, left)) + "\n" if left else "")
    print(len(passed))
    return 0


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "run" and "--" in sys.argv:
        return run(sys.argv[2:])
    if len(sys.argv) == 3 and sys.argv[1] == "record":
        return record(sys.argv[2])
    if len(sys.argv) in (4, 5) and sys.argv[1] == "rest":
        return rest(*sys.argv[2:])
    sys.exit(__doc__)


sys.exit(main())
