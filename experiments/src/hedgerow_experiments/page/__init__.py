"""The results at a glance: one page that says what to use when."""
