"""Local: nobody is trusted. Each home answers for itself, and only what it randomised leaves it."""

from hedgerow import LPDTRegressor
from hedgerow.datasets import load_homes

homes = load_homes()
X, y = homes.split(homes.private)
X_public, y_public = homes.split(homes.public)
X_new, y_new = homes.split(homes.new)

for epsilon in (1.0, 2.0):
    tree = LPDTRegressor(epsilon, schema=homes.schema, random_state=0)
    tree.fit(X, y, X_public=X_public, y_public=y_public)
    print(f"epsilon = {epsilon:g}: {tree.model_.task.n_leaves} leaves, R2 {tree.score(X_new, y_new):.2f}")

print(tree.guarantee_)
tree.model_.plot("homes_local.svg")
