"""What a search compared, for the card of what it chose. All of it was released with the guarantee of the search."""

from __future__ import annotations

from typing import Any

from hedgerow.card.card import Block, Section
from hedgerow.digits import plain
from hedgerow.schema.words import one_line
from hedgerow.summary import SummaryTable

__all__ = ["search_section"]

_MOST = 50  # settings that a card lists: about a page on paper; by hand


def search_section(search: Any) -> Section:
    """Return the settings that were compared, with what was released of each."""
    settings = search.cv_results_["params"]
    scores = search.cv_results_.get("mean_test_score")
    errors = search.cv_results_.get("std_test_score")
    rows = []
    for i, one in enumerate(settings[:_MOST]):
        names = ", ".join(f"{name} = {value}" for name, value in one.items()) or "as it is"
        chosen = "chosen" if i == search.best_index_ else ""
        score = "not released" if scores is None else f"{plain(scores[i])} ± {plain(errors[i], 2)}"
        rows.append((one_line(names), score, chosen))
    title = f"{len(rows)} of {len(settings):,} settings that were compared"
    table = SummaryTable(title, ("setting", "noisy score (larger is better)", ""), tuple(rows))
    how = (
        "The settings were compared on private records by a mechanism of its own, whose whole cost is in the guarantee "
        "above. Scores are noisy; where none was released, only the choice was."
    )
    blocks: tuple[Block, ...] = (how, table)
    return Section("How its settings were chosen", blocks)
