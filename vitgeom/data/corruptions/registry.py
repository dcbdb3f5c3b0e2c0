"""All corruptions by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vitgeom.data.corruptions.blur import BLURS
from vitgeom.data.corruptions.corruption import Corruption
from vitgeom.data.corruptions.digital import LOSSES
from vitgeom.data.corruptions.elastic import ELASTIC
from vitgeom.data.corruptions.noise import NOISES
from vitgeom.data.corruptions.tone import TONES
from vitgeom.data.corruptions.weather import WEATHER

VERSION = 1
"""Raised by whoever changes what a corruption draws or how strong it is."""

CORRUPTIONS: Mapping[str, Corruption] = MappingProxyType(
    {item.name: item for item in (*NOISES, *BLURS, *WEATHER, *TONES, *LOSSES, *ELASTIC)}
)
