"""The auditor: checks privacy claims exactly, by enumeration, and from samples of the code that ships.

Users can point it at mechanisms of their own: :func:`audit_exact` at anything with a ``law``,
:func:`audit_sampled` at any function that randomises.
"""

from hedgerow.audit.exact import audit_exact, audit_laws
from hedgerow.audit.neighbours import Record, corner_records, neighbouring_tables, worst_pair, worst_tables
from hedgerow.audit.registry import Auditable, audit_all, auditables, find, register
from hedgerow.audit.result import AuditResult, format_table
from hedgerow.audit.sampled import audit_sampled, runner

__all__ = [
    "AuditResult",
    "Auditable",
    "Record",
    "audit_all",
    "audit_exact",
    "audit_laws",
    "audit_sampled",
    "auditables",
    "corner_records",
    "find",
    "format_table",
    "neighbouring_tables",
    "register",
    "runner",
    "worst_pair",
    "worst_tables",
]
