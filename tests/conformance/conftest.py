import pytest


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    """Forests of an eighth of the size where corrections are looked for: what every estimator must do is the same."""
    from hedgerow.sums import design

    monkeypatch.setattr(design, "FOREST", 8)
