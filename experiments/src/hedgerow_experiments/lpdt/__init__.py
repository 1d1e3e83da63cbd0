"""LPDT: decision trees from locally private reports and public data."""
