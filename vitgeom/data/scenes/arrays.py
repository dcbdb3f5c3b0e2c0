"""Names for the array shapes of this package; n rays or points, stored component-first."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

Vector = Float[np.ndarray, "3"]
Matrix = Float[np.ndarray, "3 3"]
Points = Float[np.ndarray, "3 n"]
ImagePoints = Float[np.ndarray, "2 n"]
PerRay = Float[np.ndarray, " n"]
PerRayMask = Bool[np.ndarray, " n"]
PerRayNumber = Int[np.ndarray, " n"]
Chosen = Int[np.ndarray, " chosen"]
