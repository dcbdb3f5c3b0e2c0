"""What share of the way from the best layer to the oracle a method covers."""

from __future__ import annotations


def gap_closure(acc: float, acc_best: float, acc_oracle: float) -> float | None:
    """Return (acc - acc_best) / (acc_oracle - acc_best), or None where oracle and best layer agree.

    Args:
        acc: Test accuracy of the method.
        acc_best: Test accuracy of the layer that validation chose.
        acc_oracle: Share of test samples that at least one layer gets right.
    """
    gap = acc_oracle - acc_best
    return None if gap == 0 else (acc - acc_best) / gap
