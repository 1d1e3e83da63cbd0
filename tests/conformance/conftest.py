import pytest

from tests.small import few_corrections, few_sums


@pytest.fixture(autouse=True, scope="module")
def small_forests():
    """Few trees where corrections are looked for: what every estimator must do is the same."""
    with pytest.MonkeyPatch.context() as patch:
        few_sums(patch)
        few_corrections(patch)
        yield
