"""The main job of Hedgerow from start to end: public data -> task -> reports -> aggregate -> model -> predict.

``make demo`` runs this. It prints what happens and leaves a page in ``demo_output/``.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from walkthrough.collection import Collected, collect
from walkthrough.device import Account, answer
from walkthrough.figures import curve_svg, leaves_svg, tree_svg
from walkthrough.page import Story, render
from walkthrough.population import TARGET, Homes, draw_homes
from walkthrough.study import Score, compare, design_ours, mse, references, run_protocol, summary, true_means
from walkthrough.text import account_text, heading, results_table, say
from walkthrough.two_servers import WARNING, share

from hedgerow import LocalTask, Model, privatize_many
from hedgerow.audit import AuditResult, audit_exact, audit_sampled
from hedgerow.randomness import Randomness

N_PILOT, N_HOMES, N_TEST = 600, 60_000, 10_000
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
EPSILON = 2.0
REPEATS = 5
AUDIT_REPORTS = 200_000
N_DEVICES = 2_000
N_SHARED = 500
SHARED_EPSILON = 4.0


def audit(task: LocalTask, homes: Homes, n_reports: int) -> list[AuditResult]:
    """Try to prove the guarantee wrong: the exact law of the report, and reports of two unlike homes."""
    low, high = int(np.argmin(homes.y)), int(np.argmax(homes.y))

    def reports(home: int, n: int, randomness: Randomness) -> Any:
        return privatize_many(task, homes.X.iloc[[home] * n], np.full(n, homes.y[home]), randomness).payloads

    results = [audit_sampled(reports, low, high, epsilon=task.epsilon, n=n_reports, name="whole reports")]
    if task.response != "unary":  # 2**16 outputs take too long here; `hedgerow audit` enumerates a smaller case
        results.insert(0, audit_exact(task.encoding.mechanism))
    return results


def audit_line(results: list[AuditResult], n_reports: int) -> str:
    """Say in one line what the audits found."""
    kinds = {
        "exact": "exact privacy loss of the mechanism",
        "sampled": f"lower bound from {n_reports:,} reports of each of two homes",
    }
    found = "; ".join(f"{kinds[r.tier]} {r.measured:.3f}: {r.verdict}" for r in results)
    return f"Audited just now against the claim epsilon = {results[0].claim:g}. {found[0].upper()}{found[1:]}."


def save(folder: Path, task: LocalTask, model: Model, scores: list[Score], page: str) -> None:
    """Write the page and the files beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page, encoding="utf-8")
    (folder / "task.json").write_text(task.to_json(), encoding="utf-8")
    (folder / "model.json").write_text(model.to_json(), encoding="utf-8")
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(vars(scores[0])))
        writer.writeheader()
        writer.writerows(vars(score) for score in scores)


def fit(pilot: Homes, homes: Homes, test: Homes) -> tuple[LocalTask, Model]:
    """Run the protocol once at the main budget, and say what happens."""
    heading("One task, from start to end")
    task = design_ours(pilot, EPSILON, len(homes))
    say(f"1. Designed on {len(pilot)} public records: {task}.")
    say(f"2. Published as JSON, {len(task.to_json()):,} bytes; its id is a digest of all it says.")
    model = run_protocol(task, homes)
    say(f"3. {len(homes):,} devices answered, {18 + task.encoding.width} bytes each; the reports were added up.")
    say(f"4. The model's test MSE is {mse(model.predict(test.X), test):.1f} ({TARGET}, squared).")
    print()
    print(task.partition.export_text(model.leaf_values.round(1)))
    return task, model


def show_device(task: LocalTask, homes: Homes) -> Account:
    """Let one device answer, and show what it sent."""
    heading("What one device sent, beside the truth")
    account = answer(task, homes.X.iloc[0].to_dict(), float(homes.y[0]))
    print(account_text(account))
    say("* is the true leaf; in brackets, how likely the device was to name the cell; belief: what someone who held "
        "all cells for equally likely may think after seeing the report.")  # fmt: skip
    return account


def show_collection(task: LocalTask, homes: Homes, folder: Path) -> Collected:
    """Let devices send over HTTP to the curator's service, and show what came of it."""
    heading("Collected for real")
    got = collect(task, homes, folder, title="Electricity of homes")
    say(f"A service of its own process took {got.accepted:,} reports from {len(homes):,} devices in {got.seconds:.1f} "
        "seconds, each acknowledged when it was on the disk. Its model equals, bit for bit, that of the reports "
        "sent:")  # fmt: skip
    for row in got.model.table():
        mean = f"{row['mean']:6.1f}  [{row['low']:6.1f}, {row['high']:6.1f}]"
        print(f"  leaf {row['leaf']:>2}  {row['share']:6.1%} of homes  {mean}  if {row['cell']}")
    if (found := got.model.shift()) is not None:
        say(" ".join((found.verdict, *found.disagreement)))
    say("To look at it in the dashboard, run the two lines below, open http://127.0.0.1:8000/dashboard and sign in "
        "with the token:")  # fmt: skip
    print(f"  export HEDGEROW_CURATOR_TOKEN={got.token}")
    print(f"  .venv/bin/hedgerow serve --database sqlite:///{got.database}")
    return got


def show_two_servers(pilot: Homes, homes: Homes, folder: Path) -> None:
    """Let two servers add up what neither of them can read, and show what left them."""
    heading("Nobody sees a record")
    got = share(pilot, homes, folder, epsilon=SHARED_EPSILON)
    say(f"A leader and a helper, two processes with a database each ({got.files['leader'].name} and "
        f"{got.files['helper'].name}), took {got.n:,} sealed reports of {got.bytes_each:,} bytes in {got.seconds:.1f} "
        "seconds, verified each together, and added up shares that are random to either.")  # fmt: skip
    say(f"What left them are {len(got.sums)} sums of {got.n:,} homes, each with the noise of both servers (standard "
        f"deviation {got.noise:.1f}); collected twice, they are the same.")  # fmt: skip
    print(f"  first sums: {' '.join(str(value) for value in got.sums[:16])} ...")
    say(WARNING)


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(description="Hedgerow from start to end, on made-up homes.")
    parser.add_argument("--output", type=Path, default=Path("demo_output"), help="folder to write to")
    parser.add_argument("--quick", action="store_true", help="fewer homes, budgets and repeats")
    options = parser.parse_args()
    n_homes, repeats, epsilons = (6_000, 2, (1.0, 4.0)) if options.quick else (N_HOMES, REPEATS, EPSILONS)

    start = time.perf_counter()
    rng = np.random.default_rng(7)  # draws the made-up people; the noise of privacy is never seeded
    pilot, fair = draw_homes(N_PILOT, rng, volunteers=True), draw_homes(N_PILOT, rng)
    homes, test = draw_homes(n_homes, rng), draw_homes(N_TEST, rng)
    task, model = fit(pilot, homes, test)
    account = show_device(task, homes)

    heading("The guarantee")
    guarantee = str(model.guarantee)
    n_audited = 20_000 if options.quick else AUDIT_REPORTS
    audited = audit_line(audit(task, homes, n_audited), n_audited)
    say(guarantee)
    say(audited)

    new = draw_homes(200 if options.quick else N_DEVICES, rng)
    show_collection(design_ours(pilot, EPSILON, len(new)), new, options.output)

    show_two_servers(pilot, draw_homes(110 if options.quick else N_SHARED, rng), options.output / "two_servers")

    heading("What privacy costs")
    scores, fixed = compare(pilot, homes, test, epsilons, repeats), references(pilot, fair, homes, test)
    table = summary(scores)
    print(results_table(table, fixed))
    scores += [Score(name, None, 0, "", 0, error) for name, error in fixed.items()]

    truth = true_means(task.partition, homes)
    images = {"tree": tree_svg(model), "curve": curve_svg(table, fixed), "leaves": leaves_svg(model, truth)}
    sizes = {"n": n_homes, "n_pilot": N_PILOT, "n_test": N_TEST, "repeats": repeats, "size": 18 + task.encoding.width}
    page = render(Story(guarantee, audited, account, table, fixed, images, sizes))
    save(options.output, task, model, scores, page)
    heading(f"Done in {time.perf_counter() - start:.0f} seconds")
    say(f"See {options.output / 'index.html'}; beside it are task.json, model.json and results.csv.")


if __name__ == "__main__":
    main()
