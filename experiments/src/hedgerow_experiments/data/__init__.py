"""The papers' data sets: where they come from, what is public about them, how they are split."""
