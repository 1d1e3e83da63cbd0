"""What is done to private data before anybody sees it: one mechanism a file, all under one contract.

:mod:`hedgerow.mechanisms.base` says what each file holds: draw, law, proof, words and audit instances.
"""

from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import CentralMechanism, Law, LocalMechanism, Mechanism
from hedgerow.mechanisms.bits import BitVectorResponse, UnaryEncoding
from hedgerow.mechanisms.categorical import CategoricalMechanism
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.mechanisms.subset import SubsetSelection

__all__ = [
    "Audit",
    "BitVectorResponse",
    "CategoricalMechanism",
    "CentralMechanism",
    "Chance",
    "DiscreteLaplace",
    "KaryResponse",
    "Law",
    "LocalMechanism",
    "Mechanism",
    "SubsetSelection",
    "UnaryEncoding",
]
