"""Linear maps that are known only by what they do to vectors: multiplied from the right, and their transpose likewise."""

from vitgeom.linop.dense import DenseOperator
from vitgeom.linop.protocol import LinearOperator

__all__ = ["DenseOperator", "LinearOperator"]
