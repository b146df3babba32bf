#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: rxe-prism or the userspace device beside stock rxe, and PRISM beside plain verbs, in interleaved rounds.

Both modules are loaded, on UDP ports of their own; the userspace device is in a network namespace of its own. Each round runs each program once on each device, in turns that
change their order from round to round, so that a drift of the machine meets both alike. A figure is the median over the
rounds; a ratio is the median of the rounds' ratios, with the 95% interval of a bootstrap.
"""

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

LATENCY = [f"ib_{verb}_lat" for verb in ("read", "write", "send", "atomic")]
BANDWIDTH = [f"ib_{verb}_bw" for verb in ("read", "write", "send", "atomic")]
# In a guest whose clock counts instructions there is one processor: a program that spins for its peer would only add to
# the count.
COUNTED = ["ib_read_lat", "ib_atomic_lat", "ib_send_lat -e", "ib_read_bw", "ib_write_bw", "ib_atomic_bw"]
BOOTSTRAPS = 10000


def listening(port, pid):
    """Returns true if a TCP socket listens at the port, in the network namespace of that process."""
    for name in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{name}", encoding="ascii") as table:
            for line in list(table)[1:]:
                words = line.split()
                if int(words[1].rsplit(":", 1)[1], 16) == port and words[3] == "0A":
                    return True
    return False


def is_latency(program):
    return program.split()[0].endswith("_lat")


class Rounds:
    """Runs pairs of processes, each pair at a TCP port of its own."""

    def __init__(self):
        self.port = 20000

    def pair(self, server, client):
        """Starts SERVER, runs CLIENT; both are functions from a port to a command line. Returns the client's output."""
        self.port += 1
        with subprocess.Popen(server(self.port), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as process:
            try:
                deadline = time.monotonic() + 20
                while not listening(self.port, process.pid):
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"{server(self.port)} does not listen")
                    time.sleep(0.02)
                done = subprocess.run(client(self.port), capture_output=True, text=True, timeout=120, check=False)
                if done.returncode:
                    raise RuntimeError(f"{client(self.port)}: {done.stdout}{done.stderr}")
                process.wait(timeout=20)
            finally:
                if process.poll() is None:
                    process.kill()
            return done.stdout

    def perftest(self, program, device, gid, iterations, launcher):
        """Returns the typical latency in usec, or the average bandwidth in MB/s."""

        def command(port):
            return launcher + program.split() + ["-F", "-d", device, "-x", str(gid), "-p", str(port), "-n", str(iterations)]

        output = self.pair(command, lambda port: command(port) + ["127.0.0.1"])
        columns = next(line for line in output.splitlines() if re.match(r"\s*\d+\s+\d+\s", line)).split()
        return float(columns[4] if is_latency(program) else columns[3])


def interval(ratios):
    """Returns the 95% interval of the median."""
    generator = random.Random(1)
    medians = sorted(
        statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(BOOTSTRAPS))
    return medians[int(0.025 * BOOTSTRAPS)], medians[int(0.975 * BOOTSTRAPS)]


def compare_with_stock(rounds, options):
    """Returns one row for each perftest program: medians and the ratio of times."""
    rows = []
    for program in COUNTED if options.counted else LATENCY + BANDWIDTH:
        latency = is_latency(program)
        stock, prism = [], []
        for number in range(options.rounds):
            turns = [("stock", options.stock, options.stock_gid, []),
                     ("prism", options.prism, options.prism_gid, options.launcher.split())]
            if number % 2:
                turns.reverse()
            for kind, device, gid, launcher in turns:
                (stock if kind == "stock" else prism).append(
                    rounds.perftest(program, device, gid, options.iterations, launcher))
        # A ratio above 1 means slower, of latencies and of bandwidths alike.
        # perftest prints inf or 0 when the clock of the machine jumped; such a round says nothing.
        pairs = [(p, s) for p, s in zip(prism, stock) if math.isfinite(p) and math.isfinite(s) and p > 0 and s > 0]
        ratios = [p / s if latency else s / p for p, s in pairs]
        stock, prism = [s for _, s in pairs], [p for p, _ in pairs]
        low, high = interval(ratios)
        met = low <= 1.0 or high < 1.03
        rows.append({
            "program": program, "stock": statistics.median(stock), "prism": statistics.median(prism),
            "ratio": statistics.median(ratios), "low": low, "high": high, "met": met, "rounds": len(pairs),
        })
        row = rows[-1]
        print(f"{program:16} {row['stock']:10.2f} {row['prism']:10.2f}  {row['ratio']:5.3f} [{low:5.3f}, {high:5.3f}]  "
              f"{'met' if met else 'NOT MET'}", flush=True)
    return rows


# Dividend and divisor, both as ib_prism_ratios names them, and the maximum of the ratio
PRISM_GOALS = (
    ("indirect READ : READ", "read prism", "read single", 1.1),
    ("indirect READ : two READs", "read prism", "read plain", 0.6),
    ("WRITE + ALLOCATE + CAS : plain verbs", "write-alloc-cas prism", "write-alloc-cas plain", 0.5),
)


def compare_with_plain(options):
    """Returns one row for each goal, from the latencies that ib_prism_ratios measures in rounds of its own."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        subprocess.run([
            os.path.join(options.tools, "ib_prism_ratios"), "--only", "latency", "--rounds", str(options.rounds),
            "--path", "kernel", "-d", options.prism, "-n", str(options.iterations), "--host", options.host,
            "--out_json_file", report.name
        ], check=True, stdout=subprocess.DEVNULL)
        samples = json.load(report)["samples"]["kernel"]
    rows = []
    for title, above, below, goal in PRISM_GOALS:
        prism, plain = statistics.median(samples[above]), statistics.median(samples[below])
        rows.append({"ratio": title, "prism": prism, "plain": plain, "value": prism / plain, "goal": goal,
                     "met": prism / plain <= goal})
        print(f"{title:40} {prism:10.2f} {plain:10.2f}  {prism / plain:5.3f}  <= {goal} "
              f"{'met' if rows[-1]['met'] else 'NOT MET'}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--stock", default="rxe0")
    parser.add_argument("--stock-gid", type=int, default=1)
    parser.add_argument("--prism", default="prism0")
    parser.add_argument("--prism-gid", type=int, default=1)
    parser.add_argument("--launcher", default="", help="what starts programs on the PRISM device")
    parser.add_argument("--title", default="rxe-prism", help="of the PRISM device's column")
    parser.add_argument("--host", default="10.9.2.1", help="address of the PRISM device's interface")
    parser.add_argument("--tools", default="", help="folder of the ib_prism_ tools; without it only perftest is run")
    parser.add_argument("--counted", action="store_true", help="the guest's clock counts instructions (run.sh --icount)")
    parser.add_argument("--json", help="write all results to this file")
    options = parser.parse_args()
    rounds = Rounds()
    report = {}
    if options.tools:
        report["prism"] = compare_with_plain(options)
    print(f"{'':16} {'rxe':>10} {options.title:>10}  ratio of times, 95% interval; {options.rounds} rounds")
    report["stock"] = compare_with_stock(rounds, options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
    met = all(row["met"] for rows in report.values() for row in rows)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
