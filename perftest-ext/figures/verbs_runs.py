# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs of the measuring tools over the paths of packets, for ib_prism_ratios and prism_figures."""

import dataclasses
import glob
import ipaddress
import os
import re
import shutil

from measuring import HERE, Server, ToolError, call, free_port, results_of

# UDP payloads of one READ on the wire: the echo is measured with packets of the same sizes.
READ_REQUEST = 32  # BTH, RETH, ICRC
READ_RESPONSE_OVERHEAD = 28  # BTH, AETH, RDETH, ICRC

UDP, LOCAL, KERNEL = "udp", "local", "kernel"
PATHS = {UDP: "UDP", LOCAL: "shared memory", KERNEL: "kernel device"}

LOOPBACK_DEVICE = "prism_lo"


class Unavailable(Exception):
    """Something that this machine or this build does not have; the text names it."""


def own(program):
    """Returns the path of a program of this project."""
    return os.path.join(HERE, program)


def need(program, package):
    """Returns the path of a program of another project."""
    found = shutil.which(program)
    if not found:
        raise Unavailable(f"{program} is not installed (package {package})")
    return found


def kernel_devices():
    return sorted(os.path.basename(path) for path in glob.glob("/sys/class/infiniband/prism*"))


def gid_index(device, address):
    """Returns the index of a kernel device's GID for the address."""
    wanted = ipaddress.ip_address(address)
    folder = f"/sys/class/infiniband/{device}/ports/1/gids"
    for index in range(64):
        try:
            with open(f"{folder}/{index}", encoding="ascii") as file:
                gid = ipaddress.IPv6Address(file.read().strip())
        except (OSError, ValueError):
            continue
        if wanted in (gid, gid.ipv4_mapped):
            return index
    raise Unavailable(f"device {device} has no GID of {address}")


@dataclasses.dataclass(frozen=True)
class Ends:
    """Places of server and client: the prefixes of their commands, and the server's address for the client."""

    host: str = "127.0.0.1"
    server: tuple = ()
    client: tuple = ()
    server_device: str = ""  # named by the tools' -d; empty: that of the host's interface
    client_device: str = ""
    server_environment: tuple = ()
    client_environment: tuple = ()


class Runner:
    """Runs pairs of a server and a client, each pair on a port of its own."""

    def __init__(self, port, timeout):
        self.port, self.timeout = port, timeout

    def next_port(self):
        port = free_port(self.port)
        # The next pair must not meet leftovers of the last one.
        self.port = port + 1
        return port

    def pair(self, name, ends, server, client, run):
        """@p server and @p client return commands for a port. @p run takes the client's; returns its result."""
        port = self.next_port()
        limit = int(self.timeout) + 30
        environment = dict(ends.server_environment)
        with Server(name, server(port), [port], limit, environment, ends.server) as started:
            result = run([*ends.client, *client(port)])
            started.wait_until_ended()
        return result


class PathRuns:
    """Runs on one path."""

    def __init__(self, path, runner, ends=Ends()):
        self.path, self.runner = path, runner
        self.ends = dataclasses.replace(
            ends,
            server_environment=(*ends.server_environment, *self.environment()),
            client_environment=(*ends.client_environment, *self.environment()),
        )

    @classmethod
    def check(cls, path, runner, ends):
        """Raises Unavailable if nothing can run on the path here."""
        if path == KERNEL and not ends.client_device and not kernel_devices():
            raise Unavailable("no device of the kernel module is here")
        if path == LOCAL:
            traffic = cls(path, runner, ends).tool("ib_prism_read_lat", "-n", "5", checked=False)[0]["traffic"] or {}
            if "local_tx_packets" not in traffic:
                raise Unavailable("this build has no path by shared memory")
            if not traffic["local_tx_packets"]:
                raise Unavailable("two processes here do not reach each other by shared memory")

    def environment(self):
        """Returns the environment that makes every program, also under prism-run, take the path."""
        return {UDP: (("PRISM_LOCAL", "0"),), LOCAL: (("PRISM_LOCAL", "1"),)}.get(self.path, ())

    def check_path(self, program, results):
        """Checks that the results are of this path: a figure of a wrong one would be worse than none."""
        for row in results:
            by_memory = (row["traffic"] or {}).get("local_tx_packets", 0) > 0
            if self.path in (UDP, LOCAL) and by_memory != (self.path == LOCAL):
                raise ToolError(f"{program} was to run on the path {self.path}, and did not")

    def tool(self, program, *arguments, checked=True):
        """Returns the results of an ib_prism_ tool: a list with an object for each contestant."""

        def command(port, device):
            words = [own(program), "-p", str(port)]
            return words + (["-d", device] if device else [])

        def run(words):
            environment = dict(self.ends.client_environment)
            return results_of([*words, self.ends.host], self.runner.timeout, "--out_json_file", environment)

        results = self.runner.pair(
            program,
            self.ends,
            lambda port: command(port, self.ends.server_device),
            lambda port: [*command(port, self.ends.client_device), *arguments],
            run,
        )
        results = results if isinstance(results, list) else [results]
        if checked:
            self.check_path(program, results)
        return results

    def echo(self, *arguments):
        """Returns the results of ib_prism_floor, which knows no path."""
        results = self.runner.pair(
            "ib_prism_floor",
            self.ends,
            lambda port: [own("ib_prism_floor"), "-p", str(port)],
            lambda port: [own("ib_prism_floor"), "-p", str(port), *arguments],
            lambda words: results_of([*words, self.ends.host], self.runner.timeout, "--out_json_file"),
        )
        return results[0] if isinstance(results, list) else results

    def line(self):
        """Returns the nanoseconds that a cache line takes from one processor to another."""
        return results_of([own("ib_prism_floor"), "--line"], self.runner.timeout, "--out_json_file")["line_ns"]

    def launcher(self, device):
        """Returns the launcher for programs that do not know the userspace device."""
        program = own("prism-run")
        if not os.access(program, os.X_OK):
            raise Unavailable("prism-run is not built")
        return [program, f"--device={device}"]

    def send_lat(self, size, iterations):
        """Returns the usec of a SEND and a SEND that answers it: perftest's ib_send_lat, where both sides poll."""
        program = need("ib_send_lat", "perftest")

        def command(port, device):
            words = [program, "-F", "-p", str(port), "-s", str(size), "-n", str(iterations)]
            if self.path == KERNEL:
                device = device or kernel_devices()[0]
                return [*words, "-d", device, "-x", str(gid_index(device, self.ends.host))]
            device = device or LOOPBACK_DEVICE
            return [*self.launcher(device), *words, "-d", device, "-x", "0"]

        output = self.runner.pair(
            "ib_send_lat",
            self.ends,
            lambda port: command(port, self.ends.server_device),
            lambda port: command(port, self.ends.client_device),
            lambda words: call([*words, self.ends.host], self.runner.timeout, dict(self.ends.client_environment)),
        )
        row = re.search(rf"^ *{size} +\d+ +[\d.]+ +[\d.]+ +([\d.]+)", output, re.MULTILINE)
        if not row:
            raise ToolError(f"ib_send_lat printed no figures:\n{output}")
        return 2 * float(row.group(1))


def contestants(results):
    """Returns the results by the contestant's name."""
    return {row["contestant"]: row for row in results}


def choose_paths(wanted, runner, ends, report_missing):
    """Returns the available ones of @p wanted; if it is None, all available ones except the kernel's."""
    chosen = []
    for path in wanted or (UDP, LOCAL):
        try:
            PathRuns.check(path, runner, ends)
        except Unavailable as missing:
            report_missing(PATHS[path], missing)
        else:
            chosen.append(path)
    return chosen
