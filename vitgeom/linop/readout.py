"""What is read from the tokens after the last block.   R = rows that are there, D = width, M = outputs, K = columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from torch import Tensor

from vitgeom.backbones import TokenLayout
from vitgeom.errors import InvalidInput, UnknownName

Kind = Literal["cls", "patch_mean", "tokens"]


@dataclass(frozen=True)
class Readout:
    """The class token [D], the mean of the patches [D], or all tokens [N D]: linear in each case.

    Attributes:
        kind: "cls", "patch_mean" or "tokens".
        num_prefix: Tokens before the first patch.
    """

    kind: str
    num_prefix: int

    def rows(self, num_tokens: int) -> int:
        """Return how many tokens, from the first on, are needed after the last block.

        Args:
            num_tokens: N before it.
        """
        return 1 if self.kind == "cls" else num_tokens

    def read(self, tokens_RD: Tensor) -> Tensor:
        """Return the outputs [..., M] of tokens [..., R, D]."""
        if self.kind == "cls":
            return tokens_RD[..., 0, :]
        if self.kind == "patch_mean":
            return tokens_RD[..., self.num_prefix :, :].mean(dim=-2)
        return tokens_RD.flatten(-2)

    def spread(self, outputs_KM: Tensor, *, rows: int, width: int) -> Tensor:
        """Return the transpose of ``read``: [K, R, D] of [K, M]."""
        if self.kind == "tokens":
            return outputs_KM.reshape(-1, rows, width)
        spread = outputs_KM.new_zeros(len(outputs_KM), rows, width)
        if self.kind == "cls":
            spread[:, 0] = outputs_KM
        else:
            spread[:, self.num_prefix :] = outputs_KM[:, None] / (rows - self.num_prefix)
        return spread


def choose_readout(kind: str, *, layout: TokenLayout, num_tokens: int) -> Readout:
    """Return the readout of a name, if these tokens have it.

    Args:
        kind: "cls", "patch_mean" or "tokens".
        layout: Order of the tokens.
        num_tokens: N; may be fewer than the layout's where patches were removed.

    Raises:
        UnknownName: Another name.
        InvalidInput: The model has no class token, or no patches are left.
    """
    if kind not in get_args(Kind):
        raise UnknownName("readout", kind, get_args(Kind))
    if kind == "cls" and not layout.num_cls:
        raise InvalidInput("readout='cls' needs a class token, and this backbone has none. Use 'patch_mean'.")
    if kind == "patch_mean" and num_tokens <= layout.num_prefix:
        raise InvalidInput(
            f"readout='patch_mean' needs patches, but features have {num_tokens} tokens, of which the first {layout.num_prefix} "
            "are none. Give all tokens of the image."
        )
    return Readout(kind, layout.num_prefix)
