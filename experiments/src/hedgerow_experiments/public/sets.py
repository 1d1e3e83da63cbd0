"""Which data sets choices may look at."""

from __future__ import annotations

__all__ = ["DESIGN", "KEPT_OUT"]

DESIGN = ("ABA", "AIR", "AQU", "CAL", "CCP", "CON", "FIS", "GAS", "HOU", "MET", "RED")
"""Sets that choices may look at, one left out in turn."""
KEPT_OUT = ("APP", "CPU", "PAR", "TAX", "WHI")
"""Sets that no choice has looked at; they are reported only."""
