"""What the papers say, checked against our results."""
