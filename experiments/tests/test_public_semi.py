"""The page on one round with a public model: shares of what private labels close, and what no noise would leave."""

from __future__ import annotations

from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import SEMI
from hedgerow_experiments.public.semi import tidy
from hedgerow_experiments.public.semi_page import pages


def rows(epsilon, group, value):
    key = Key("MET", 0, "none", epsilon, group)
    assert key in set(SEMI.keys())
    return list(tidy(SEMI, key, {"public": 3.0, "ceiling": 1.0, group: value}))


def test_what_no_noise_leaves_stands_beside_every_epsilon():
    found = rows(0.0, "no noise", 2.2)
    for epsilon, value in ((1.0, 2.8), (4.0, 2.4)):
        found += rows(epsilon, "one round", value) + rows(epsilon, "label", 2.0) + rows(epsilon, "assisted", 3.0)
    text = pages(Evidence({SEMI.name: found}))["public-semi.md"].decode()
    assert "| MET | 1 | 0.10 | 0.50 | 0.20 | 0.00 | 0.40 | 1 |" in text
    assert "| MET | 4 | 0.30 | 0.50 | 0.60 | 0.00 | 0.40 | 1 |" in text
    assert "Harmful: 0 of 2 runs" in text
    alone = pages(Evidence({SEMI.name: rows(1.0, "one round", 2.8)}))["public-semi.md"].decode()
    assert "| MET | 1 | 0.10 |  |  |  |  | 1 |" in alone
