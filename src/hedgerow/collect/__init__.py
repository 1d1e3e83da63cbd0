"""Engines: the same totals from reports in memory, in files larger than memory, and on a cluster.

Adding is exact, so the engines agree bit for bit: :mod:`~hedgerow.collect.memory` adds batches one after another,
:mod:`~hedgerow.collect.files` streams files, :mod:`~hedgerow.collect.dask` spreads them over a cluster. Before any
adding, :mod:`~hedgerow.collect.dedupe` finds reports that are there twice.
"""
