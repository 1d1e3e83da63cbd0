"""Labels of public records, randomised once."""
