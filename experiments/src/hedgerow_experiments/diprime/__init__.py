"""DiPriMe: forests with private median splits."""
