# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Common part of the programs that measure in interleaved rounds: servers, ratios, tables, figures, JSON."""

import argparse
import contextlib
import ctypes
import dataclasses
import errno
import json
import os
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

matplotlib = pyplot = None  # load_matplotlib()
report_file = None  # read_json()

LIBC = ctypes.CDLL(None)
PROGRAM = os.path.basename(sys.argv[0])
HERE = os.path.dirname(os.path.realpath(sys.argv[0]))  # folder of the programs
SPDX = "GPL-2.0 OR Linux-OpenIB"


class ToolError(Exception):
    """A program failed; the text names it and has its output."""


ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
ended_by = None  # the signal


class Ended(BaseException):
    """A signal ends this program. What it has started ends as this unwinds."""


def end_by(number, _):
    """Handles a signal. Further ones must not interrupt the unwinding. Python loses what destructors raise: so again."""
    global ended_by
    for other in ENDING:
        signal.signal(other, lambda *_: None)
    ended_by = ended_by or number
    signal.signal(signal.SIGALRM, end_by)
    signal.alarm(10)
    raise Ended


def end_with_parent():
    """Has the kernel end this child with its parent, even if that is killed."""
    LIBC.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Parser(argparse.ArgumentParser):
    """Parser whose --help fails if it cannot be written; argparse's own ends with 0."""

    def print_help(self, file=None):
        print(self.format_help(), end="", file=file)


def run_main(main):
    """Ends the program with what main() returns, with 1 and a sentence if it or writing its output fails, or by a signal."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, end_by)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # else print() takes the standard output
    try:
        try:
            if not sys.stdout:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            status = main()
        except SystemExit as end:  # --help, or arguments that are wrong
            status = end.code
        sys.stdout.flush()
    except Ended:
        end_by_signal()
    except Exception as error:
        if ended_by:  # what it had started ended sooner
            end_by_signal()
        why = error
        if isinstance(error, OSError):
            if not error.filename and error.errno in (errno.EBADF, errno.ENOSPC, errno.EPIPE):
                why = f"cannot write to the standard output: {error.strerror}"
        elif not isinstance(error, ToolError):
            if not report_file:
                raise
            why = f"{report_file}: not what {PROGRAM} writes ({error}); name the JSON file of an earlier run"
        print(f"{PROGRAM}: {why}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what Python still writes at its end
        status = 1
    if ended_by:  # something has made another exception of it, as an import does
        end_by_signal()
    sys.exit(status)


def end_by_signal():
    signal.signal(ended_by, signal.SIG_DFL)
    os.kill(os.getpid(), ended_by)


def load_matplotlib():
    """Loads matplotlib; called before any measurement, by programs that will draw."""
    global matplotlib, pyplot
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError:
        sys.exit(f"{PROGRAM}: no matplotlib for {sys.executable}; install the package python3-matplotlib")
    matplotlib.use("agg")


def free_port(first):
    for port in range(first, first + 200):
        with socket.socket(socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ToolError(f"no free TCP port from {first} on; choose others with --port")


def free_ports(first, count):
    ports = []
    for _ in range(count):
        ports.append(free_port(ports[-1] + 1 if ports else first))
    return ports


def is_listening(port, pid="self"):
    """Returns True if the port is open in that process's network. Does not connect, as a client would."""
    wanted = f"{port:04X}"
    for table in (f"/proc/{pid}/net/tcp", f"/proc/{pid}/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                rows = [line.split() for line in file]
        except OSError:
            continue
        if any(row[1].endswith(":" + wanted) and row[3] == "0A" for row in rows[1:]):
            return True
    return False


class Server:
    """A running server. It ends with the context, or by itself when it has run for far too long."""

    def __init__(self, name, command, ports, limit, environment=None, prefix=()):
        """@p prefix moves a command into another network. It comes first, so that the process is there, too."""
        self.name, self.ports = name, ports
        self.command = [*prefix, "timeout", "-k", "5", str(limit), *command]
        self.environment = {**os.environ, **(environment or {})}
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = None
        self.paused = False

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            preexec_fn=end_with_parent,
        )
        try:
            self.wait_until_listening()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def pause(self):
        """Stops the server: it then takes no processor time. timeout(1) leads a process group with its command."""
        self.paused = True
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)
        self.paused = False

    @contextlib.contextmanager
    def alone(self):
        """Runs this one of several paused servers: even idle ones look for work now and then."""
        self.go_on()
        try:
            yield
        finally:
            self.pause()

    def stop(self):
        if self.process.poll() is None:
            if self.paused:
                self.go_on()
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.log.close()

    def wait_until_ended(self, timeout=10):
        """Waits for a server that serves one client and then ends by itself; it must succeed."""
        try:
            code = self.process.wait(timeout=timeout)
        except subprocess.TimeoutExpired as expired:
            raise ToolError(f"{self.name}: the server goes on after its client has ended") from expired
        if code:
            self.log.seek(0)
            raise ToolError(f"{' '.join(self.command)}: exit code {code}\n{self.log.read()}")

    def wait_until_listening(self):
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.log.seek(0)
                raise ToolError(f"{' '.join(self.command)} ended early:\n{self.log.read()}")
            if all(is_listening(port, self.process.pid) for port in self.ports):
                return
            time.sleep(0.02)
        raise ToolError(f"the server of {self.name} does not listen on TCP port {', '.join(map(str, self.ports))}")


def call(command, timeout, environment=None, hint="; see --timeout"):
    """Runs a program that must succeed; returns its output. timeout(1) ends all in its process group with it."""
    begun = time.monotonic()
    with subprocess.Popen(
        ["timeout", "-k", "5", str(timeout), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
        preexec_fn=end_with_parent,
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout + 10)
        except subprocess.TimeoutExpired as expired:
            process.terminate()
            raise ToolError(f"{' '.join(command)}: not done within {timeout} s{hint}") from expired
        except BaseException:
            process.terminate()
            raise
    if process.returncode in (124, 137, -signal.SIGKILL) and time.monotonic() - begun >= timeout:
        raise ToolError(f"{' '.join(command)}: not done within {timeout} s{hint}\n{errors}{output}")
    if process.returncode:
        raise ToolError(f"{' '.join(command)}: exit code {process.returncode}\n{errors}{output}")
    return output


def report_of(command, timeout, option="--json", environment=None):
    """Runs a program that writes a report as JSON; returns the report."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        call([*command, f"{option}={report}"], timeout, environment)
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def results_of(*arguments, **options):
    """Runs a program as report_of() does; returns the report's results."""
    return report_of(*arguments, **options)["results"]


def values_of(samples, key):
    return [sample[key] for sample in samples if sample.get(key) is not None]


def median(samples, key):
    values = values_of(samples, key)
    return statistics.median(values) if values else None


def quartiles(values):
    """Returns the first and the third quartile."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def spread(values, digits=2):
    """Returns the median and, in brackets, the quartiles."""
    if not values:
        return "-"
    middle = number(statistics.median(values), digits)
    if len(values) < 2:
        return middle
    low, high = quartiles(values)
    return f"{middle} [{number(low, digits)}..{number(high, digits)}]"


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A ratio of two values of one round. Each program's round_value() defines the values."""

    title: str
    above: tuple
    below: tuple
    goal: float = None
    at_least: bool = True  # else at most
    paper: str = "-"

    def of_rounds(self, report, round_value):
        ratios = []
        for done in range(report["rounds"]):
            above, below = (round_value(report, value, done) for value in (self.above, self.below))
            if above is not None and below:
                ratios.append(above / below)
        return ratios

    def row(self, report, round_value):
        """Returns title, ratio with its quartiles, goal, if it is reached, the paper's ratio."""
        ratios = self.of_rounds(report, round_value)
        if self.goal is None:
            return self.title, spread(ratios), "-", "-", self.paper
        reached = statistics.median(ratios)
        verdict = "yes" if (reached >= self.goal if self.at_least else reached <= self.goal) else "no"
        goal = f"{'at least' if self.at_least else 'at most'} {self.goal:g}"
        return self.title, spread(ratios), goal, verdict, self.paper


RATIO_HEADER = ("ratio", "median [quartiles] of the rounds", "goal", "reached", "the paper")


def ratio_rows(ratios, report, round_value):
    """Returns the rows of ratios whose two values were measured."""
    return [ratio.row(report, round_value) for ratio in ratios if ratio.of_rounds(report, round_value)]


def print_ratios(ratios, report, round_value):
    for title, value, goal, verdict, paper in ratio_rows(ratios, report, round_value):
        print(f"{title:<64}{value:>22}   goal: {goal}, reached: {verdict}; paper: {paper}")


def command_line():
    """Returns the command line of this program, without the places of the results."""
    words, skip = [PROGRAM], False
    for word in sys.argv[1:]:
        if not skip and not word.startswith(("--out=", "--redraw=")) and word not in ("--out", "--redraw"):
            words.append(word)
        skip = word in ("--out", "--redraw")
    return shlex.join(words)


class Figure:
    """Curves in one pair of axes. The same data gives the same file."""

    def __init__(self, title, report, x_label, y_label, width=6.4):
        title += f"\nservers and clients share the {report['cores']} cores of one host"
        self.figure, self.axes = pyplot.subplots(figsize=(width, 4.4), layout="constrained")
        self.axes.set_title(title, fontsize=10)
        self.axes.set_xlabel(x_label)
        self.axes.set_ylabel(y_label)
        self.bar_labels = []

    @staticmethod
    def errors(samples):
        """Returns the distances of the quartiles from the median, in matplotlib's form."""
        bounds = [(statistics.median(values), *quartiles(values)) for values in samples]
        return [[middle - low for middle, low, _ in bounds], [high - middle for middle, _, high in bounds]]

    def curve_of_samples(self, xs, samples, style, label):
        """Draws the median of the samples at each point, and a line from quartile to quartile."""
        medians = [statistics.median(values) for values in samples]
        self.axes.errorbar(
            xs, medians, self.errors(samples), fmt=style, label=label, markersize=5, capsize=3, elinewidth=1
        )

    def bars_of_samples(self, names, series):
        """Draws one group of bars for each name. @p series: label, colour, and samples (or None) for each name."""
        width = 0.8 / len(series)
        for place, (label, colour, samples) in enumerate(series):
            there = [i for i, values in enumerate(samples) if values]
            xs = [i + (place - (len(series) - 1) / 2) * width for i in there]
            of_bars = [samples[i] for i in there]
            medians = [statistics.median(values) for values in of_bars]
            drawn = self.axes.bar(
                xs, medians, width, yerr=self.errors(of_bars), color=colour, label=label, capsize=2, error_kw={"elinewidth": 1}
            )
            self.axes.bar_label(drawn, [f"{middle:.3g}" for middle in medians], fontsize=6)
        self.axes.legend()
        self.axes.tick_params(axis="x", labelsize=7, rotation=30)
        self.bar_labels = list(names)

    def curve(self, xs, ys, style, label, marks=()):
        """@p marks are written beside the points."""
        self.axes.plot(xs, ys, style, label=label, markersize=5)
        for mark, x, y in zip(marks, xs, ys):
            self.axes.annotate(mark, (x, y), textcoords="offset points", xytext=(4, 4), fontsize=7)

    def bar(self, label, y, color, mark):
        """Draws one bar beside the others; @p mark is written above it."""
        drawn = self.axes.bar(len(self.bar_labels), y, 0.6, color=color)
        self.axes.bar_label(drawn, [mark], fontsize=8)
        self.bar_labels.append(label.replace(", ", ",\n"))

    def write(self, path):
        if self.bar_labels:
            self.axes.set_xticks(range(len(self.bar_labels)), self.bar_labels)
        else:
            self.axes.set_xlim(left=0)
            self.axes.legend()
        self.axes.set_ylim(bottom=0)
        self.axes.grid(alpha=0.3, axis="y" if self.bar_labels else "both")
        save_figure(self.figure, path)


@contextlib.contextmanager
def writing(path):
    """Tells the file if writing it fails: of Python's errors, only those of open() do."""
    try:
        yield
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror or error}") from error


def save_figure(figure, path):
    with writing(path):
        figure.savefig(path, dpi=120, metadata={"Software": None, "Copyright": f"SPDX-License-Identifier: {SPDX}"})
    pyplot.close(figure)


def write_lines(lines, path):
    with writing(path), open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def parts_of(value):
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def is_flat(value):
    return not any(parts_of(part) for part in parts_of(value))


def as_lines(value, indent="", is_sample=False):
    """Returns JSON with a line for each sample, an element of a list, and each other object or list without one."""
    if is_flat(value) or (is_sample and all(map(is_flat, parts_of(value)))):
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key)}: {as_lines(part, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + as_lines(part, inner, True) for part in value) + f"\n{indent}]"


def rounded(value):
    """Returns the value with six digits, more than a clock gives."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list) else value


def write_json(report, path):
    write_lines([as_lines(report)], path)


def read_json(path, names_program=True):
    """Reads a file of an earlier run, which a user has named. run_main() tells if it has another shape than that."""
    global report_file
    with open(path, encoding="utf-8", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not os.path.isfile(file.fileno()):
            raise ToolError(f"{path}: it is no regular file; copy what it gives into one, and name that")
        report_file = path
        report = json.load(file)
    if names_program and report["command"].split()[0] != PROGRAM:
        raise ValueError(f"but what {report['command'].split()[0]} does")
    return report


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def add_output_arguments(parser, default):
    """Adds the options that choose samples and results. @p default: folder of what is measured, as --help names it."""
    parser.add_argument("--out", metavar="FOLDER", help=f"(default {default}; with --redraw, the folder of FILE)")
    parser.add_argument("--redraw", metavar="FILE", help="draw what an earlier run wrote, measure nothing")


def output_folder(options, default):
    """Returns the folder for the results: beside the samples if those are drawn again, unless the user names one."""
    beside = os.path.dirname(options.redraw) or "." if options.redraw else default
    return options.out or beside


def drawn_by(samples):
    """Returns a report's line on its figures, which need not be kept. @p samples: name of the file beside the report."""
    return f"`{PROGRAM} --redraw {samples}` draws the figures beside this page."


def markdown_table(header, rows):
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def list_of(convert, allowed=None):
    """Returns a converter for argparse, for values separated by commas."""

    def parse(text):
        values = [convert(part) for part in text.split(",")]
        for value in values:
            if allowed is not None and value not in allowed:
                raise argparse.ArgumentTypeError(f"{value}: choose from {', '.join(allowed)}")
        return list(dict.fromkeys(values))

    return parse
