"""The auditor: checks privacy claims exactly, by enumeration, and from samples of the code that ships.

Users can point it at mechanisms of their own: :func:`audit_exact` at anything with a ``law``,
:func:`audit_sampled` at any function that randomises, :func:`law_of` at code that draws from the secure source,
:func:`audit_replay` at any fit that reads its records through the mechanisms of this library.
"""

from hedgerow.audit.branching import branching, law_of
from hedgerow.audit.exact import audit_exact, audit_laws
from hedgerow.audit.neighbours import Record, corner_records, neighbouring_tables, worst_pair, worst_tables
from hedgerow.audit.quick import audit_task
from hedgerow.audit.registry import Auditable, Entry, audit_all, auditables, entries, find, register, whole_tasks
from hedgerow.audit.replay import WholeFit, audit_replay, whole_fits
from hedgerow.audit.result import AuditResult, format_table
from hedgerow.audit.sampled import audit_sampled, runner

__all__ = [
    "AuditResult",
    "Auditable",
    "Entry",
    "Record",
    "WholeFit",
    "audit_all",
    "audit_exact",
    "audit_laws",
    "audit_replay",
    "audit_sampled",
    "audit_task",
    "auditables",
    "branching",
    "corner_records",
    "entries",
    "find",
    "format_table",
    "law_of",
    "neighbouring_tables",
    "register",
    "runner",
    "whole_fits",
    "whole_tasks",
    "worst_pair",
    "worst_tables",
]
