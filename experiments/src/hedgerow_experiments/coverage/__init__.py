"""How often intervals cover what they claim, and how wide they are."""
