"""Speed, as ratios within one run: ``python -m benchmarks`` from the root of the repository."""
