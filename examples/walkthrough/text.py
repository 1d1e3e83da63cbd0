"""The demonstration on a terminal."""

from __future__ import annotations

import textwrap

import pandas as pd

from walkthrough.device import Account
from walkthrough.population import TARGET
from walkthrough.study import ORDER, OURS

WIDTH = 100


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, WIDTH))


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def results_table(table: pd.DataFrame, fixed: dict[str, float]) -> str:
    """Return test errors, one row a method and one column a budget."""
    epsilons = sorted(table["epsilon"].unique())
    lines = [f"{'test MSE at epsilon =':<44}" + "".join(f"{e:>9g}" for e in epsilons)]
    for name in ORDER:
        if name in fixed:
            cells = [f"{fixed[name]:>9.1f}"] * len(epsilons)
        else:
            rows = table[table["method"] == name].set_index("epsilon")
            cells = [f"{rows.loc[e, 'mse']:>9.1f}" for e in epsilons]
        lines.append(f"{name:<44}" + "".join(cells))
    chosen = table[table["method"] == OURS].set_index("epsilon")["response"]
    lines.append(f"{'  our report, chosen in advance:':<44}" + "".join(f"{chosen[e]:>9}" for e in epsilons))
    return "\n".join(lines)


def account_text(account: Account) -> str:
    """Return the true record beside the report."""
    record = ", ".join(f"{name} {value}" for name, value in account.record.items())
    low, high = account.ends
    lines = [
        f"true record    {record}; {TARGET}: {account.label:.1f}   (stays on the device)",
        f"true leaf      {account.own.leaf}: {account.own.cell}",
        f"label          rounded at random: to {high:g} (chance {account.rounding:.0%}) or {low:g}, true on average",
        f"sent           {account.report.hex()}  ({len(account.report)} bytes)",
        f"in words       it names {', '.join(account.named) or 'no cell'}",
        "",
        f"{'leaf':>4}  {f'label {low:g}':^16}  {f'label {high:g}':^16}  belief  cell",
    ]
    for line in account.lines:
        cells = [
            f"{'NAMED' if named else 'not named'} ({chance:.0%})"
            for named, chance in zip(line.named, line.chance, strict=True)
        ]
        mark = "*" if line.own else " "
        lines.append(f"{mark}{line.leaf:>3}  {cells[0]:^16}  {cells[1]:^16}  {line.belief:>6.0%}  {line.cell}")
    return "\n".join(lines)
