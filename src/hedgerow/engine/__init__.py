"""Engines: the same totals from reports in memory, in files larger than memory, and on a cluster.

Adding is exact, so the engines agree bit for bit: :mod:`~hedgerow.engine.memory` adds batches one after another,
:mod:`~hedgerow.engine.files` streams files, :mod:`~hedgerow.engine.dask` spreads them over a cluster. Before any
adding, :mod:`~hedgerow.engine.dedupe` finds reports that are there twice.
"""
