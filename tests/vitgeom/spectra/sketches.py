"""Sketches with chosen figures."""

from __future__ import annotations

from typing import Any

import torch

from vitgeom.bootstrap import Interval
from vitgeom.randnla.products import Products
from vitgeom.randnla.row_block_norms import BlockNorms
from vitgeom.spectra.sketch import Sketch


def sketch(leading: list[float], *, rank: int = 2, converged: int | None = None, **changes: Any) -> Sketch:
    """Return a sketch of a diagonal Jacobian with these squared singular values, one column per token."""
    squared = torch.tensor(leading, dtype=torch.float64)
    columns = max(len(leading), 1)
    total = float(squared.sum())
    settings: dict[str, Any] = {
        "recipe": "made",
        "shape": (columns, columns),
        "right_NR": torch.eye(columns, dtype=torch.float64)[:, :rank],
        "sigma_R": squared[:rank].sqrt(),
        "leading": squared,
        "converged": len(leading) if converged is None else converged,
        "lost": 0.0,
        "norm": Interval(total, total, total),
        "stderr": 0.0,
        "norms": BlockNorms(squared, torch.zeros_like(squared), Products()),
        "density": None,
        "square": float((squared**2).sum()),
        "residuals_R": None,
        "products": Products(),
    }
    return Sketch(**{**settings, **changes})
