# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The stores of the global memory beside their rivals: what gam_figures measures by the drivers of stores.

The hash table runs beside PRISM-KV and Redis, over the share of GETs; the transactions beside PRISM-TX and FaRM's protocol,
under TPC-C, over the share of transactions that have something to do with another warehouse.
"""

import contextlib
import itertools
import shutil
import sys

import kv_stores
import tx_stores
from store_figures import Figure, Ratio, free_port, free_ports, markdown_table, median, number, spread, values_of

TABLE, TPCC = "table", "tpcc"
UNIFORM, ZIPFIAN = f"{TABLE}-uniform", f"{TABLE}-zipfian"
FAMILIES = {TABLE: (UNIFORM, ZIPFIAN), TPCC: (TPCC,)}  # meaning of the names of --experiments
TITLES = {
    UNIFORM: "hash table, uniform: requests/s over the GETs",
    ZIPFIAN: "hash table, Zipf 0.99: requests/s over the GETs",
    TPCC: "TPC-C: commits/s over distributed transactions",
}
AXES = {UNIFORM: "% GET", ZIPFIAN: "% GET", TPCC: "% distributed"}
GETS, FEW_GETS = (100, 99, 90, 50, 0), (100, 50)
SHARES, FEW_SHARES = (0, 25, 50, 75, 100), (0, 100)

PROTOCOLS = {"directory": "gam-directory", "latch": "gam-latch"}
RIVALS = {"prism-kv": (TABLE, "prism"), "redis": (TABLE, "redis"), "prism-tx": (TPCC, "prism"), "farm": (TPCC, "farm")}
LINES_OF_AN_ORDER = 10  # on average
QUICK = {"records": 200, "items": 20, "customers": 2, "tpcc_transactions": 20}


def drawn(experiment, name):
    """The system, which has a label and a style."""
    return (tx_stores if experiment == TPCC else kv_stores).SYSTEMS[name]


def beside(experiment, point, what, above, below):
    labels = " / ".join(drawn(experiment, name).label for name in (above, below))
    title = f"{experiment}, {point}{AXES[experiment]}: {labels}"
    return Ratio(title, *(("stores", experiment, str(point), what, name) for name in (above, below)))


RATIOS = tuple(
    beside(experiment, point, "throughput", above, below)
    for experiment, points in ((UNIFORM, GETS), (ZIPFIAN, GETS), (TPCC, SHARES))
    for point in points
    for above, below in (
        *itertools.product(
            reversed(PROTOCOLS.values()), [name for kind, name in RIVALS.values() if experiment in FAMILIES[kind]]
        ),
        ("gam-latch", "gam-directory"),
    )
)


def round_value(report, value, done):
    """Returns the value of one round. None if it was not measured."""
    _, experiment, point, what, name = value
    samples = report["stores"].get(experiment, {}).get(name, {}).get(point)
    return samples[done][what] if samples else None


def systems_of(options, kind, missing):
    """Returns GAM by the measured protocols, and its rivals; reports those not on this machine, and adds them to @p
    missing."""
    names = [gam for protocol, gam in PROTOCOLS.items() if protocol in options.systems]
    for rival in options.rivals:
        its_kind, name = RIVALS[rival]
        if its_kind != kind:
            continue
        if name == "redis" and not shutil.which("redis-server"):
            text = "redis is not measured: redis-server is not installed"
            print(f"gam_figures: {text}", file=sys.stderr)
            missing.append(text)
        else:
            names.append(name)
    return names


def words_of_gam(system, options, *others):
    """Returns the arguments for the driver's nodes alone."""
    return ("--cache", options.store_cache, *others) if system.gam else ()


def kv_sample(results):
    latency = results["latency"]
    return {
        "throughput": results["throughput"],
        "latency": latency["t_typical"],
        "percentile_99": latency["percentile_99"],
        "conflicts": None,
    }


def tx_sample(results):
    return {**kv_sample(results), "conflicts": results["abort_rate"]}


def measure_table(options, samples, missing):
    names = systems_of(options, TABLE, missing)
    gets = FEW_GETS if options.quick else GETS
    fixed = ("--records", options.records, "-s", options.size)
    with contextlib.ExitStack() as stack:
        servers = []
        port = options.port
        for name in names:
            port = free_port(port)
            servers.append(stack.enter_context(kv_stores.server_of(name, options, options.size, port)))
            port += 1
        for server in servers:
            print(f"table: loading {server.name}", file=sys.stderr)
            of_gam = words_of_gam(kv_stores.SYSTEMS[server.name], options)
            kv_stores.run(server, options, *fixed, "-n", 1, *of_gam)
        amount = ("--no-load", "-D", options.duration, "--warm-up", options.warm_up)
        for done in range(options.rounds):
            print(f"table: round {done + 1} of {options.rounds}", file=sys.stderr)
            for experiment, share, server in itertools.product(FAMILIES[TABLE], gets, servers):
                words = (*fixed, *amount, "--seed", done + 1, "--processes", options.store_clients)
                words += ("--read-ratio", share, "--distribution", experiment.removeprefix(f"{TABLE}-"))
                words += words_of_gam(kv_stores.SYSTEMS[server.name], options)
                of_system = samples.setdefault(experiment, {}).setdefault(server.name, {})
                of_system.setdefault(str(share), []).append(kv_sample(kv_stores.run(server, options, *words)))


def distributed(percent):
    """Options of the driver: a payment, or an order of ten lines, needs another warehouse in so many percent."""
    share = percent / 100
    of_lines = 1 - (1 - share) ** (1 / LINES_OF_AN_ORDER)
    return ("--remote-payments", str(share), "--remote-items", f"{of_lines:.6f}")


def measure_tpcc(options, samples, missing):
    """Measures TPC-C. Each round has its own stores, so that the data that transactions add stays within bounds."""
    names = systems_of(options, TPCC, missing)
    shares = FEW_SHARES if options.quick else SHARES
    load = tx_stores.tpcc(options, len(shares) * options.tpcc_transactions + 1)
    clients = ("--threads", str(options.store_clients))
    for done in range(options.rounds):
        print(f"tpcc: round {done + 1} of {options.rounds}", file=sys.stderr)
        ports = free_ports(options.port, len(names))
        with contextlib.ExitStack() as stack:
            stores, of_gam = {}, {}
            for name, port in zip(names, ports):
                system = tx_stores.SYSTEMS[name]
                of_gam[name] = tuple(map(str, words_of_gam(system, options, "--nodes", options.store_clients)))
                stores[name] = stack.enter_context(tx_stores.store_of(name, load, options, [port]))
                tx_stores.run(name, stores[name], load, options, *clients, *of_gam[name], "-n", "1")
            for share, name in itertools.product(shares, names):
                words = (*clients, *of_gam[name], "--no-load", "-n", str(options.tpcc_transactions))
                words += ("--seed", str(done + 2), *distributed(share))
                of_system = samples.setdefault(TPCC, {}).setdefault(name, {})
                results = tx_stores.run(name, stores[name], load, options, *words)
                of_system.setdefault(str(share), []).append(tx_sample(results))


def measure(options, missing):
    """Samples by experiment, system and point (as text, for JSON): a list over the rounds."""
    samples = {}
    if TABLE in options.experiments:
        measure_table(options, samples, missing)
    if TPCC in options.experiments:
        measure_tpcc(options, samples, missing)
    return samples


def draw(report, experiment, path):
    figure = Figure(TITLES[experiment], report, AXES[experiment], "1000/s")
    for name, points in report["stores"][experiment].items():
        system = drawn(experiment, name)
        xs = [float(point) for point in points]
        rates = [[rate / 1e3 for rate in values_of(samples, "throughput")] for samples in points.values()]
        figure.curve_of_samples(xs, rates, system.style, system.label)
    figure.write(path)


COLUMNS = ("a second", "median [usec]", "99% [usec]", "conflicts a commit")


def rows(report, experiment):
    for name, points in report["stores"][experiment].items():
        for point, samples in points.items():
            yield (
                drawn(experiment, name).label,
                point,
                spread(values_of(samples, "throughput"), 0),
                *(number(median(samples, what)) for what in ("latency", "percentile_99", "conflicts")),
            )


def lines_of(report):
    """Yields the lines of the tables' document."""
    kept = report["stores_of"]
    if report["stores"]:
        yield from ("", "## Stores in the global memory, and their rivals", "")
        yield f"{kept['store_clients']} clients, one under way at each; those of GAM are nodes of their own, which cache"
        yield f"{kept['store_cache']:g}% of the store at most. Its memory is on two nodes, which are processes of their own."
        yield f"Hash table: {kept['records']} records of {kept['size']} B. TPC-C: {kept['warehouses']} warehouses,"
        yield f"{kept['items']} items, {kept['customers']} customers a district, {kept['tpcc_transactions']} transactions a run;"
        yield "x% distributed: of payments, and of orders, so many need another warehouse."
        yield from report["missing"]
    for experiment in report["stores"]:
        title = TITLES[experiment][0].upper() + TITLES[experiment][1:]
        yield from ("", f"### {title}", "")
        yield from markdown_table(("system", AXES[experiment], *COLUMNS), rows(report, experiment))


KEPT = ("store_clients", "store_cache", "records", "size", "warehouses", "items", "customers", "tpcc_transactions")


def add_arguments(parser, list_of):
    parser.add_argument(
        "--rivals", type=list_of(str, RIVALS), default=list(RIVALS), help=", ".join(RIVALS) + " (default all)"
    )
    parser.add_argument("--store-clients", type=int, default=2, help="of table and tpcc (default %(default)s)")
    parser.add_argument(
        "--store-cache", type=float, default=15, help="percent of a store that a client's node caches (default %(default)s)"
    )
    parser.add_argument("--records", type=int, default=20000, help="of table (default %(default)s)")
    parser.add_argument("-s", "--size", type=int, default=480, help="of table: bytes a value (default %(default)s)")
    parser.add_argument("--warehouses", type=int, default=2, help="of tpcc (default %(default)s)")
    parser.add_argument("--items", type=int, default=2000, help="of tpcc (default %(default)s)")
    parser.add_argument("--customers", type=int, default=100, help="of tpcc, a district (default %(default)s)")
    parser.add_argument(
        "--tpcc-transactions", type=int, default=1000, help="of tpcc, a run (default %(default)s)"
    )


def settle(options):
    """Sets the options of the stores' modules that users do not give."""
    options.shards = 1
    runs = options.rounds * 4 * (len(GETS) * 2 + len(SHARES) + 2)
    options.server_limit = int(runs * options.timeout)
