"""The ledger: rounding, keys, damage, and real processes that race or are killed."""

import contextlib
import copy
import math
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hedgerow.errors import BudgetError, FormatError, HedgerowError
from hedgerow.guarantee import Guarantee, sequential
from hedgerow.ledger import Budget, Ledger


def cost(epsilon, delta=0.0, trust="local", neighbours="replace", **other):
    return Guarantee(epsilon, delta, **{"protects": "record", "trust": trust, "neighbours": neighbours} | other)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.ledger"


def change(path, statement):
    """Change the file behind the ledger's back."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


# ---------------------------------------------------------------- spending


@pytest.mark.parametrize("in_memory", [True, False])
def test_ten_tenths_are_one(path, in_memory):
    with Ledger(None if in_memory else path, limit=1.0) as ledger:
        for month in range(10):
            ledger.spend(cost(0.1), purpose=f"month {month}")
        assert ledger.remaining() == Budget(0, 0)
        with pytest.raises(BudgetError, match=r"needs epsilon = 1e-06 .* only epsilon = 0 and delta = 0 are left"):
            ledger.spend(cost(1e-6), purpose="one more")
        assert [entry.purpose for entry in ledger.entries()] == [f"month {month}" for month in range(10)]


def test_spends_are_rounded_up_and_limits_down():
    with Ledger(None, limit=cost(1.0000019, 2.9e-15)) as ledger:
        assert ledger.remaining() == Budget(1.000001, 2e-15)
        assert ledger.spend(cost(1e-9, 1e-30), purpose="tiny").charged == Budget(1e-6, 1e-15)
        assert ledger.spend(cost(0.1234561), purpose="odd").charged == Budget(0.123457, 0)
        assert ledger.spend(cost(0), purpose="nothing").charged == Budget(0, 0)
        assert ledger.remaining() == Budget(0.876543, 1e-15)
        with pytest.raises(BudgetError, match="delta = 1e-15 are left"):
            ledger.spend(cost(0.1, 1.1e-15), purpose="too much delta")


@given(st.floats(1e-6, 1e9), st.floats(0, 1, exclude_max=True), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_what_is_left_can_be_spent_to_the_last_unit(epsilon, delta, share, other_share):
    limit = cost(epsilon, delta)
    with Ledger(None, limit=limit) as ledger:
        left = ledger.remaining()
        assert left.epsilon <= epsilon and left.delta <= delta
        with contextlib.suppress(BudgetError):  # rounding up may pass the end
            first = ledger.spend(cost(epsilon * share, delta * other_share), purpose="part")
            assert Fraction(repr(first.charged.epsilon)) >= Fraction(repr(epsilon * share))
            assert Fraction(repr(first.charged.delta)) >= Fraction(repr(delta * other_share))
        ledger.spend(cost(*ledger.remaining()), purpose="the rest")
        assert ledger.remaining() == Budget(0, 0)


def test_entries_tell_the_whole_story(path):
    with Ledger(path, limit=2) as ledger:
        given_out = ledger.spend(cost(0.5, notes=("if A",)), purpose="a survey", key="s-1")
    (entry,) = Ledger(path).entries()
    assert entry == given_out
    assert (entry.number, entry.key, entry.purpose) == (1, "s-1", "a survey")
    assert entry.guarantee == cost(0.5, notes=("if A",))
    assert entry.time.endswith("+00:00")


def test_the_table_can_be_read(path):
    with Ledger(path, limit=cost(40, 1e-6)) as ledger:
        assert repr(ledger).count("\n") == 0
        for day in range(25):
            ledger.spend(cost(0.5, 1e-9), purpose=f"day {day}", key=f"k{day}")
        lines = repr(ledger).splitlines()
    assert str(path) in lines[0] and "epsilon = 40 and delta = 1e-06" in lines[0] and "left epsilon = 27.5" in lines[0]
    assert lines[1] == "(5 older entries)" and lines[2].split() == [
        "no.",
        "epsilon",
        "delta",
        "key",
        "purpose",
    ]
    assert lines[-1].split() == ["25", "0.5", "1e-09", "k24", "day", "24"] and len(lines) == 23
    assert "closed" in repr(ledger)


# ---------------------------------------------------------------- keys


def test_a_key_is_charged_once(path):
    ledger = Ledger(path, limit=1)
    first = ledger.spend(cost(0.7), purpose="a", key="k")
    assert ledger.spend(cost(0.7), purpose="a", key="k") == first
    assert Ledger(path).spend(cost(0.7), purpose="a", key="k") == first
    assert ledger.remaining().epsilon == 0.3 and len(ledger.entries()) == 1


@pytest.mark.parametrize(("again", "purpose"), [(cost(0.1), "a"), (cost(0.2, 1e-9), "a"), (cost(0.2), "b")])
def test_a_key_stands_for_one_release(again, purpose):
    with Ledger(None, limit=cost(1, 1e-6)) as ledger:
        ledger.spend(cost(0.2), purpose="a", key="k")
        with pytest.raises(BudgetError, match="another key"):
            ledger.spend(again, purpose=purpose, key="k")
        assert ledger.remaining().epsilon == 0.8


def test_no_key_is_no_name():
    with Ledger(None, limit=1) as ledger:
        assert [ledger.spend(cost(0.25), purpose="a").number for _ in range(2)] == [1, 2]


# ---------------------------------------------------------------- what does not fit


@pytest.mark.parametrize(
    ("spend", "message"),
    [
        (cost(0.1, neighbours="add/remove"), r"convert\(\)"),
        (cost(0.1, protects="label", neighbours="label"), r"convert\(\)"),
        (cost(0.1, trust="central"), "trust must be 'local'"),
        (cost(0.1, simulation=True), "simulation must be False"),
        (cost(math.inf), "infinite"),
        (cost(1e300), "only epsilon = 1 "),
        (cost(0.1, 0.5), "only .* delta = 0 are left"),
    ],
)
def test_other_promises_are_refused(spend, message):
    with Ledger(None, limit=cost(1)) as ledger:
        with pytest.raises(BudgetError, match=message):
            ledger.spend(spend, purpose="a")
        assert ledger.remaining() == Budget(1, 0) and ledger.entries() == []


def test_a_central_limit_takes_local_spends_and_a_rehearsal_takes_seeds():
    with Ledger(None, limit=cost(1, trust="central", simulation=True)) as ledger:
        ledger.spend(cost(0.5), purpose="local")
        ledger.spend(cost(0.5, trust="central", simulation=True), purpose="central")
        assert ledger.remaining().epsilon == 0


@pytest.mark.parametrize("limit", [0, 1e-7, math.inf, math.nan, -1, 2e9, "1"])
def test_limits_that_are_none(path, limit):
    with pytest.raises(HedgerowError):
        Ledger(path, limit=limit)
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"purpose": ""}, "purpose"),
        ({"purpose": "two\nlines"}, "purpose"),
        ({"purpose": None}, "purpose"),
        ({"purpose": "a", "key": ""}, "key"),
        ({"purpose": "a", "key": 3}, "key"),
        ({"purpose": "a", "guarantee": 0.1}, "guarantee"),
    ],
)
def test_arguments_are_checked(arguments, name):
    with Ledger(None, limit=1) as ledger, pytest.raises(HedgerowError, match=f"^{name} must be"):
        ledger.spend(**{"guarantee": cost(0.1)} | arguments)


# ---------------------------------------------------------------- the file


def test_a_limit_is_for_ever(path):
    Ledger(path, limit=1).spend(cost(0.4), purpose="a")
    assert Ledger(path, limit=1.0).remaining().epsilon == 0.6
    for other in (2, 0.5, cost(1), cost(1, 1e-9, trust="central")):
        with pytest.raises(BudgetError, match="limit must be the one"):
            Ledger(path, limit=other)
    assert Ledger(path).limit == cost(1, trust="central")


def test_a_missing_file_is_only_made_with_a_limit(path):
    with pytest.raises(HedgerowError, match="limit be given"):
        Ledger(path)
    with pytest.raises(HedgerowError, match="limit must be given"):
        Ledger(None)
    assert os.listdir(path.parent) == []
    Ledger(path, limit=1)
    assert os.listdir(path.parent) == [path.name]


def test_a_lost_file_is_not_made_anew(path):
    ledger = Ledger(path, limit=1)
    path.unlink()
    with pytest.raises(BudgetError, match="Nothing was granted"):
        ledger.spend(cost(0.1), purpose="a")
    with pytest.raises(HedgerowError):
        pickle.loads(pickle.dumps(ledger))
    Path(f"{path}-journal").write_bytes(b"left over")
    with pytest.raises(FormatError, match="journal"):
        Ledger(path, limit=1)
    assert not path.exists()


def test_a_closed_ledger_is_closed(path):
    for place in (path, None):
        with Ledger(place, limit=1) as ledger:
            pass
        with pytest.raises(HedgerowError, match="closed"):
            ledger.remaining()
        ledger.close()


def damage(path, how):
    whole = path.read_bytes()
    page = len(whole) // 4096 - 1
    if how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_bytes(b"epsilon = 1\n" * 100)
    elif how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "a page of zeros":
        path.write_bytes(whole[: page * 4096] + bytes(4096) + whole[(page + 1) * 4096 :])
    else:
        change(path, how)


@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "text",
        "cut",
        "a page of zeros",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 2",
        "DELETE FROM budget",
        "DROP TABLE entries",
        "DROP TABLE budget",
        "ALTER TABLE entries DROP COLUMN time",
        "UPDATE entries SET epsilon = 1 WHERE number = 2",
        "UPDATE entries SET guarantee = '{}' WHERE number = 2",
        """UPDATE budget SET guarantee = replace(guarantee, '"epsilon":10.0', '"epsilon":1.0')""",
        """UPDATE budget SET guarantee = replace(guarantee, '"version":1', '"version":2')""",
    ],
)
def test_a_damaged_or_changed_file_is_refused(path, how):
    with Ledger(path, limit=10) as ledger:
        for number in range(4):
            ledger.spend(cost(0.5), purpose=f"purpose {number}")
    damage(path, how)
    for limit in (None, 10):
        with pytest.raises(FormatError):
            Ledger(path, limit=limit)


def test_damage_while_it_is_open_is_refused(path):
    ledger = Ledger(path, limit=10)
    damage(path, "text")
    with pytest.raises(FormatError):
        ledger.spend(cost(0.5), purpose="a")


def test_a_busy_file_grants_nothing(path, monkeypatch):
    monkeypatch.setattr("hedgerow.ledger._WAIT", 0.05)
    ledger = Ledger(path, limit=1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BudgetError, match="locked"):
            ledger.spend(cost(0.1), purpose="a")
    assert ledger.spend(cost(0.1), purpose="a").number == 1


def test_a_spend_is_on_disk_before_it_is_granted(path, monkeypatch):
    seen = []
    connect = sqlite3.connect

    class Watched(sqlite3.Connection):
        def execute(self, statement, *rest):
            if statement == "COMMIT":
                asked = [self.execute(f"PRAGMA {name}") for name in ("synchronous", "journal_mode")]
                seen.append([answer.fetchone()[0] for answer in asked])
            return super().execute(statement, *rest)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Watched))
    Ledger(path, limit=1).spend(cost(0.1), purpose="a")
    assert seen == [[3, "delete"], [3, "delete"]]  # 3 is EXTRA: the journal's removal is synced too


# ---------------------------------------------------------------- processes and threads


RACING = """
import sys, time
import hedgerow.ledger
from hedgerow.errors import BudgetError
from hedgerow.guarantee import Guarantee

def slow(*arguments, left=hedgerow.ledger._left):
    found = left(*arguments)
    time.sleep(0.002)  # between the check and the spend, where a race would happen
    return found

hedgerow.ledger._left = slow
claim = Guarantee(0.01, protects="record", trust="local", neighbours="replace")
sys.stdin.readline()  # wait for the others; then all of them try to make the file
ledger, granted = hedgerow.ledger.Ledger(sys.argv[1], limit=1), 0
for number in range(50):
    try:
        ledger.spend(claim, purpose="race", key=f"{sys.argv[2]}-{number}")
        granted += 1
    except BudgetError as error:
        assert "are left" in str(error), error
print(granted)
"""


def test_processes_cannot_overspend_together(path):
    # Processes started from a string work however pytest is called and wherever from.
    start = [sys.executable, "-c", RACING, str(path)]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen([*start, str(n)], stdin=pipe, stdout=pipe, text=True) for n in range(4)]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    granted = [int(worker.communicate()[0]) for worker in workers]
    assert sum(granted) == 100
    ledger = Ledger(path, limit=1)
    assert ledger.remaining() == Budget(0, 0) and len(ledger.entries()) == 100
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("in_memory", [True, False])
def test_threads_cannot_overspend_together(path, in_memory):
    ledger = Ledger(None if in_memory else path, limit=1)
    granted = []

    def work():
        for _ in range(10):
            with contextlib.suppress(BudgetError):
                granted.append(ledger.spend(cost(0.05), purpose="race").number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(granted) == list(range(1, 21))
    ledger.close()


KILLED = """
import os, sys
from hedgerow.guarantee import Guarantee
from hedgerow.ledger import Ledger
claim = Guarantee(0.001, protects="record", trust="local", neighbours="replace")
ledger = Ledger(sys.argv[1], limit=100)
for number in range(10**6):
    entry = ledger.spend(claim, purpose="until killed", key=f"{os.getpid()}-{number}")
    os.write(1, f"{entry.key}\\n".encode())
"""


def test_kill_minus_nine_loses_no_granted_spend(path):
    granted = []
    for grants in (1, 7, 23, 40):
        worker = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
        granted += [worker.stdout.readline() for _ in range(grants)]
        worker.send_signal(signal.SIGKILL)
        granted += worker.stdout.readlines()
        worker.stdout.close()
        assert worker.wait() == -signal.SIGKILL
    ledger = Ledger(path, limit=100)  # verifies the whole file
    keys = [entry.key for entry in ledger.entries()]
    told = [line.decode().strip() for line in granted if line.endswith(b"\n")]
    assert len(told) >= 71 and set(told) <= set(keys)
    assert len(keys) - len(told) <= 4  # at most the one in flight of each
    assert ledger.remaining().epsilon == pytest.approx(100 - 0.001 * len(keys), abs=1e-12)
    ledger.spend(cost(*ledger.remaining()), purpose="the rest")


def test_a_spend_that_was_cut_off_is_undone(path):
    # What a crash leaves behind: pages written to the file, and the journal to undo them.
    ledger = Ledger(path, limit=1)
    ledger.spend(cost(0.25), purpose="a")
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN IMMEDIATE');"
        "[c.execute('INSERT INTO entries SELECT NULL, NULL, hex(zeroblob(3000)), guarantee, epsilon, delta,"
        " time FROM entries WHERE number = 1') for _ in range(50)];"
        "os.kill(os.getpid(), 9)"
    )
    size = path.stat().st_size
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9
    assert Path(f"{path}-journal").exists() and path.stat().st_size > size
    assert len(Ledger(path, limit=1).entries()) == 1
    assert ledger.remaining().epsilon == 0.75


def test_files_go_through_pickle_and_fork_and_memory_does_not(path):
    ledger = Ledger(path, limit=1)
    again = pickle.loads(pickle.dumps(ledger))
    again.spend(cost(0.5), purpose="a")
    assert ledger.remaining().epsilon == 0.5 == copy.copy(ledger).remaining().epsilon
    with Ledger(None, limit=1) as memory:
        with pytest.raises(HedgerowError, match="pickled"):
            pickle.dumps(memory)
        with pytest.raises(HedgerowError, match="copied"):
            copy.copy(memory)
        assert copy.deepcopy(memory) is memory  # as clones of an estimator do: one budget, shared


FORKED = """
import os, sys
from hedgerow.guarantee import Guarantee
from hedgerow.ledger import Ledger
claim = Guarantee(0.5, protects="record", trust="local", neighbours="replace")
memory, file = Ledger(None, limit=1), Ledger(sys.argv[1], limit=1)
file.spend(claim, purpose="parent")
if os.fork() == 0:
    file.spend(claim, purpose="child")
    try:
        memory.spend(claim, purpose="child")
    except ValueError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
print(file.remaining().epsilon, memory.remaining().epsilon)
"""


def test_a_fork_shares_the_file_and_cannot_double_the_memory(path):
    done = subprocess.run([sys.executable, "-c", FORKED, str(path)], capture_output=True, text=True, check=True)
    child, parent = done.stdout.splitlines()
    assert "another process" in child and parent == "0.0 1.0"


# ---------------------------------------------------------------- any history


class AnyHistory(RuleBasedStateMachine):
    """Whatever is tried, in whatever order, the total stays within the limit and the books are right."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "x.ledger"
        self.limit = cost(1.5, 1e-9)
        self.ledger = Ledger(self.path, limit=self.limit)
        self.granted, self.keys = [], {}

    @rule(
        epsilon=st.floats(0, 0.8),
        delta=st.sampled_from([0, 1e-15, 3e-10, 1e-9]),
        key=st.sampled_from([None, "a", "b", "c"]),
    )
    def spend(self, epsilon, delta, key):
        claim = cost(epsilon, delta)
        before = self.ledger.remaining()
        try:
            entry = self.ledger.spend(claim, purpose="p", key=key)
        except BudgetError:
            assert self.ledger.remaining() == before
            if key not in self.keys:
                assert epsilon + 1e-6 > before.epsilon or delta > before.delta
            return
        if key in self.keys:
            assert entry == self.keys[key] and self.ledger.remaining() == before
            return
        self.granted.append(entry)
        if key is not None:
            self.keys[key] = entry

    @rule()
    def reopen(self):
        self.ledger = Ledger(self.path, limit=self.limit)

    @invariant()
    def books(self):
        assert self.ledger.entries() == self.granted
        for name in ("epsilon", "delta"):
            true = sum(Fraction(repr(getattr(entry.guarantee, name))) for entry in self.granted)
            booked = sum(Fraction(repr(getattr(entry.charged, name))) for entry in self.granted)
            most = Fraction(repr(getattr(self.limit, name)))
            assert true <= booked <= most
            assert Fraction(repr(getattr(self.ledger.remaining(), name))) == most - booked
        if self.granted:  # and so is the composed claim, but for the last bit of a float
            total = sequential(*(entry.guarantee for entry in self.granted))
            assert total.epsilon <= self.limit.epsilon * (1 + 2**-50)

    def teardown(self):
        self.folder.cleanup()


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=25, stateful_step_count=15, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("limit", "spend", "taken"),
    [
        ("local", "aggregate", False),
        ("aggregate", "central", False),
        ("aggregate", "local", True),
        ("aggregate", "aggregate", True),
        ("central", "aggregate", True),
    ],
)
def test_a_limit_takes_only_what_needs_no_more_trust(limit, spend, taken):
    with Ledger(None, limit=cost(1, trust=limit)) as ledger:
        if taken:
            ledger.spend(cost(0.5, trust=spend), purpose="x")
            return
        with pytest.raises(BudgetError, match=f"trust must be '{limit}'"):
            ledger.spend(cost(0.5, trust=spend), purpose="x")
