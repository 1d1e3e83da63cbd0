"""HistOfTree: locally private estimation with public features."""
