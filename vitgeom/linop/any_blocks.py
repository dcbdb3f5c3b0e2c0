"""The Jacobian of a backbone's own blocks by the best way that its blocks allow."""

from __future__ import annotations

from vitgeom.backbones import Backbone, OtherBlocks
from vitgeom.linop.blocks_decoder import BlocksDecoder
from vitgeom.linop.jacobian import DEFAULT_MAX_BYTES, JacobianOperator
from vitgeom.linop.plain_blocks import BlocksJacobian


def blocks_jacobian(
    backbone: Backbone,
    features: object,
    *,
    start: int,
    stop: int | None = None,
    finish: bool = True,
    readout: str = "tokens",
    max_bytes: object = DEFAULT_MAX_BYTES,
    max_batch: object = None,
    check: bool = True,
) -> BlocksJacobian | JacobianOperator:
    """Return dT/dF for T = the rest of the backbone: written out where its blocks are plain, else by automatic differentiation.

    Args:
        backbone: Frozen.
        features: F, finite [N, D] in the backbone's dtype on its device; copied.
        start: First block, 0-based; F is what it sees.
        stop: One past the last block; None: all that there are.
        finish: Whether the norm after the last block is applied.
        readout: "cls", "patch_mean" or "tokens".
        max_bytes: Memory for what one block of columns holds.
        max_batch: Columns at once; default: as many as ``max_bytes`` allow.
        check: Compare both sides with each other and with evaluations first.

    Returns:
        An operator; ``jvp_path`` says which way it took, ``fallbacks`` why not the better one.

    Raises:
        InvalidInput: Features, range, readout or sizes cannot be used.
        NumericalFailure: The output is not finite, or the written-out blocks do not give it.
    """
    try:
        return BlocksJacobian(
            backbone,
            features,
            start=start,
            stop=stop,
            finish=finish,
            readout=readout,
            max_bytes=max_bytes,
            max_batch=max_batch,
            check=check,
        )
    except OtherBlocks as other:
        decoder = BlocksDecoder(backbone, features, start=start, stop=stop, finish=finish, readout=readout)
        operator = JacobianOperator(
            decoder,
            decoder.features,
            max_bytes=max_bytes,
            max_batch=max_batch,
            num_prefix=backbone.spec.layout.num_prefix,
            check=check,
        )
        operator.fallbacks = (str(other), *operator.fallbacks)
        return operator
