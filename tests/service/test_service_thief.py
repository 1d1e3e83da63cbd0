"""A thief with the disk, or with psql, after reports were added up: nothing tells what came with what, or when.

Two histories are played on one database each. The same reports, the same tokens; but the reports come in another order
and every one with another token, each alone and aggregated at once, which is the worst for them. If the thief sees the
same in both, then nothing that he sees depends on the order, or on who held which token.
"""

import contextlib
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.protocol.aggregate import Aggregate
from hedgerow.protocol.semi import FirstReports, SemiTask, begin
from hedgerow.service import aggregator
from hedgerow.service.intake import keys_of
from hedgerow.service.service import digest_of

N = 12
HISTORIES = [(range(N), 0), (range(N - 1, -1, -1), 5)]  # order of arrival; how far tokens are shifted against reports


def summed(local_task, holders):
    task = local_task(max_depth=7)
    reports = holders(task, N)
    return task, [one(reports, i) for i in range(N)], [p.tobytes() for p in reports.payloads], list(reports.tokens)


def one(reports, i):
    return type(reports)(reports.task, reports.tokens[i : i + 1], reports.payloads[i : i + 1], False).to_bytes()


def kept(local_task, holders):
    """The first of two rounds, whose reports are the result: they stay, with their ids."""
    task = SemiTask.design(
        epsilon=2.0, label_bounds=(0, 1), features=["a", "b"], feature_bounds=(0, 1), masks="policy", private=["b"]
    )
    X = np.random.default_rng(0).random((N, 2))
    reports, _ = begin(task, X, X[:, 0])
    parts = [FirstReports.concat(task, [reports])[i : i + 1] for i in range(N)]
    return task, [p.to_bytes() for p in parts], [], [p.tokens[0] for p in parts]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """Make the addresses of two empty databases."""
    if request.param == "postgres":
        address = request.getfixturevalue("postgres")
        return lambda i: address if i == 0 else another(address)
    return lambda i: f"sqlite:///{tmp_path}/{i}/hedgerow.db"


def another(address):
    import psycopg

    base, name = address.rsplit("/", 1)
    with psycopg.connect(base.replace("+psycopg", "") + "/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}b")
    return f"{base}/{name}b"
