"""A page on which one record is tried: its prediction, what that is made of, and how sure it is."""

from hedgerow.explorer.explorer import Explorer

__all__ = ["Explorer"]
