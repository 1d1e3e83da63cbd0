"""Randomisers of one holder's value: each with a sampler, an exact law, a guarantee and a variance."""

from hedgerow.mechanisms.base import CategoricalMechanism, Law, Mechanism, check_epsilon
from hedgerow.mechanisms.bits import BitVectorResponse, UnaryEncoding
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.mechanisms.subset import SubsetSelection

__all__ = [
    "BitVectorResponse",
    "CategoricalMechanism",
    "DiscreteLaplace",
    "KaryResponse",
    "Law",
    "Mechanism",
    "SubsetSelection",
    "UnaryEncoding",
    "check_epsilon",
]
