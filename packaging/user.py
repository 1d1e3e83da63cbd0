"""What a user with a strict type checker writes: hedgerow's hints must be there (py.typed) and must fit."""

import numpy as np

from hedgerow import Guarantee, PrivateAnovaRegressor

rng = np.random.default_rng(0)
X = rng.random((500, 2))
y = np.clip(X[:, 0] + 0.1 * rng.standard_normal(500), 0.0, 1.0)

model = PrivateAnovaRegressor(epsilon=1.0, delta=1e-6, feature_bounds=(0.0, 1.0), label_bounds=(0.0, 1.0))
model.fit(X, y)
guarantee: Guarantee = model.guarantee_
assert guarantee.epsilon == 1.0
assert guarantee.delta == 1e-6
assert model.predict(X[:3]).shape == (3,)
