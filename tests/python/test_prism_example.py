# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The example runs as its reader would run it: without prism-run."""
import os
import pathlib
import subprocess
import sys
import unittest

from base import Config, pe

EXAMPLE = pathlib.Path(__file__).parents[2] / 'examples' / 'indirect_read.py'


class PrismExampleTest(unittest.TestCase):
    def test_indirect_read(self):
        without_launcher = {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}
        mode = 'inline' if Config.progress == pe.PRISMDV_PROGRESS_INLINE else 'thread'
        done = subprocess.run([sys.executable, EXAMPLE, Config.device], env=dict(without_launcher, PRISM_PROGRESS=mode),
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'OK the object\n', ''))
