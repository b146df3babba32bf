# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Two hosts for as long as they are needed: network namespaces without names, joined by veth, with a delay each way.

netem makes the delay. Where the kernel has no netem, a BPF program at both interfaces makes the sender wait, in a busy
loop. That is as exact as the clock, and right for one packet at a time. Acknowledgements pass at once, or the reply
behind them would wait for their delay, too.

As a program, delayed_network.py INTERFACE NANOSECONDS delays the interface's packets until its standard input ends.
"""

import contextlib
import ctypes
import os
import socket
import struct
import subprocess
import sys

INTERFACES = ("prismveth0", "prismveth1")
ADDRESSES = ("10.99.0.1", "10.99.0.2")
PREFIX = 24


class NoNetwork(Exception):
    """No such network is possible here; the text gives the reason."""


def checked(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNetwork(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")


class Namespace:
    """A network namespace that lives as long as the process in it."""

    def __init__(self, within=()):
        new_user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
        self.user = bool(new_user) or (bool(within) and "-U" in within)
        # Reports that it runs, then waits for the end of its standard input.
        command = [*within, "unshare", *(() if within else new_user), "--net", "sh", "-c", "echo there; exec cat"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if self.process.stdout.readline() != "there\n":
            self.process.wait()
            raise NoNetwork(f"no network namespace: {self.process.stderr.read().strip()}")

    def enter(self):
        """Returns the prefix of a command that is to run there."""
        words = ("nsenter", "-t", str(self.process.pid), "-n")
        return (*words, "-U", "--preserve-credentials") if self.user else words

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Network:
    """Two namespaces and the pair of interfaces between them; both ends delay what they send."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.delays = contextlib.ExitStack()
        self.method = None

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.stack.close()
            raise
        return self

    def build(self):
        try:
            first = Namespace()
            self.stack.callback(first.close)
            second = Namespace(first.enter())
            self.stack.callback(second.close)
        except OSError as error:
            raise NoNetwork(f"{error.filename}: {error.strerror}") from error
        self.namespaces = (first, second)
        for namespace in self.namespaces:
            # One address each, so that a device has one GID
            checked([*namespace.enter(), "sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 || true"])
        add = ["ip", "link", "add", INTERFACES[0], "type", "veth", "peer", "name", INTERFACES[1]]
        checked([*first.enter(), *add, "netns", str(second.process.pid)])
        for namespace, interface, address in zip(self.namespaces, INTERFACES, ADDRESSES):
            checked([*namespace.enter(), "ip", "link", "set", "lo", "up"])
            checked([*namespace.enter(), "ip", "address", "add", f"{address}/{PREFIX}", "dev", interface])
            checked([*namespace.enter(), "ip", "link", "set", interface, "up"])

    def __exit__(self, *_):
        self.delays.close()
        self.stack.close()

    def delay(self, usec):
        """Sets the delay each way; 0 for none. Measure the real one: clocks and timers add their own."""
        self.delays.close()
        if usec:
            self.by_netem(usec) if self.choose_method() == "netem" else self.by_spinning(usec)

    def choose_method(self):
        """Returns netem if this kernel has it, else "bpf". Raises NoNetwork if BPF programs cannot be loaded."""
        if not self.method:
            try:
                self.by_netem(1)
                self.method = "netem"
            except NoNetwork as no_netem:
                self.delays.close()
                try:
                    self.by_spinning(1)
                    self.method = "bpf"
                except NoNetwork as no_bpf:
                    raise NoNetwork(f"nothing delays packets here: {no_netem}; {no_bpf}") from no_bpf
            finally:
                self.delays.close()
        return self.method

    def by_netem(self, usec):
        for namespace, interface in zip(self.namespaces, INTERFACES):
            where = [*namespace.enter(), "tc", "qdisc"]
            checked([*where, "add", "dev", interface, "root", "netem", "delay", f"{usec:g}us", "limit", "10000"])
            self.delays.callback(checked, [*where, "del", "dev", interface, "root"])

    def by_spinning(self, usec):
        for namespace, interface in zip(self.namespaces, INTERFACES):
            command = [*namespace.enter(), sys.executable, "-B", os.path.realpath(__file__), interface]
            process = subprocess.Popen(
                [*command, str(round(usec * 1000))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.delays.callback(process.communicate)
            if process.stdout.readline() != "delaying\n":
                raise NoNetwork(process.communicate()[1].strip() or "the BPF program does not start")


# The BPF program. Opcodes and structures: linux/bpf.h.
SYSCALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280}
PROG_LOAD, LINK_CREATE = 5, 28
SCHED_CLS, TCX_EGRESS = 3, 47
TCX_NEXT = -1
KTIME_GET_NS = 5
ACKNOWLEDGEMENT = 64  # bytes of a frame that carries BTH, AETH and ICRC, at most
MOST_LOOKS = 8000  # at the clock, of some 20 ns each; the verifier accepts little more


def instruction(opcode, target=0, source=0, offset=0, value=0):
    return struct.pack("<BBhi", opcode, target | source << 4, offset, value)


def delaying_program(nanoseconds):
    """Returns a program that waits: if (length > ACKNOWLEDGEMENT) while (now < end && looks++ < most) ;"""
    load_word, move_value, move, add = 0x61, 0xB7, 0xBF, 0x07
    call_helper, leave, jump_less_equal, jump_greater_equal, jump_less = 0x85, 0x95, 0xB5, 0x3D, 0xA5
    return b"".join(
        (
            instruction(load_word, 2, 1, 0),  # __sk_buff.len
            instruction(jump_less_equal, 2, offset=8, value=ACKNOWLEDGEMENT),
            instruction(call_helper, value=KTIME_GET_NS),
            instruction(move, 7, 0),
            instruction(add, 7, value=nanoseconds),
            instruction(move_value, 8),
            instruction(call_helper, value=KTIME_GET_NS),
            instruction(jump_greater_equal, 0, 7, offset=2),
            instruction(add, 8, value=1),
            instruction(jump_less, 8, offset=-4, value=MOST_LOOKS),
            instruction(move_value, 0, value=TCX_NEXT),
            instruction(leave),
        )
    )


def bpf(command, attributes):
    machine = os.uname().machine
    if machine not in SYSCALLS:
        raise NoNetwork(f"the number of bpf(2) is not known for {machine}")
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    result = libc.syscall(SYSCALLS[machine], command, buffer, len(attributes))
    if result < 0:
        raise NoNetwork(f"bpf(2): {os.strerror(ctypes.get_errno())}")
    return result


def attach_delay(interface, nanoseconds):
    """Returns a descriptor; the delay ends when it is closed."""
    if not 0 < nanoseconds < 1 << 31:
        raise NoNetwork(f"a delay of {nanoseconds} ns")
    code = delaying_program(nanoseconds)
    text, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
    addresses = ctypes.addressof(text), ctypes.addressof(licence)
    program = bpf(PROG_LOAD, struct.pack("<IIQQIIQII", SCHED_CLS, len(code) // 8, *addresses, 0, 0, 0, 0, 0))
    index = socket.if_nametoindex(interface)
    return bpf(LINK_CREATE, struct.pack("<IIIIIIQ", program, index, TCX_EGRESS, 0, 0, 0, 0))


def main():
    try:
        attach_delay(sys.argv[1], int(sys.argv[2]))
    except (NoNetwork, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("delaying", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
