"""Trees filled with locally private reports: regression and classes."""
