"""What it costs to state bounds beforehand instead of taking those of the data."""
