# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The transactional stores that tx_figures and gam_figures measure: their servers, their loads, and runs of the driver."""

import contextlib
import dataclasses
import os
import tempfile

from gam_cluster import GamCluster
from store_figures import HERE, Server, drive, traffic_of


@dataclasses.dataclass(frozen=True)
class System:
    """A store: how its servers are started, and how it is drawn."""

    label: str
    store: str  # prism-tx-server --store
    driver: str  # prism-tx-bench --system
    style: str  # matplotlib: color and marker
    arguments: tuple = ()  # of its servers
    gam: str = ""  # the protocol, if it is in a global memory


def gam(label, protocol, style):
    return System(label, "", f"gam-{protocol}", style, gam=protocol)


SYSTEMS = {
    "prism": System("PRISM-TX", "prism", "prism", "C0o-", ("--commit", "protected")),
    "prism-paper": System("PRISM-TX, the paper's commit", "prism", "prism", "C4D-", ("--commit", "paper")),
    "farm": System("FaRM", "farm", "farm", "C1s-"),
    "gam-directory": gam("GAM, directory", "directory", "C8P-"),
    "gam-latch": gam("GAM, latch", "latch", "C9X-"),
    "locking": System("two-phase locking", "locking", "locking", "C2^-"),
    "locking-exclusive": System("two-phase locking, exclusive", "locking", "locking-exclusive", "C3v-"),
}

# Customers are the largest records of TPC-C: at most 679 bytes.
TPCC_VALUE = 704
SMALLBANK_VALUE = 8
# Most objects that a transaction of TPC-C adds: the order, its row of NEW-ORDER, 15 lines.
TPCC_GROWTH = 17
DISTRICTS = 10
LAST_NAMES = 1000


@dataclasses.dataclass(frozen=True)
class Load:
    """A workload: what its servers hold, and what the driver is told."""

    name: str
    objects: int
    value_size: int
    arguments: tuple


def ycsb_t(options):
    words = ("--workload", "ycsb-t", "--records", str(options.records), "-s", str(options.size))
    words += ("--keys", str(options.keys)) + (("--numbered",) if options.numbered else ())
    return Load("YCSB-T", options.records, options.size, words)


def smallbank(options):
    words = ("--workload", "smallbank", "--records", str(options.accounts))
    words += ("--numbered",) if options.numbered else ()
    return Load("SmallBank", 2 * options.accounts, SMALLBANK_VALUE, words)


def tpcc(options, transactions):
    """Returns TPC-C's load. @p transactions: how many add to the loaded objects."""
    districts = DISTRICTS * options.warehouses
    loaded = options.items + options.warehouses * (1 + options.items)
    loaded += districts * (1 + 2 * options.customers + min(options.customers, LAST_NAMES))
    words = ("--workload", "tpcc", "--warehouses", str(options.warehouses))
    words += ("--items", str(options.items), "--customers", str(options.customers))
    return Load("TPC-C", loaded + transactions * TPCC_GROWTH, TPCC_VALUE, words)


# Bytes that GAM needs beside the value: header, rounding up to blocks; for the key a pair in the index, and its bucket
GAM_BYTES_AN_OBJECT = 700


@contextlib.contextmanager
def store_of(name, load, options, ports):
    """Starts the servers of all shards of a store; yields their addresses."""
    system = SYSTEMS[name]
    if system.gam:
        with GamCluster(name, system.gam, load.objects * (load.value_size + GAM_BYTES_AN_OBJECT), options) as cluster:
            yield cluster.master
        return
    # Hashing does not spread keys evenly: give every shard a quarter more than its part, and 1000 more.
    capacity = load.objects if options.shards == 1 else load.objects * 5 // (4 * options.shards) + 1000
    with contextlib.ExitStack() as stack:
        secret = stack.enter_context(tempfile.NamedTemporaryFile())
        secret.write(os.urandom(32))
        secret.flush()
        for shard, port in enumerate(ports):
            command = [os.path.join(HERE, "prism-tx-server"), "--store", system.store, "--shard", str(shard)]
            command += ["--shards", str(options.shards), "--port", str(port), "--keys", str(capacity)]
            command += ["--value-size", str(load.value_size), *system.arguments]
            if system.store == "prism" and options.shards > 1:
                command += ["--secret", secret.name]
            if "--numbered" in load.arguments:
                command += ["--numbered"]
            if options.device:
                command += ["-d", options.device]
            stack.enter_context(Server(f"{name}, shard {shard}", command, [port], options.server_limit))
        yield ",".join(f"127.0.0.1:{port}" for port in ports)


def run(name, shards, load, options, *arguments):
    """Runs the driver once; returns its results."""
    words = ["--system", SYSTEMS[name].driver, "--shards", shards, *load.arguments, *arguments]
    if options.device:
        words += ["-d", options.device]
    return drive(words, options.timeout, "prism-tx-bench")


def sample_of(results):
    """Returns the values that are kept of one run."""
    kept = ("throughput", "abort_rate", "mean_round_trips", "committed", "rolled_back", "conflict", "conflicts")
    latency = results["latency"]
    return {
        **{key: results[key] for key in kept},
        **traffic_of(results),
        "latency": latency["t_typical"],
        "mean": latency["t_avg"],
        "percentile_99": latency["percentile_99"],
        "percentile_99.9": latency["percentile_99.9"],
    }
