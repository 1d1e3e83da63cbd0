"""The holder's side: look at a task, decide, randomise on this device, send once, and keep the books.

>>> from hedgerow.holder import Holder
>>> holder = Holder(home=getfixture("tmp_path"))
>>> str(holder.store.spent()), str(holder.store.total)
('epsilon = 0', 'epsilon = 16 and delta = 1e-06')

Needs NumPy and the standard library, and ``cryptography`` for signatures (``pip install 'hedgerow[holder]'``).
"""

from hedgerow.holder.budget import Cost, Limits
from hedgerow.holder.client import Client, Place, Receipt, ServiceError
from hedgerow.holder.device import Answer, Holder, Invitation, default_home

__all__ = [
    "Answer",
    "Client",
    "Cost",
    "Holder",
    "Invitation",
    "Limits",
    "Place",
    "Receipt",
    "ServiceError",
    "default_home",
]
