"""The channel of randomised classes: there and back."""

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.label.channel import Channel, check_prior, information, most_informative
from hedgerow.mechanisms.top import TopResponse

rng = np.random.default_rng(0)
SHARES = rng.dirichlet(np.ones(4), 50)


def channels():
    yield Channel(TopResponse(1.0, 3, (0, 1, 2, 3)), np.arange(4)[None, :])
    top = TopResponse(0.7, 3, (1, 3))
    yield Channel(top, top.places[None, :])
    yield Channel(TopResponse(2.0, 3, (0, 1)), np.argsort(rng.random((50, 4)), axis=1) - 2)


@pytest.mark.parametrize("channel", list(channels()), ids=["all", "top", "by record"])
def test_reports_have_the_law_of_the_mechanism_and_mean_the_shares_again(channel):
    law = channel.response.matrix()
    places = np.broadcast_to(channel.places, SHARES.shape)
    inside = law[list(channel.response.top)]  # a place is that of a level that can be sent
    expected = np.stack([
        sum(s[c] * (inside[place[c]] if place[c] >= 0 else np.full(channel.k, 1 / channel.k)) for c in range(4))
        for s, place in zip(SHARES, places, strict=True)
    ])  # fmt: skip
    assert channel.reports(SHARES) == pytest.approx(expected)
    assert channel.shares(channel.reports(SHARES), SHARES) == pytest.approx(SHARES)


@pytest.mark.parametrize("channel", list(channels()), ids=["all", "top", "by record"])
def test_residuals_have_mean_zero_under_the_known_shares(channel):
    f = channel.reports(SHARES)
    mean = sum(f[:, [o]] * channel.residuals(np.full(50, o), SHARES) for o in range(channel.k))
    assert mean == pytest.approx(np.zeros((50, 4)), abs=1e-12)
    assert (channel.residuals(np.zeros(50, dtype=int), SHARES)[np.broadcast_to(channel.places, (50, 4)) < 0] == 0).all()


def test_the_classes_that_tell_most_can_be_sent():
    prior = [0.02, 0.5, 0.4, 0.05, 0.03]
    for epsilon in (0.2, 1.0, 3.0, 8.0):
        chosen = most_informative(epsilon, prior)
        order = np.argsort(prior)[::-1]
        told = [information(epsilon, np.array(prior)[order], k) for k in range(2, 6)]
        assert len(chosen) == 2 + int(np.argmax(told)) and set(order[: len(chosen)]) == set(chosen)
    assert most_informative(0.2, prior) == (1, 2) and most_informative(8.0, prior) == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    "prior", [[1.0], [0.5, -0.5, 1.0], [0, 0, 0], [np.nan, 1, 1], "flat", [[1, 1, 1]], [np.inf, 1, 1]]
)
def test_a_prior_is_one_share_a_class(prior):
    with pytest.raises(HedgerowError, match="'prior'"):
        check_prior(prior, 3)
