#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests rpc_parameters' choices from curves written by hand, and from those that it measures in a few seconds.

usage: parameters_test.py PROGRAM
"""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PROGRAM = sys.argv.pop(1)
sys.path.insert(0, os.path.dirname(PROGRAM))
loader = importlib.machinery.SourceFileLoader("rpc_parameters", PROGRAM)
rpc_parameters = importlib.util.module_from_spec(importlib.util.spec_from_loader("rpc_parameters", loader))
loader.exec_module(rpc_parameters)


class RangeTest(unittest.TestCase):
    def test_what_costs_nothing_and_what_costs_half(self):
        rates = {64: 100, 128: 99, 256: 96, 512: 80, 1024: 51, 2048: 49}
        self.assertEqual(rpc_parameters.range_of_sizes(rates), (256, 1024))

    def test_one_size(self):
        self.assertEqual(rpc_parameters.range_of_sizes({64: 7}), (64, 64))


class RetriesTest(unittest.TestCase):
    def test_where_the_gain_falls_below_a_tenth(self):
        fetched = {0: (200, 0.1), 5: (120, 2.0), 7: (105, 4.2), 9: (90, 6.0)}
        replied = {0: 100, 5: 100, 7: 100, 9: 100}
        self.assertEqual(rpc_parameters.most_retries(fetched, replied), 5)

    def test_no_gain_at_all_is_one_retry(self):
        self.assertEqual(rpc_parameters.most_retries({0: (50, 0.0)}, {0: 100}), 1)

    def test_always_a_gain(self):
        self.assertEqual(rpc_parameters.most_retries({0: (500, 0.0)}, {0: 100}), rpc_parameters.MOST_RETRIES)


class ChoiceTest(unittest.TestCase):
    RATES = {(1, 64): 100, (1, 256): 90, (1, 1024): 40, (2, 64): 101, (2, 256): 91, (2, 1024): 41}

    def chosen(self, *sizes):
        return rpc_parameters.choose(self.RATES, list(sizes))[0]

    def test_small_responses_take_small_reads(self):
        self.assertEqual(self.chosen((24, 1)), (2, 64))
        self.assertEqual(self.chosen((25, 1)), (2, 256), "frame and header count")

    def test_second_reads_cost_half(self):
        self.assertEqual(self.chosen((200, 1)), (2, 256))
        self.assertEqual(self.chosen((900, 1)), (2, 64), "half of the best is more than what one long READ gives")

    def test_weights(self):
        self.assertEqual(self.chosen((24, 9), (200, 1)), (2, 64))
        self.assertEqual(self.chosen((24, 1), (200, 9)), (2, 256))

    def test_of_equals_the_smallest(self):
        self.assertEqual(rpc_parameters.choose({(3, 128): 5, (1, 128): 5, (1, 256): 5}, [(8, 1)])[0], (1, 128))


class ProgramTest(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=50, check=False)

    def test_measures_and_chooses(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "curves.json")
            done = self.run_it("measure", "--quick", "--out", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf-8") as file:
                curves = json.load(file)
            self.assertLessEqual(curves["L"], curves["H"])
            self.assertTrue(all(rate > 0 for _, _, rate in curves["rates"]))
            done = self.run_it("choose", path, "--sizes", "32,256:3")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"--first-read \d+ --retries \d+\n")

    def test_errors_name_their_cause(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "other.json")
            self.assertIn("No such file", self.run_it("choose", path, "-s", "32").stderr)
            with open(path, "w", encoding="utf-8") as file:
                file.write("{}")
            self.assertIn("not what rpc_parameters writes", self.run_it("choose", path, "-s", "32").stderr)
            self.assertIn("no size", self.run_it("choose", path, "-s", "few").stderr)


if __name__ == "__main__":
    unittest.main()
