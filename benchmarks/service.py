"""Load on the curator's service: ``python -m benchmarks.service [--quick] [--only ...] [-o FILE]``.

Real server processes on loopback, a client process on the same machine, reports acknowledged after their commit. Every
round measures the bare handler (:mod:`benchmarks.bare`), which reads the same bodies and does nothing, and the service,
one right after the other: the figures are medians of their ratios, so that other work on the machine hits both.
``--page FILE`` writes the table into a page of the documentation, between two marks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from benchmarks.contention import Watch
from benchmarks.load import make_task
from benchmarks.servers import Server, bare, can_hold, environment, hold, postgres, service
from benchmarks.timing import Row

RESULTS = Path(__file__).parent / "results" / "service.json"
DEPTH = 6
SINGLE = {"count": 10_000, "size": 1, "connections": 64}
BATCH = {"count": 5_000, "size": 100, "connections": 16}  # some scrubbings long, so that a percentile of it is one
# For one server and for two alike: so many connections that each server always has something to commit, for each of
# them waits for its answer. By hand.
MANY_SINGLE = {"count": 20_000, "size": 1, "connections": 256}
MANY_BATCH = {"count": 10_000, "size": 100, "connections": 192}
_HELD = 0.5  # of a core for each of two servers, so that two cores hold client and database too; by hand
_SETTLE = 2.5  # seconds: two turns of aggregation
_REST = 5.0  # seconds: what waits is added up, and the turn after that scrubs, also beside other work
PLANS = ("sqlite", "postgres", "two", "memory")


def publish(server: Server) -> None:
    """Publish the task that the client answers."""
    words = {"purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    server.control("/v1/tasks", {"task": make_task(DEPTH).to_dict(), **words})


def load(servers: list[Server], count: int, size: int, connections: int) -> dict[str, float]:
    """Return requests a second, the 99th percentile of their times, and the CPU of the client, which sees them."""
    ports = ",".join(str(server.port) for server in servers)
    numbers = [str(v) for v in (count, size, connections, DEPTH)]
    command = [sys.executable, "-m", "benchmarks.load", ports, *numbers]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment()).stdout)
    return {"rate": count / done["seconds"], **done}


def warm(servers: list[Server], plan: dict[str, int]) -> None:
    """Let a server load what it loads once, for the first reports and for their first aggregation."""
    for server in servers:
        load([server], 200, plan["size"], 4)
    time.sleep(_SETTLE)


def against_bare(name: str, database: str, plan: dict[str, int], rounds: int, share: float) -> list[Row]:
    """Return the service's rate as a share of the bare handler's, and how their slowest answers compare."""
    shares = []
    slow = []
    rates = []
    cpu = []
    with bare() as yardstick, service(database) as server:
        publish(server)
        for each in (yardstick, server):
            warm([each], plan)
        for i in range(rounds):
            one = load([yardstick], **plan)
            before = server.cpu
            two = load([server], **plan)
            assert two["accepted"] == plan["count"] * plan["size"], two
            cpu.append((server.cpu - before) / plan["count"] / plan["size"] * 1e6)
            again = load([yardstick], **plan)
            rates.append(two["rate"] * plan["size"])
            shares.append(2 * two["rate"] / (one["rate"] + again["rate"]))
            slow.append(2 * two["p99"] / (one["p99"] + again["p99"]))
            said = f"bare {one['rate']:,.0f} and {again['rate']:,.0f}, service {two['rate']:,.0f} requests/s"
            print(f"  {name}, round {i + 1}: {said}; load {os.getloadavg()[0]:.1f}", flush=True)
    return [
        Row(f"{name}: requests a second over the bare handler's", statistics.median(shares), "x", share, at_least=True),
        Row(f"{name}: 99th percentile of answers over the bare handler's", statistics.median(slow), "x", 5.0),
        Row(f"{name}: reports a second", statistics.median(rates), "1/s"),
        Row(f"{name}: the server's CPU a report", statistics.median(cpu), "us"),
    ]


def two_servers(folder: Path, what: str, plan: dict[str, int], rounds: int, held: float | None) -> list[Row]:
    """Return the rate of two servers on one database over that of one, and what a report costs.

    Each load finds a new PostgreSQL, and no server beside those that are loaded. With ``held`` each server has so much
    of a core, as if it had a machine of its own that is as much slower: then the cores are not what two of them share.
    """
    gains = []
    costs = []
    waits = []
    cores = {1: [], 2: []}
    reports = plan["count"] * plan["size"]
    for i in range(rounds):
        before, both, after = (_loaded(folder, n, plan, held) for n in (1, 2, 1))
        gains.append(2 * both["rate"] / (before["rate"] + after["rate"]))
        costs.append(2 * both["serving"] / (before["serving"] + after["serving"]))
        waits.append(both["waiting"])
        cores[1] += [before["cores"], after["cores"]]
        cores[2].append(both["cores"])
        said = f"one {before['rate']:,.0f} and {after['rate']:,.0f}, two {both['rate']:,.0f} requests/s"
        spent = f"CPU a report {before['serving'] / reports * 1e6:.1f} and {both['serving'] / reports * 1e6:.1f} us"
        print(f"  two servers, {what}, round {i + 1}: {said}; {spent}; load {os.getloadavg()[0]:.1f}", flush=True)
    have = os.cpu_count() or 1
    used = {n: statistics.median(found) for n, found in cores.items()}
    share = f"{have} cores for all" if held is None else f"each held to {held:g} of a core"
    name = f"two servers over one, {what} over {plan['connections']} connections, {share}"
    rows = [
        Row(f"{name}: requests a second", statistics.median(gains), "x", 1.6, True),
        Row(f"{name}: CPU a report, of servers and database", statistics.median(costs), "x"),
        Row(f"{name}: share of the time in which one waits for a lock", statistics.median(waits), ""),
    ]
    if held is None:
        rows.append(Row(f"{name}: cores in use with one", used[1], f"of {have}"))
        rows.append(Row(f"{name}: cores in use with two", used[2], f"of {have}"))
        rows.append(Row(f"{name}: the most that the cores allow, at one server's CPU a report", have / used[1], "x"))
    return rows


def _loaded(folder: Path, n: int, plan: dict[str, int], held: float | None) -> dict[str, float]:
    """Load so many servers on a new database; return what the client saw, and the CPU of servers, database and all."""
    with tempfile.TemporaryDirectory(dir=folder) as name, ExitStack() as stack:
        database = stack.enter_context(postgres(Path(name)))
        servers = [stack.enter_context(service(database)) for _ in range(n)]
        if held is not None:
            for i, server in enumerate(servers):
                stack.enter_context(hold(server, held, i))
        publish(servers[0])
        warm(servers, plan)
        load(servers, **{**plan, "count": plan["count"] // 2})  # what only the first reports of a task need is over
        time.sleep(_SETTLE)  # what one has taken the other has read by then, as if it had been at work all the time
        before = sum(server.cpu for server in servers)
        with Watch(database) as watch:
            done = load(servers, **plan)
        serving = sum(server.cpu for server in servers) - before + watch.cpu
    return {**done, "serving": serving, "cores": (serving + done["cpu"]) / done["seconds"], "waiting": watch.waiting}


def memory(database: str, ends: list[int]) -> list[Row]:
    """Return the memory of a server at rest after so many reports; it should not grow with them.

    At rest: before the first aggregation a server has not even loaded what adds up.
    """
    sent = 0
    rows = []
    with service(database) as server:
        publish(server)
        for end in ends:
            load([server], (end - sent) // 1000, 1000, 8)
            sent = end
            time.sleep(_REST)
            rows.append(Row(f"memory after {end:,} reports", server.megabytes, "MB"))
            print(f"  {rows[-1]}", flush=True)
    growth = rows[-1].value / rows[0].value
    return [*rows, Row(f"memory after {ends[-1]:,} reports over that after {ends[0]:,}", growth, "x", 1.1)]


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer requests, one round")
    parser.add_argument("--only", nargs="+", choices=PLANS, default=PLANS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--add", action="store_true", help="keep saved rows that are not measured again")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, help="a page of the documentation that shows the table")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    scale = 0.2 if options.quick else 1.0
    single = {**SINGLE, "count": int(SINGLE["count"] * scale)}
    batch = {**BATCH, "count": int(BATCH["count"] * scale)}
    busy = {
        what: {**plan, "count": int(plan["count"] * scale)}
        for what, plan in (("reports alone", MANY_SINGLE), ("batches of 100", MANY_BATCH))
    }
    ends = [20_000, 50_000] if options.quick else [100_000, 500_000, 1_000_000, 2_000_000]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        if "postgres" in options.only:
            place = folder / "postgres"
            place.mkdir()
            url = stack.enter_context(postgres(place))
        if "sqlite" in options.only:
            rows += against_bare("SQLite, batch 1", f"sqlite:///{folder}/single.db", single, rounds, 0.35)
            rows += against_bare("SQLite, batch 100", f"sqlite:///{folder}/batch.db", batch, rounds, 0.08)
        if "postgres" in options.only:
            rows += against_bare("PostgreSQL, batch 1", url, single, rounds, 0.35)
            rows += against_bare("PostgreSQL, batch 100", url, batch, rounds, 0.10)
        if "two" in options.only:
            for held in (_HELD, None) if can_hold() else (None,):
                for what, plan in busy.items():
                    rows += two_servers(folder, what, plan, rounds, held)
        if "memory" in options.only:
            rows += memory(f"sqlite:///{folder}/memory.db", ends)
    for row in rows:
        print(row)
    _save(options.output, options.quick, rows, options.add)
    if options.page is not None:
        write_page(options.page, options.output)


def _save(path: Path, quick: bool, rows: list[Row], keep: bool) -> None:
    from benchmarks.__main__ import machine

    saved = {"machine": machine() | {"nice": os.nice(0)}, "quick": quick}
    measured = [asdict(r) | {"met": r.met} for r in rows]
    if keep:
        names = {row["name"] for row in measured}
        measured = [row for row in json.loads(path.read_text())["rows"] if row["name"] not in names] + measured
    path.write_text(json.dumps({**saved, "rows": measured}, indent=1) + "\n")
    print(f"saved to {path}")


START = "<!-- python -m benchmarks.service -->"
END = "<!-- end -->"


def write_page(page: Path, results: Path) -> None:
    """Put the table of saved results between the two marks of a page."""
    from benchmarks.table import table

    text = page.read_text()
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"{page} has no {START} ... {END}")
    page.write_text("\n".join([before + START, "", *table(results), "", END + after]))


if __name__ == "__main__":
    main()
