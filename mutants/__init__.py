"""Planted privacy faults, and the checks that must catch them: ``python -m mutants`` (``make mutants``).

Each :class:`~mutants.fault.Fault` is one small edit that would break a privacy claim. It is applied to a copy of
the tree, and the tests or audits that it names are run there: at least one must fail by an assertion. The same
checks are run first on the tree as it is, where all must pass. A fault that nothing catches is a survivor.
"""
