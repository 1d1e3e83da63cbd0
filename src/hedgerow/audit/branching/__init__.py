"""The exact law of code as it ships: every draw of the secure source is branched over all that it can be.

:func:`law_of` runs a function again and again, each time along another path of its draws, until the chance of all
paths that it has not followed is as small as asked for. Nothing is known about the function but what it does.
"""

from hedgerow.audit.branching.paths import Lost, explore
from hedgerow.audit.branching.secure import branching, law_of

__all__ = ["Lost", "branching", "explore", "law_of"]
