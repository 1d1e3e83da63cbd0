"""Errors that public records leave open."""

import numpy as np

from hedgerow.portable import Linear, Matern, PortableModel
from hedgerow.sums.aims import left_open, process_units


def test_what_is_open_is_what_a_process_leaves():
    rng = np.random.default_rng(0)
    rows, public = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))

    def correlation(A, B):
        t = np.sqrt(5) * np.linalg.norm(A[:, None] - B, axis=2)
        return (1 + t + t**2 / 3) * np.exp(-t)

    gain = np.linalg.solve(correlation(public, public) + 0.2 * np.eye(5), correlation(public, rows))
    expected = correlation(rows, rows) - correlation(rows, public) @ gain
    L = left_open(rows, public, 0.2)
    assert np.allclose(L @ L.T, expected, atol=2e-6)


def test_equal_rows_and_exact_labels_are_no_obstacle():
    rows = np.zeros((4, 1))
    assert np.abs(left_open(rows, rows, 0.0)).max() < 0.01


def test_columns_are_in_the_units_of_the_process_if_there_is_one():
    part = Matern([[0.0, 0.0]], [1.0], [1.0, 2.0], [0.5, 4.0])
    design = np.array([[1.0, 2.0], [1.5, 6.0]])
    with_process = process_units(PortableModel(2, [0, 1], [-1, -1], 0.0, (part,)), design)
    assert with_process.units(design).tolist() == [[0.0, 0.0], [1.0, 1.0]] and not len(with_process.weights)
    alone = process_units(PortableModel(2, [0, 1], [-1, -1], 0.0, (Linear([1.0, 1.0]),)), design)
    assert np.allclose((alone.units(design) ** 2).sum(axis=1), 1.0), "however many columns there are"
    assert np.isfinite(
        process_units(PortableModel(1, [0], [-1], 0.0, ()), np.ones((3, 1))).units(np.ones((3, 1)))
    ).all()
