"""The figures of a diagnosed image that a store of targets keeps beside its arrays: everything that is one number or one short list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitgeom.spectra import Diagnosis
from vitgeom.spectra.dataset import image_of
from vitgeom.spectra.theorems import BoundCheck
from vitgeom.store.schema import TARGETS


def image_figures(
    diagnosis: Diagnosis, checks: Mapping[str, BoundCheck], *, sample: str, image: int
) -> dict[str, Any]:
    """Return what a diagnosis says but for the arrays that the store holds.

    Args:
        diagnosis: Of one image.
        checks: Of its bounds, by name.
        sample: Its sample id.
        image: Its row in the split of the dataset.
    """
    told = {key: value for key, value in diagnosis.to_json().items() if key not in TARGETS}
    return {
        "sample": sample,
        "image": image,
        "aggregate": image_of(diagnosis).to_json(),
        "theorems": [{"check": name, **check.to_json()} for name, check in checks.items()],
        **told,
    }
