"""Linear maps that are known only by what they do to vectors: multiplied from the right, and their transpose likewise."""

from vitgeom.linop.adjoint import AdjointOperator
from vitgeom.linop.adjoint_check import AdjointCheck
from vitgeom.linop.any_blocks import blocks_jacobian
from vitgeom.linop.camera_metric import camera_pose_metric
from vitgeom.linop.counted import CountedOperator
from vitgeom.linop.deflated import DeflatedOperator
from vitgeom.linop.dense import DenseOperator
from vitgeom.linop.diagonal import DiagonalOperator
from vitgeom.linop.jacobian import JacobianOperator
from vitgeom.linop.plain_blocks import BlocksJacobian
from vitgeom.linop.product import ProductOperator
from vitgeom.linop.protocol import LinearOperator
from vitgeom.linop.scaled import ScaledOperator
from vitgeom.linop.sum import SumOperator

__all__ = [
    "AdjointCheck",
    "AdjointOperator",
    "BlocksJacobian",
    "CountedOperator",
    "DeflatedOperator",
    "DenseOperator",
    "DiagonalOperator",
    "JacobianOperator",
    "LinearOperator",
    "ProductOperator",
    "ScaledOperator",
    "SumOperator",
    "blocks_jacobian",
    "camera_pose_metric",
]
