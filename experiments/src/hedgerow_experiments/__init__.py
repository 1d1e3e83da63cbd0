"""Experiments of the papers, rerun: data sets, one module a paper, tables beside the printed ones."""
