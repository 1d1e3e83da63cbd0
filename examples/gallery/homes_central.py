"""Central: a trusted curator holds the records; the published curves give none of them away."""

from hedgerow import DiPriMeForestRegressor, PrivateAnovaRegressor
from hedgerow.datasets import load_homes

homes = load_homes(5_000)
X, y = homes.split(homes.private)
X_new, y_new = homes.split(homes.new)

for epsilon in (0.5, 1.0):
    forest = DiPriMeForestRegressor(epsilon, schema=homes.schema, random_state=0).fit(X, y)
    curves = PrivateAnovaRegressor(epsilon, delta=1e-6, schema=homes.schema, random_state=0).fit(X, y)
    scores = f"forest {forest.score(X_new, y_new):.2f}, curves {curves.score(X_new, y_new):.2f}"
    print(f"epsilon = {epsilon:g}: R2 of the {scores}")

print(curves.guarantee_)
curves.explain().plot().savefig("homes_central.svg")
