"""How much of what the last layer gets wrong some earlier layer knows."""

from vitgeom.recoverability.across_datasets import Correlation, across_datasets
from vitgeom.recoverability.analyse import analyse
from vitgeom.recoverability.gap import gap_closure
from vitgeom.recoverability.refit_control import RefitControl, refit_control
from vitgeom.recoverability.report import PermutationFloor, RecoverabilityReport

__all__ = [
    "Correlation",
    "PermutationFloor",
    "RecoverabilityReport",
    "RefitControl",
    "across_datasets",
    "analyse",
    "gap_closure",
    "refit_control",
]
