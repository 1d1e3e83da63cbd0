"""Classes instead of numbers: who will need a larger tank?"""

import numpy as np

from hedgerow import LPDTClassifier

rng = np.random.default_rng(2)
X = rng.random((30_500, 2))
chance = np.where(X[:, 0] > 0.6, 0.85, 0.2)
y = np.where(rng.random(len(X)) < chance, "large", "small")

model = LPDTClassifier(epsilon=2.0, rule="cart", max_depth=2, random_state=0)
model.fit(X[500:], y[500:], X_public=X[:500], y_public=y[:500])
print("classes:", model.classes_.tolist())
for x in ([0.2, 0.5], [0.9, 0.5]):
    shares = model.predict_proba([x])[0].round(2).tolist()
    print(x, dict(zip(model.classes_.tolist(), shares, strict=True)))
