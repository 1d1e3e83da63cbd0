"""Label: all columns are public, the bill is not. Each label is randomised once, and any regressor learns from that."""

import matplotlib.pyplot as plt

from hedgerow import LabelPrivateRegressor
from hedgerow.datasets import load_homes

homes = load_homes(5_000)
X, y = homes.split(homes.private)
X_new, y_new = homes.split(homes.new)

for epsilon in (1.0, 2.0, 4.0):
    model = LabelPrivateRegressor(epsilon=epsilon, schema=homes.schema, averaging=20, random_state=0).fit(X, y)
    print(f"epsilon = {epsilon:g}: R2 {model.score(X_new, y_new):.2f}")

print(model.guarantee_)
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(y, model.releases_[0].labels, ".", alpha=0.1, rasterized=True)
axes.set(xlabel="true bill, which nobody sees (kWh a day)", ylabel="what was sent, at epsilon = 4")
figure.savefig("homes_label.svg")
