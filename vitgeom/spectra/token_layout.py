"""How the columns of an operator are cut into tokens.   N = tokens, D = width of each."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class TokenLayout:
    """Consecutive blocks of columns.

    Attributes:
        num_tokens: N, prefix tokens first.
        num_prefix: CLS and registers among them.
        width: D.
    """

    num_tokens: int
    num_prefix: int
    width: int


def token_layout(
    operator: LinearOperator, *, num_tokens: int | None = None, num_prefix: int | None = None
) -> TokenLayout:
    """Return the layout as given, or as the operator states it (attributes ``num_tokens`` and ``num_prefix``).

    Args:
        operator: J [M, N D].
        num_tokens: N; None to ask the operator.
        num_prefix: Prefix tokens; None to ask the operator, 0 if it does not say.

    Raises:
        InvalidInput: N is nowhere stated or does not divide the columns, or more prefix tokens than tokens.
    """
    tokens = getattr(operator, "num_tokens", None) if num_tokens is None else num_tokens
    prefix = getattr(operator, "num_prefix", 0) if num_prefix is None else num_prefix
    columns = operator.shape[1]
    if tokens is None:
        raise InvalidInput(
            f"num_tokens is needed: {type(operator).__name__} with {columns} columns does not state how many tokens they are. "
            "Give num_tokens=, 1 if there are none."
        )
    tokens = whole_number("num_tokens", tokens, at_least=1)
    prefix = whole_number("num_prefix", prefix, at_least=0, at_most=tokens)
    if columns % tokens:
        raise InvalidInput(f"num_tokens must divide the {columns} columns of the operator, got {tokens}.")
    return TokenLayout(tokens, prefix, columns // tokens)
