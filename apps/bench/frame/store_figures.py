# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The part that kv_figures, rs_figures and tx_figures share: runs of the drivers of stores, and their presentation."""

import os

# The part that other programs that measure share, too: programs that draw stores import all of it from here.
from measuring import (  # noqa: F401
    HERE,
    RATIO_HEADER,
    SPDX,
    Figure,
    Parser,
    Ratio,
    Server,
    ToolError,
    add_output_arguments,
    call,
    command_line,
    drawn_by,
    free_port,
    free_ports,
    list_of,
    load_matplotlib,
    markdown_table,
    median,
    number,
    output_folder,
    print_ratios,
    ratio_rows,
    read_json,
    results_of,
    rounded,
    run_main,
    spread,
    values_of,
    write_json,
    write_lines,
)


def drive(arguments, timeout, program="prism-ycsb"):
    """Runs a driver once; returns the results of its JSON report."""
    return results_of([os.path.join(HERE, program), *arguments], timeout)


TRAFFIC = ("tx_packets", "tx_trains", "tx_bytes", "rx_packets", "rx_trains", "rx_bytes")  # of a request, at the clients


def traffic_of(results):
    return {key: (results["traffic"] or {}).get(key) for key in TRAFFIC}


TRAFFIC_HEADER = ("packets sent (in trains), bytes", "received (in trains), bytes")
TRAFFIC_NOTE = (
    "Packets are those of a request, at the client, acknowledgements included. A train is what one system call sends or",
    "takes. Bytes are those of the packets from BTH to ICRC.",
)


def traffic_cells(samples):
    """Two cells of a table."""
    cells = []
    for direction in ("tx", "rx"):
        packets, trains, size = (median(samples, f"{direction}_{what}") for what in ("packets", "trains", "bytes"))
        cells.append("-" if packets is None else f"{packets:.2f} ({trains:.2f}), {number(size, 0)}")
    return tuple(cells)


def sample_of(results):
    """Returns the values that are kept of one run."""
    by_request = results["latency_by_request"]
    return {
        **traffic_of(results),
        "throughput": results["throughput"],
        "latency": results["latency"]["t_typical"],
        "mean": results["latency"]["t_avg"],
        "percentile_99": results["latency"]["percentile_99"],
        "read": by_request.get("read", {}).get("t_typical"),
        "read_mean": by_request.get("read", {}).get("t_avg"),
        "update": by_request.get("update", {}).get("t_typical"),
        "update_mean": by_request.get("update", {}).get("t_avg"),
        "get_share_1_round_trip": results["get"]["share_1_round_trip"],
        "put_share_1_round_trip": results["put"]["share_1_round_trip"],
    }


def written_by(report, *what):
    """Returns the first lines of a table: its origin, and what its servers and clients share."""
    return [
        f"Written by `{report['command']}`: {report['rounds']} interleaved rounds of {report['duration']:g} s;",
        "medians, and in brackets the quartiles. " + " ".join(what),
        f"Servers and clients are on one host and share its {report['cores']} cores; their verbs go "
        f"{PATHS[report['path']]}.",
    ]


def draw_latency_over_throughput(path, title, report, curves):
    """@p curves: (label, style, samples by number of clients)."""
    figure = Figure(title, report, "throughput [1000 requests/s]", "median latency [usec]")
    for label, style, points in curves:
        counts = sorted(points, key=int)
        xs = [median(points[count], "throughput") / 1e3 for count in counts]
        ys = [median(points[count], "latency") for count in counts]
        figure.curve(xs, ys, style, label, counts)
    figure.write(path)


PATHS = {"local": "by shared memory", "udp": "by UDP over loopback"}


def add_run_arguments(parser):
    """Adds the arguments of all programs that draw a driver's results."""
    parser.add_argument("--path", choices=PATHS, default="local", help="between the processes (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="(default %(default)s)")
    parser.add_argument("-D", "--duration", type=float, default=0.5, help="seconds of a run (default %(default)s)")
    parser.add_argument("--warm-up", type=float, default=0.2, help="seconds before it (default %(default)s)")
    parser.add_argument("-d", "--ib-dev", dest="device", help="device of both sides (default: that of the loopback)")
    parser.add_argument("-p", "--port", type=int, default=19515, help="first TCP port to try (default %(default)s)")
    parser.add_argument("--timeout", type=float, default=120, help="of one run, seconds (default %(default)s)")
    add_output_arguments(parser, "docs/figures/ and the path")


def add_common_arguments(parser, records):
    add_run_arguments(parser)
    parser.add_argument("--records", type=int, default=records, help="(default %(default)s)")
    parser.add_argument("-s", "--size", type=int, default=512, help="bytes a value (default %(default)s)")


def parse_common_arguments(parser):
    """Parses the arguments. Servers and drivers inherit the path, as their devices look for it."""
    options = parser.parse_args()
    options.out = output_folder(options, os.path.join("docs/figures", options.path))
    os.environ["PRISM_LOCAL"] = "1" if options.path == "local" else "0"
    return options
