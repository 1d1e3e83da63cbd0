"""Public models that travel: trees, linear parts and bumps as plain arrays, evaluated with NumPy alone."""

from hedgerow.portable.bumps import Kernel, Matern
from hedgerow.portable.model import PortableModel
from hedgerow.portable.smooth import Linear
from hedgerow.portable.trees import Trees

__all__ = ["Kernel", "Linear", "Matern", "PortableModel", "Trees"]
