"""Public models that travel: trees, linear and kernel parts as plain arrays, evaluated with NumPy alone."""

from hedgerow.portable.model import PortableModel
from hedgerow.portable.smooth import Kernel, Linear
from hedgerow.portable.trees import Trees

__all__ = ["Kernel", "Linear", "PortableModel", "Trees"]
