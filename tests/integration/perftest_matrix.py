#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs of perftest, one a line: carrier, program, arguments. All that it accepts, or so many that any two values of its
options occur together in one of them; but latencies of all sizes and of a second, which take long and add little,
are among all only.

    perftest_matrix.py pairs | all | refused
"""
import itertools
import sys

TOOLS = [
    f"ib_{verb}_{kind} -c {service}"
    for service, verbs in (("RC", ("send", "write", "read", "atomic")), ("UC", ("send", "write")), ("UD", ("send",)))
    for verb in verbs
    for kind in ("bw", "lat")
]
MODES = ("", "-a", "-D 1", "-D 1 --run_infinitely")
FACTORS = (("rings", "udp"), TOOLS, ("", "-b"), ("", "-e"), ("", "-q 16"), ("", "-R"), MODES)


def is_accepted(run):
    """Returns true if perftest accepts the run: `perftest.sh all` checks that it refuses the others."""
    _, tool, both, events, many, managed, mode = run
    endless = "--run_infinitely" in mode
    refused = (
        "_lat" in tool and (both or many or endless),
        "_write_" in tool and events,
        "-D" in mode and events,
        endless and "_send_" in tool and both,
        mode == "-a" and "_atomic_" in tool,
        "UC" in tool and managed,
    )
    return not any(refused)


def stops_itself(run):
    """Returns true if the run hangs on any device: perftest 4.5 takes at most as many completions as one queue pair has
    messages, and then waits for an event of the others, whose completions have arrived already."""
    _, tool, both, events, many, _, _ = run
    return "_send_bw" in tool and both and events and many


def pairs_of(run):
    return set(itertools.combinations(enumerate(run), 2))


def covering(runs):
    """Greedy: repeatedly takes the run that has most of the pairs not yet covered, the first of equals."""
    missing = set().union(*map(pairs_of, runs))
    chosen = []
    while missing:
        best = max(runs, key=lambda run: len(pairs_of(run) & missing))
        missing -= pairs_of(best)
        chosen.append(best)
    return chosen


def is_brief(run):
    return not ("_lat" in run[1] and run[-1])


every = list(itertools.product(*FACTORS))
accepted = [run for run in every if is_accepted(run)]
sound = list(itertools.filterfalse(stops_itself, accepted))
lists = {
    "all": lambda: sound,
    "pairs": lambda: covering(list(filter(is_brief, sound))),
    "refused": lambda: [run for run in every if not is_accepted(run) and run[0] == "rings"],
}
for line in lists[sys.argv[1]]():
    print(*filter(None, line))
