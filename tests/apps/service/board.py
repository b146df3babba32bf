#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Checks that a Grafana board shows only metrics that are exported.

usage: board.py BOARD SCRAPE      BOARD: its JSON. SCRAPE: the programs' answers to GET /metrics.
Every selector of every query, such as prism_buffers{state="free"}, must fit a line of SCRAPE. The check of a selector
is itself checked first: with a metric, a label and a value that nobody exports. Exit code: 0; 1 if a panel shows
something that is not there, with a message.
"""
import json
import re
import sys

SELECTOR = re.compile(r'\b(prism_\w+)(?:\{([^}]*)\})?')
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
FITS = {
    "=": lambda pattern, value: pattern == value,
    "!=": lambda pattern, value: pattern != value,
    "=~": lambda pattern, value: re.fullmatch(pattern, value) is not None,
    "!~": lambda pattern, value: re.fullmatch(pattern, value) is None,
}


def parse(scrape):
    """Returns the labels of all samples, by their metric."""
    samples = {}
    for name, labels in re.findall(r'^(\w+)(?:\{(.*)\})? [^ ]+$', scrape, re.MULTILINE):
        samples.setdefault(name, []).append({label: value for label, _, value in MATCHER.findall(labels)})
    return samples


def is_exported(samples, name, matchers):
    """Returns true if a sample fits. Labels with a variable of the board, $instance, are Prometheus's own."""
    wanted = [one for one in MATCHER.findall(matchers) if "$" not in one[2]]
    return any(all(FITS[how](pattern, labels.get(label, "")) for label, how, pattern in wanted)
               for labels in samples.get(name, []))


def check_itself():
    samples = parse('prism_x{store="kv",state="free"} 1\nprism_y 2\n')
    assert is_exported(samples, "prism_x", 'instance=~"$instance",state=~"fr.*"')
    assert is_exported(samples, "prism_y", "")
    for name, matchers in (("prism_invented", ""), ("prism_x", 'state="none"'), ("prism_x", 'place="here"')):
        assert not is_exported(samples, name, matchers), f"{name}{{{matchers}}} was found"


def main():
    check_itself()
    with open(sys.argv[1], encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    with open(sys.argv[2], encoding="utf-8") as file:
        samples = parse(file.read())
    missing = 0
    for panel in panels:
        selectors = [one for target in panel["targets"] for one in SELECTOR.findall(target["expr"])]
        if not selectors:
            print(f"{panel['title']}: it shows no metric")
            missing += 1
        for name, matchers in selectors:
            if not is_exported(samples, name, matchers):
                print(f"{panel['title']}: nobody exports {name}{{{matchers}}}")
                missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
