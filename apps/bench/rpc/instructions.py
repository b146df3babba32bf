# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Instructions of a program by part, as callgrind counts them.

A part is what a function of the program counts for. Functions of other libraries, such as memcpy(), count for the parts
that call them, each by its share of their inclusive cost.
"""

import collections
import os
import re

FIELD = re.compile(r"^(fl|fi|fe|fn|ob|cfl|cfi|cfn|cob)=(?:\((\d+)\))?\s*(.*)$")
# SlotsChannel::look_at() takes a request that has_news() has found; FetchChannel's looks at each slot in every turn.
LOOKING = re.compile(
    r"prism::(rpc::(\w+::)+(turn|look|(?<!SlotsChannel::)look_at|has_news)|rpc::Connection::closed"
    r"|rpc::VerbsCallDevice::poll|CompletionQueue::poll)\("
)

# The entry points of libprism that put a work request into a queue. Everything after that counts for the device.
POSTING = re.compile(r"prism::Boundary<&prism::soft::post_\w+>::call")


class Profile:
    """The contents of a file of callgrind: the own cost of each function, and the inclusive costs of its calls."""

    def __init__(self):
        self.own = collections.Counter()  # by (object, function)
        self.calls = collections.defaultdict(collections.Counter)  # caller to callee to inclusive cost
        self._names = collections.defaultdict(dict)  # (kind, id) to name, as the format compresses names

    def _name(self, kind, number, text):
        names = self._names[kind]
        if number is None:
            return text
        if text:
            names[number] = text
        return names[number]

    def read(self, path):
        place = {"ob": "", "fn": "", "cob": None, "cfn": ""}
        is_call = False
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                field = FIELD.match(line)
                if field:
                    key, number, text = field.groups()
                    if key in place:
                        place[key] = self._name(key[-2:], number, text.strip())
                elif line.startswith("calls="):
                    is_call = True
                elif line[:1].isdigit() or line[:1] in "+-*":
                    cost = int(line.split()[1]) if " " in line.strip() else 0
                    function = (place["ob"], place["fn"])
                    if is_call:
                        callee = (place["ob"] if place["cob"] is None else place["cob"], place["cfn"])
                        self.calls[function][callee] += cost
                        place["cob"], is_call = None, False
                    else:
                        self.own[function] += cost
        return self


def callers_of(profile):
    """Returns callee to caller to inclusive cost, without calls of a function by itself."""
    callers = collections.defaultdict(collections.Counter)
    for caller, callees in profile.calls.items():
        for callee, cost in callees.items():
            if caller != callee:
                callers[callee][caller] += cost
    return callers


def shares_of_all(functions, callers, part_of, rounds=50):
    """Returns function to part to share. Functions that call each other in cycles get their shares by repetition."""
    shares = {function: {part_of(*function): 1.0} for function in functions if part_of(*function) is not None}
    others = [function for function in functions if function not in shares]
    for _ in range(rounds):
        for function in others:
            parts = collections.Counter()
            for caller, cost in callers[function].items():
                for part, share in shares.get(caller, {}).items():
                    parts[part] += share * cost
            whole = sum(parts.values())
            if whole:
                shares[function] = {part: cost / whole for part, cost in parts.items()}
    return shares


def by_part(profile, part_of):
    """Returns the instructions of each part. @p part_of: (object, function) to a part, or None: that of the callers."""
    functions = sorted(set(profile.own) | set(profile.calls))
    shares = shares_of_all(functions, callers_of(profile), part_of)
    parts = collections.Counter()
    for function, cost in profile.own.items():
        for part, share in shares.get(function, {"other": 1.0}).items():
            parts[part] += share * cost
    return parts


def part_of_echo_server(the_object, function):
    """The device, posting to it, the echo that the server is there for, looking for work, or the server's own code
    beside that.

    The last two are the RPC layer and libprism-ext. Posting is in the library of any device, so a processor does it.
    """
    library = os.path.basename(the_object)
    if POSTING.match(function):
        return "posting"
    if library.startswith(("libprism.so", "libibverbs")):
        return "device"
    if "prism::echo::" in function:
        return "echo"
    if LOOKING.search(function):
        return "looking"
    if library.startswith("libprism-ext.so") or "prism::" in function:
        return "server"
    return None


def callgrind(path):
    """Returns the words that go before a command to count its instructions."""
    return ["valgrind", "--tool=callgrind", "--dump-instr=no", f"--callgrind-out-file={path}"]


def read_parts(path):
    return by_part(Profile().read(path), part_of_echo_server)
