import pytest


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    """Few trees where corrections are looked for: what every estimator must do is the same."""
    from hedgerow.sums import design

    monkeypatch.setattr(design, "FOREST", (32,) * 8)
