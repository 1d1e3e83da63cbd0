"""A source that stops whoever draws from it about private rows."""

from hedgerow.randomness import Randomness

# These draw from public records or from nothing: a tree's cuts, who is asked what.
HARMLESS = {"partition", "design", "class", "pilot group"}


class Stopped(Exception):
    """Something was drawn about private rows."""


class Stopping(Randomness):
    """Not a simulation; every draw that may concern private rows raises."""

    def __init__(self, path=()):
        super().__init__()
        self.path = path

    def child(self, *path):
        return Stopping((*self.path, *path))

    def bytes(self, n):
        if self.path and self.path[0] in HARMLESS:
            return bytes(n)
        raise Stopped
