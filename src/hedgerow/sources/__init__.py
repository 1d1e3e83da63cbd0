"""Private records larger than memory: where they are, and how they are read in batches.

A source is read as often as a fit asks for it, and each time has the same records. Files (:mod:`.files`), Arrow
datasets (:mod:`.arrow`) and Dask collections (:mod:`.dask`) are sources; :func:`as_source` tells them from tables.
"""

from hedgerow.sources.base import Batch, Part, Source
from hedgerow.sources.given import as_source, kind_of

__all__ = ["Batch", "Part", "Source", "as_source", "kind_of"]
