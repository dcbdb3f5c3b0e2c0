"""Spectra of task Jacobians: how many directions and tokens carry a task, with error bars, a verdict and advice."""

from vitgeom.spectra.diagnose import diagnose
from vitgeom.spectra.diagnosis import Diagnosis
from vitgeom.spectra.effective_rank import EffectiveRanks, RankForShare
from vitgeom.spectra.regime import Regime, Thresholds
from vitgeom.spectra.token_energy import TokenSpread

__all__ = [
    "Diagnosis",
    "EffectiveRanks",
    "RankForShare",
    "Regime",
    "Thresholds",
    "TokenSpread",
    "diagnose",
]
