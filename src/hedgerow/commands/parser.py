"""How the command line reads its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["Parser"]


class Parser(argparse.ArgumentParser):
    """Arguments that cost something to find are added late; errors are one line."""

    fill: Callable[[], None] | None = None
    """Adds the arguments that cost something to find; called when the command is chosen."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with all arguments in place."""
        if self.fill is not None:
            self.fill()
            self.fill = None
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line; the usage is a --help away."""
        self.exit(2, f"{self.prog}: {message} (see '{self.prog} --help')\n")
