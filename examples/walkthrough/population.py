"""A made-up population of homes and the electricity that they use in a winter's day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

TARGET = "kWh a day"
LABEL_BOUNDS = (0.0, 60.0)
HEATING = ("district", "electric", "gas", "heat pump")


@dataclass(frozen=True)
class Homes:
    """Records and their labels."""

    X: pd.DataFrame
    y: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.y)


def draw_homes(n: int, rng: np.random.Generator, *, volunteers: bool = False) -> Homes:
    """Draw homes; volunteers of a pilot save a quarter of their electricity, as such people do."""
    X = pd.DataFrame(
        {
            "area": np.clip(rng.gamma(6.0, 15.0, n), 20, 250).round(),
            "people": rng.choice([1, 2, 3, 4, 5, 6], n, p=[0.3, 0.32, 0.16, 0.14, 0.06, 0.02]),
            "built": rng.integers(1900, 2025, n),
            "hours_at_home": np.clip(rng.normal(15, 4, n), 4, 24).round(1),
            "heating": rng.choice(HEATING, n, p=[0.25, 0.2, 0.4, 0.15]),
        }
    )
    leak = np.interp(X["built"], [1900, 1975, 2024], [1.0, 0.85, 0.3])
    heat = X["heating"].map({"district": 0.0, "electric": 0.3, "gas": 0.01, "heat pump": 0.1}).to_numpy()
    y = 3 + 2.2 * X["people"] + 0.35 * X["hours_at_home"] + heat * leak * X["area"] + rng.gamma(2.0, 1.5, n)
    y *= rng.lognormal(0.0, 0.2, n) * (0.75 if volunteers else 1.0)
    return Homes(X, np.clip(y, *LABEL_BOUNDS))
