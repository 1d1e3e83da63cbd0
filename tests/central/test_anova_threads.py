"""Threads are started once, for all rounds."""

import pickle
import threading

from hedgerow.central.anova.threads import Threads, effective_jobs


def test_threads_are_started_once_and_results_are_in_order():
    threads = Threads(2)
    both = threading.Barrier(2, timeout=20)

    def work(part):
        both.wait()  # passes only if two parts are worked at once
        return threading.get_ident(), part

    seen = [list(threads.map(work, [1, 2])) for _ in range(5)]
    assert [[part for _, part in found] for found in seen] == [[1, 2]] * 5
    assert len({ident for found in seen for ident, _ in found}) == 2


def test_one_job_works_in_the_thread_of_the_caller():
    here = threading.get_ident()
    assert set(Threads(None).map(lambda part: threading.get_ident(), range(3))) == {here}
    assert set(Threads(4).map(lambda part: threading.get_ident(), range(1))) == {here}


def test_a_copy_starts_its_own_threads():
    threads = Threads(2)
    assert list(threads.map(abs, [-1, 2])) == [1, 2]
    copy = pickle.loads(pickle.dumps(threads))
    assert copy.jobs == 2 and list(copy.map(abs, [-3, 4])) == [3, 4]


def test_numbers_of_jobs_are_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert [effective_jobs(jobs) for jobs in (None, 0, 1, 3, -1, -2, -99)] == [1, 1, 1, 3, 8, 7, 1]
