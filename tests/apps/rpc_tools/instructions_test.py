#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests how rpc_figures divides the instructions that callgrind has counted, with profiles written by hand.

usage: instructions_test.py FOLDER     FOLDER: where instructions.py is
"""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

from instructions import Profile, by_part, part_of_echo_server, read_parts  # noqa: E402

PROGRAM, DEVICE, LIBC = "/bin/prism-rpc-bench", "/lib/libprism.so.1.0.0", "/lib/libc.so.6"


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return Profile().read(path), read_parts(path)


class ReadTest(unittest.TestCase):
    def test_names_are_compressed_and_positions_relative(self):
        profile, _ = read(
            f"""version: 1
positions: line
events: Ir
ob=(1) {PROGRAM}
fl=(1) worker.cpp
fn=(1) prism::rpc::Worker::handle(int)
10 5
+2 7
* 1
cob=(2) {LIBC}
cfi=(2) memcpy.S
cfn=(2) memcpy
calls=3 0
-1 90
fi=(3) vector.h
12 4
fe=(1)
fn=(3) other
20 2
ob=(2)
fl=(2)
fn=(2)
0 90
"""
        )
        handle, memcpy = (PROGRAM, "prism::rpc::Worker::handle(int)"), (LIBC, "memcpy")
        self.assertEqual(profile.own, {handle: 17, (PROGRAM, "other"): 2, memcpy: 90})
        self.assertEqual(profile.calls[handle], {memcpy: 90})

    def test_a_callee_without_an_object_is_in_the_callers(self):
        profile, _ = read(
            f"ob=(1) {LIBC}\nfn=(1) one\n1 2\ncob=(2) {PROGRAM}\ncfn=(2) two\ncalls=1 1\n1 5\ncfn=(3) three\ncalls=1 1\n1 6\n"
        )
        self.assertEqual(profile.calls[(LIBC, "one")], {(PROGRAM, "two"): 5, (LIBC, "three"): 6})


class DivideTest(unittest.TestCase):
    def profile(self, own, calls):
        made = Profile()
        made.own.update(own)
        for caller, callee, cost in calls:
            made.calls[caller][callee] += cost
        return by_part(made, part_of_echo_server)

    SERVER = (PROGRAM, "prism::rpc::FetchChannel::execute(int)")
    ECHO = (PROGRAM, "prism::echo::fill_response(int)")
    ENGINE = (DEVICE, "prism::soft::Engine::receive()")
    COPY, DEEP = (LIBC, "memcpy"), (LIBC, "helper")

    def test_each_function_has_its_part(self):
        for function, part in (
            (self.SERVER, "server"),
            (self.ECHO, "echo"),
            (self.ENGINE, "device"),
            ((DEVICE, "prism::Boundary<&prism::soft::post_send>::call(ibv_qp*)"), "posting"),
            ((DEVICE, "prism::soft::Requester::transmit(int)"), "device"),
            (("/lib/libprism-ext.so.0", "prism::FreeList::release(int)"), "server"),
            (("/lib/libprism-ext.so.0", "prism::CompletionQueue::poll(int) const"), "looking"),
            ((PROGRAM, "prism::rpc::Worker::turn()"), "looking"),
            ((PROGRAM, "prism::rpc::slots::SlotsChannel::has_news(int)"), "looking"),
            ((PROGRAM, "prism::rpc::slots::SlotsChannel::look_at(int)"), "server"),
            ((PROGRAM, "prism::rpc::fetch::FetchChannel::look_at(int)"), "looking"),
            ((PROGRAM, "prism::rpc::Connection::closed() const"), "looking"),
            ((PROGRAM, "prism::rpc::overlooked(int)"), "server"),
            (self.COPY, None),
        ):
            self.assertEqual(part_of_echo_server(*function), part, function)

    def test_a_librarys_function_counts_for_its_callers(self):
        parts = self.profile(
            {self.SERVER: 10, self.ENGINE: 20, self.COPY: 80, self.DEEP: 20},
            [(self.SERVER, self.COPY, 25), (self.ENGINE, self.COPY, 75), (self.COPY, self.DEEP, 20)],
        )
        self.assertAlmostEqual(parts["server"], 10 + 0.25 * 100)
        self.assertAlmostEqual(parts["device"], 20 + 0.75 * 100)

    def test_recursion_ends(self):
        parts = self.profile(
            {self.COPY: 30, self.DEEP: 10},
            [(self.SERVER, self.COPY, 40), (self.COPY, self.DEEP, 20), (self.DEEP, self.COPY, 15), (self.DEEP, self.DEEP, 5)],
        )
        self.assertAlmostEqual(parts["server"], 40)

    def test_what_nobody_calls_is_nobodys(self):
        self.assertEqual(self.profile({self.COPY: 3}, []), {"other": 3})


if __name__ == "__main__":
    unittest.main()
