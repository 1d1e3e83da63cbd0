import pytest

from tests.small import few_corrections


@pytest.fixture(autouse=True, scope="module")
def small_forests():
    """Few trees where corrections are looked for: what every estimator must do is the same."""
    from hedgerow.sums import design

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design, "FOREST", (32,) * 8)
        few_corrections(patch)
        yield
