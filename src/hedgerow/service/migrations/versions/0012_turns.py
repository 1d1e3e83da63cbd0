"""Numbers of arrivals say which server wrote them, and locks are others; the tables are as before.

Servers from before would not see what those of today bring, nor wait for them: the step makes each refuse the other.
"""

from __future__ import annotations

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Change nothing but the version: arrivals that were numbered before are those of a server without a number."""
