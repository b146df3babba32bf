#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Controls: reports that mutate.py must make of a table that does not fit its source, and of output of tests."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import mutate  # noqa: E402
from mutants import CONTROL, MUTANTS, Mutant  # noqa: E402

TEXT = "if (late)\n\tdrop();\nif (early)\n\tdrop();\n"


class Source(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "rules.c")
        self.write(TEXT)

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def mutant(self, old, new="", name="W.1", file="rules.c"):
        return Mutant(name, "nothing is dropped", file, old, new)

    def complaints(self, *mutants):
        return mutate.stale(mutants, self.folder.name)


class Table(Source):
    def test_an_entry_that_fits(self):
        self.assertEqual(self.complaints(self.mutant("if (late)")), [])

    def test_text_that_is_gone(self):
        self.write(TEXT.replace("late", "behind"))
        self.assertIn("stands 0 times", self.complaints(self.mutant("if (late)"))[0])

    def test_text_that_stands_twice(self):
        self.assertIn("stands 2 times", self.complaints(self.mutant("drop();"))[0])

    def test_a_file_that_is_gone(self):
        self.assertTrue(self.complaints(self.mutant("x", file="other.c")))

    def test_a_mutant_that_changes_nothing(self):
        self.assertIn("changes nothing", self.complaints(self.mutant("if (late)", "if (late)"))[0])

    def test_two_of_one_name(self):
        self.assertIn("two entries", self.complaints(self.mutant("if (late)"), self.mutant("if (early)"))[0])

    def test_ours(self):
        """Names begin with a rule's number, and each rule is said in a few words."""
        for mutant in (CONTROL, *MUTANTS):
            self.assertRegex(mutant.name, r"^(control$|[WS]\.\d)")
            self.assertTrue(mutant.rule and not mutant.rule.endswith("."), mutant.name)


class Run(Source):
    def test_a_mutant_is_there_and_gone(self):
        with mutate.Applied(self.mutant("if (late)", "if (false)"), self.folder.name):
            self.assertIn("if (false)\n\tdrop();\nif (early)", self.read())
        self.assertEqual(self.read(), TEXT)

    def test_a_mutant_is_gone_after_a_failure(self):
        with self.assertRaises(mutate.Failure), mutate.Applied(self.mutant("if (late)"), self.folder.name):
            raise mutate.Failure("it does not build")
        self.assertEqual(self.read(), TEXT)

    def test_a_copy_follows_its_source(self):
        with tempfile.TemporaryDirectory() as to:
            mutate.copy_tree(self.folder.name, to)
            copy = os.path.join(to, "rules.c")
            os.utime(copy, (1, 1))
            mutate.copy_tree(self.folder.name, to)
            self.assertEqual(os.path.getmtime(copy), 1, "what is the same keeps its time")
            self.write("other")
            mutate.copy_tree(self.folder.name, to)
            self.assertEqual(mutate.contents(copy), b"other")
            os.remove(self.path)
            mutate.copy_tree(self.folder.name, to)
            self.assertEqual(os.listdir(to), [])

    def test_what_a_test_says(self):
        failed = "[ RUN      ] Held.A\n[  FAILED  ] Held.A (1 ms)\n"
        self.assertEqual(mutate.finding(failed, 1), "Held.A")
        self.assertEqual(mutate.finding("[ RUN      ] Held.A\n[ RUN      ] Held.B\n", -11), "Held.B (signal 11)")
        self.assertEqual(mutate.finding("seed 3: two owners\n", 1), "seed 3: two owners")
        self.assertEqual(mutate.finding("", 1), "(status 1)")

    def test_a_test_passes_fails_or_hangs(self):
        tree = mutate.Tree(self.folder.name, 1)
        os.mkdir(tree.build)
        self.assertIsNone(tree.run(mutate.Test("good", ["true"], {})))
        self.assertEqual(tree.run(mutate.Test("bad", ["false"], {})), "(status 1)")
        mutate.LEAST_PATIENCE, before = 0.1, mutate.LEAST_PATIENCE
        self.addCleanup(setattr, mutate, "LEAST_PATIENCE", before)
        self.assertEqual(tree.run(mutate.Test("hangs", ["sleep", "20"], {}, 0.001)), "does not end")


if __name__ == "__main__":
    unittest.main()
