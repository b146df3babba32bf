# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The key-value stores that kv_figures and jakiro_figures measure: their servers, and runs of the driver."""

import dataclasses
import os

from gam_cluster import GamCluster
from store_figures import HERE, Server, drive

SERVER_MEMORY = 256  # MiB, of servers that have to be told


@dataclasses.dataclass(frozen=True)
class System:
    """A store: the command of its server, its style in figures, and the driver's way to make clients."""

    label: str
    command: tuple  # {bin}: this folder; {port}, {records}, {value_size}, {memory}
    style: str  # matplotlib: color and marker
    rdma: bool = False  # takes -d DEVICE
    # One thread serves all clients in turns if polling them does not wait; else each needs a thread.
    threads: bool = False
    gam: str = ""  # the protocol, if it is in a global memory


def own_server(store, *options):
    command = ("{bin}/prism-kv-server", "--store", store, "-p", "{port}")
    return command + ("--records", "{records}", "--size", "{value_size}") + options


def jakiro(way, style):
    return System(f"Jakiro, {way}", own_server("jakiro", "--way", way), style, rdma=True)


REDIS = ("redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
MEMCACHED = ("memcached", "-l", "127.0.0.1", "-p", "{port}", "-m", "{memory}", "-t", "1")

SYSTEMS = {
    "prism": System("PRISM-KV", own_server("prism"), "C0o-", rdma=True),
    "pilaf": System("Pilaf", own_server("pilaf"), "C1s-", rdma=True),
    "rpc": System("RPC over SEND", own_server("rpc"), "C2^-", rdma=True),
    "jakiro-two-sided": jakiro("two-sided", "C5<--"),
    "jakiro-reply": jakiro("reply", "C6>--"),
    "jakiro-fetch": jakiro("fetch", "C7p--"),
    "jakiro-slots": jakiro("slots", "C8*--"),
    "jakiro-window": jakiro("window", "C9h--"),
    "jakiro-datagram": jakiro("datagram", "kx--"),
    "gam-directory": System("GAM, directory", (), "C8P-", rdma=True, threads=True, gam="directory"),
    "gam-latch": System("GAM, latch", (), "C9X-", rdma=True, threads=True, gam="latch"),
    "redis": System("Redis", REDIS + ("--maxmemory", "{memory}mb"), "C3v-"),
    "memcached": System("memcached", MEMCACHED + (("-u", "root") if os.geteuid() == 0 else ()), "C4D-", threads=True),
}


# Of GAM, beside key and value: the record's header and what rounding up to blocks adds; of the key's bucket
GAM_BYTES_A_RECORD = 600


def server_of(name, options, value_size, port):
    if SYSTEMS[name].gam:
        return GamCluster(name, SYSTEMS[name].gam, options.records * (value_size + GAM_BYTES_A_RECORD), options)
    values = {
        "bin": HERE,
        "port": port,
        "records": options.records,
        "value_size": value_size,
        "memory": SERVER_MEMORY,
    }
    system = SYSTEMS[name]
    words = [word.format(**values) for word in system.command]
    if system.rdma and options.device:
        words += ["-d", options.device]
    return Server(name, words, [port], options.server_limit)


def run(server, options, *arguments):
    """One run of the driver; gives its results."""
    system = SYSTEMS[server.name]
    words = ["--system", server.name, "-p", server.ports[0], *arguments]
    if system.threads:
        words = ["--threads" if word == "--clients" else word for word in words]
    if system.rdma and options.device:
        words += ["-d", options.device]
    return drive([str(word) for word in words], options.timeout)
