#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Switches the rules of the protocol off one by one, in a copy of the source tree, and tells which test notices.

Each entry of mutants.py (a mutant) names a rule of docs/wire-protocol.md or docs/semantics.md, the text that implements
it and a text that does not. A mutant is applied, what the tests need is built, and the tests run, the fastest first,
until one fails: that one has caught it. A mutant that no test catches has survived: a rule without a test.
"""

import argparse
import dataclasses
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.realpath(os.path.join(HERE, os.pardir, os.pardir))
sys.path.insert(0, HERE)

from mutants import CONTROL, MUTANTS  # noqa: E402

# No optimizing of programs as a whole, which takes longer than all the rest
OPTIONS = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DCMAKE_CXX_FLAGS_DEBUG=-O1")
OPTIONS += ("-DPRISM_APPS=OFF", "-DPRISM_PYTHON=OFF", "-DPRISM_PRECOMPILE=all", "-DPRISM_GTESTS=together")
# The tests of the protocol: ctest's, but of core_* all in one. The simulator's own controls fail and pass for reasons of
# their own.
PROTOCOL = r"core|net_icrc|differential_walk_.*|sim_(?!control_).*"
PROGRAMS = {"core": "core_tests", "net_icrc": "net_tests", "verbs_conformance": "prism-verbs-test"}
PROGRAMS |= {"differential_walk_engine": "differential_walk", "sim_bad_network": "prism_sim"}
# More than the slowest test may take beside others; a test that takes longer hangs
PATIENCE, LEAST_PATIENCE = 20, 60
MEMORY = 16 << 30


class Failure(Exception):
    """Error that makes a result worthless: it ends the program with status 1."""


@dataclasses.dataclass
class Test:
    name: str
    command: list
    environment: dict
    seconds: float = 0.0

    @property
    def target(self):
        return os.path.basename(self.command[0])


# The table and the source ------------------------------------------------------------------------------------------


def stale(mutants, root):
    """Returns why entries of the table do not fit the source; empty if all do."""
    texts, complaints = {}, []
    for mutant in mutants:
        if mutant.file not in texts:
            try:
                with open(os.path.join(root, mutant.file), encoding="utf-8") as file:
                    texts[mutant.file] = file.read()
            except OSError as error:
                texts[mutant.file] = ""
                complaints.append(f"{mutant.name}: {error}")
        count = texts[mutant.file].count(mutant.old)
        if count != 1:
            complaints.append(f"{mutant.name}: its text stands {count} times in {mutant.file}, not once")
        if mutant.old == mutant.new:
            complaints.append(f"{mutant.name}: it changes nothing")
    names = [mutant.name for mutant in mutants]
    complaints += [f"{name}: two entries of this name" for name in sorted({n for n in names if names.count(n) > 1})]
    return complaints


def source_files(root):
    """Returns files that git knows or would add; without git, all files that were not built."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True
    )
    if listing.returncode == 0:
        return [name for name in os.fsdecode(listing.stdout).split("\0") if os.path.isfile(os.path.join(root, name))]
    found = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(("build", ".git"))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def copy_tree(root, to):
    """Copies the source; unchanged files keep their times, so that a kept copy is built incrementally."""
    files = source_files(root)
    for name in files:
        path = os.path.join(to, name)
        if contents(path) != contents(os.path.join(root, name)):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(os.path.join(root, name), path)
    wanted = {os.path.join(to, name) for name in files}
    for folder, _, names in os.walk(to):
        for name in names:
            if os.path.join(folder, name) not in wanted:
                os.remove(os.path.join(folder, name))


class Applied:
    """Puts the mutant into the copy for the time of a with statement."""

    def __init__(self, mutant, root):
        self.path = os.path.join(root, mutant.file)
        self.mutant = mutant

    def __enter__(self):
        with open(self.path, encoding="utf-8") as file:
            self.original = file.read()
        self.write(self.original.replace(self.mutant.old, self.mutant.new))

    def __exit__(self, *_):
        self.write(self.original)

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)


# Building and running ----------------------------------------------------------------------------------------------


class Tree:
    """A copy of the source, and its build."""

    def __init__(self, folder, jobs):
        self.source = os.path.join(folder, "source")
        self.build = os.path.join(folder, "build")
        self.jobs = jobs

    def configure(self):
        if os.path.exists(os.path.join(self.build, "build.ninja")):
            return  # the build looks after itself
        self.call(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *OPTIONS], "configure")

    def make(self, *targets):
        self.call(["ninja", "-C", self.build, f"-j{self.jobs}", *targets], "build")

    @staticmethod
    def call(command, what):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if run.returncode:
            print("\n".join(run.stdout.splitlines()[-30:]), file=sys.stderr)
            raise Failure(f"it does not {what}")

    def tests(self, pattern):
        """Lists the tests of a tree that is built, as ctest knows no commands of unbuilt programs."""
        self.make(*(program for name, program in PROGRAMS.items() if re.fullmatch(pattern, name)))
        listing = subprocess.run(
            ["ctest", "--test-dir", self.build, "--show-only=json-v1"], capture_output=True, text=True, check=True
        )
        found = []
        if re.fullmatch(pattern, "core"):
            found.append(Test("core", [os.path.join(self.build, "bin", PROGRAMS["core"])], {"GTEST_FAIL_FAST": "1"}))
        for test in json.loads(listing.stdout)["tests"]:
            if not re.fullmatch(pattern, test["name"]):
                continue
            if "command" not in test:
                raise Failure(f"the test {test['name']} has no program")
            properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
            environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
            found.append(Test(test["name"], test["command"], environment))
        if not found:
            raise Failure(f"no test is called {pattern}")
        return found

    def run(self, test):
        """Returns None if it passes, otherwise its output."""
        start = time.monotonic()
        patience = max(LEAST_PATIENCE, PATIENCE * test.seconds) if test.seconds else 3600
        process = subprocess.Popen(
            test.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=self.build,
            env={**os.environ, **test.environment}, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "does not end"
        if process.returncode == 0:
            test.seconds = test.seconds or time.monotonic() - start
            return None
        return finding(output, process.returncode)


def finding(output, status):
    """Returns the most informative line of a failed test's output."""
    if match := re.search(r"^\[  FAILED  \] ([\w./]+)", output, re.MULTILINE):
        return match[1]
    if status < 0:
        started = re.findall(r"^\[ RUN      \] ([\w./]+)", output, re.MULTILINE)
        return " ".join([*started[-1:], f"(signal {-status})"])
    if match := re.search(r"^(seed \d+: .*|.*mismatch.*|backend .*)", output, re.MULTILINE):
        return match[1][:70]
    return f"(status {status})"


# The run -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Counts:
    caught: int = 0
    survived: list = dataclasses.field(default_factory=list)
    broken: list = dataclasses.field(default_factory=list)


def catch(tree, tests):
    """Returns which of the tests fails, and how; None if none does."""
    for test in tests:
        tree.make(test.target)
        said = tree.run(test)
        if said:
            return f"{test.name}: {said}"
    return None


def tests_for(tree, pattern, known):
    """Returns tests that pass on the original source, the fastest first. A change without effect must survive them."""
    if pattern not in known:
        tests = tree.tests(pattern)
        with Applied(CONTROL, tree.source):
            caught = catch(tree, tests)
        if caught:
            raise Failure(f"without any change {caught}")
        known[pattern] = sorted(tests, key=lambda test: test.seconds)
        for test in known[pattern]:
            print(f"  {test.seconds:7.2f} s  {test.name}", flush=True)
        report(CONTROL, "SURVIVED, as it must")
    return known[pattern]


def report(mutant, result):
    print(f"{mutant.name:34} {mutant.rule:96} {result}", flush=True)


def mutate(tree, mutants, pattern, counts):
    known = {}
    for mutant in mutants:
        tests = tests_for(tree, mutant.tests or pattern, known)
        try:
            with Applied(mutant, tree.source):
                caught = catch(tree, tests)
        except Failure as failure:
            counts.broken.append(mutant.name)
            report(mutant, f"BROKEN: {failure}")
            continue
        if caught:
            counts.caught += 1
        else:
            counts.survived.append(mutant.name)
        report(mutant, caught or "SURVIVED")


def run(mutants, arguments, folder):
    start = time.monotonic()
    tree, counts = Tree(folder, arguments.jobs), Counts()
    copy_tree(arguments.source, tree.source)
    tree.configure()
    try:
        # One file after the other: the next mutant of a file compiles only that
        mutate(tree, sorted(mutants, key=lambda mutant: (mutant.tests, mutant.file)), arguments.tests, counts)
    finally:
        summarize(len(mutants), counts, time.monotonic() - start)
    return 1 if counts.survived or counts.broken else 0


def summarize(number, counts, seconds):
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{number} mutants: {counts.caught} caught, {len(counts.survived)} survived, {len(counts.broken)} broken, "
          f"in {seconds / 60:.0f} minutes, {used.ru_utime + used.ru_stime:.0f} s of processor time")  # fmt: skip
    for what, names in (("survived", counts.survived), ("broken", counts.broken)):
        if names:
            print(f"{what}: {' '.join(names)}")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Status: 0 if every mutant was caught; 1 if one survived or does not compile, if an entry of the table does "
        "not fit\nthe source, or if a test fails without any change; 2 if the command line is wrong.",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the table, and which entries are equivalent and why")
    parser.add_argument("--check", action="store_true", help="only see whether each entry's text stands in the source once")
    parser.add_argument("--only", metavar="REGEX", action="append", default=[],
                        help="run the mutants whose names begin so, e.g. W.8.2; may be given several times")  # fmt: skip
    parser.add_argument("--keep", metavar="FOLDER", help="work in FOLDER and leave it: the next run there builds what "
                        "has changed. Without it, a temporary folder")  # fmt: skip
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(), help="compilers at a time (%(default)s)")
    parser.add_argument("--source", metavar="FOLDER", default=SOURCE,
                        help="the source tree that is copied, e.g. an older one (%(default)s)")  # fmt: skip
    parser.add_argument("--tests", metavar="REGEX", default=PROTOCOL,
                        help="run these tests of ctest: %(default)s")  # fmt: skip
    return parser, parser.parse_args()


def chosen(parser, prefixes):
    mutants = [mutant for mutant in MUTANTS if not prefixes or any(re.match(p, mutant.name) for p in prefixes)]
    if not mutants:
        parser.error(f"no mutant's name begins with {' or '.join(prefixes)}; --list tells all")
    return mutants


def main():
    parser, arguments = parse_arguments()
    mutants = chosen(parser, arguments.only)
    if arguments.list:
        for mutant in mutants:
            print(f"{mutant.name:34} {mutant.rule}{mutant.equivalent and ' EQUIVALENT: ' + mutant.equivalent}")
        return 0
    complaints = stale([CONTROL, *mutants], arguments.source)
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        return 1
    if arguments.check:
        print(f"{len(mutants)} mutants fit the source")
        return 0
    mutants = [mutant for mutant in mutants if not mutant.equivalent]
    if arguments.keep:
        return run(mutants, arguments, os.path.realpath(arguments.keep))
    with tempfile.TemporaryDirectory(prefix="prism-mutation-") as folder:
        return run(mutants, arguments, folder)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
