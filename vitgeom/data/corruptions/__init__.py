"""Damage to pictures in graded strength: 16 corruptions x 5 severities."""

from vitgeom.data.corruptions.corrupt import corrupt, corruption_named
from vitgeom.data.corruptions.corruption import SEVERITIES, Corruption
from vitgeom.data.corruptions.registry import CORRUPTIONS

__all__ = ["CORRUPTIONS", "SEVERITIES", "Corruption", "corrupt", "corruption_named"]
