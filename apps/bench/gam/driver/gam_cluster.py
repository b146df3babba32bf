# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A global memory for stores that are measured: its master, and nodes that lend."""

import contextlib
import os
import time

from store_figures import HERE, Server, ToolError, free_ports

NODES = 2
LEASE = 10  # seconds: processors are for what is measured
LEAST_MEMORY = 8  # MiB of a node


def await_ready(server):
    """Waits until the server's output says that it has joined; it listens earlier."""
    deadline = time.monotonic() + 15
    while b", port " not in os.pread(server.log.fileno(), 65536, 0):
        if time.monotonic() > deadline:
            raise ToolError(f"{server.name} is not ready")
        time.sleep(0.02)


class GamCluster:
    """As a Server: with a name and ports, the first of which is the master's."""

    def __init__(self, name, protocol, memory, options, nodes=NODES):
        """@p memory: least bytes that all nodes lend together."""
        self.name, self.protocol, self.nodes, self.options = name, protocol, nodes, options
        self.memory = memory * 5 // (4 * nodes) // 2**20 + LEAST_MEMORY  # MiB of a node; hashing is not even
        self.ports = free_ports(options.port + 1000, 1 + nodes)  # beside those of other stores
        self.servers = contextlib.ExitStack()

    def __enter__(self):
        try:
            self.start("master", 0, "prism-gam-master", "--address", "127.0.0.1", "--lease", LEASE)
            lend = ("-m", self.master, "--protocol", self.protocol, "--memory", self.memory)
            device = ("-d", self.options.device) if self.options.device else ()
            for node in range(self.nodes):
                await_ready(self.start(f"node {node}", node + 1, "prism-gam-node", *lend, *device))
        except BaseException:
            self.servers.close()
            raise
        return self

    def __exit__(self, *_):
        self.servers.close()

    @property
    def master(self):
        return f"127.0.0.1:{self.ports[0]}"

    def start(self, what, number, program, *arguments):
        port = self.ports[number]
        command = [os.path.join(HERE, program), "-p", str(port), *map(str, arguments)]
        return self.servers.enter_context(Server(f"{self.name}, {what}", command, [port], self.options.server_limit))
