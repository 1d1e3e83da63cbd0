"""Semi-feature local: two columns and the label are for nobody, the other columns are no secret."""

from hedgerow import HistOfTreeRegressor
from hedgerow.datasets import load_homes

homes = load_homes()
X, y = homes.split(homes.private)
X_new, y_new = homes.split(homes.new)
private = [name in ("income", "people") for name in X.columns]

for epsilon in (1.0, 2.0):
    cells = HistOfTreeRegressor(epsilon, schema=homes.schema, public_model=None, rule="cart", random_state=0)
    cells.fit(X, y, private=private)
    print(f"epsilon = {epsilon:g}: {len(cells.model_.table())} cells, R2 {cells.score(X_new, y_new):.2f}")

print(cells.guarantee_)
cells.model_.plot("homes_semi.svg")
