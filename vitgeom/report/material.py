"""Everything that one report shows, as plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.report.combination import Combination, Failure
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.fused_pair import FusedPair
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.pictured_tokens import PicturedTokens
from vitgeom.report.shifted_pair import ShiftedPair


@dataclass(frozen=True)
class DatasetFacts:
    """One dataset in a line, and its files that could not be used as (path, reason)."""

    name: str
    source: str = ""
    quarantine: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Cost:
    """What one stage of one pair took when it was computed; ``num_bytes`` are stored, ``peak_bytes`` the memory of a process."""

    stage: str
    dataset: str
    backbone: str
    seconds: float
    num_bytes: int | None = None
    peak_bytes: int | None = None
    rows: int | None = None


@dataclass(frozen=True)
class Material:
    """The whole input of a page.

    Attributes:
        title: Heading of the page.
        profile: The profile of ``params.yaml`` that was run.
        finished: Pairs with results, in the order to show.
        failed: Pairs without.
        datasets: Facts on the datasets.
        costs: Time and memory by stage.
        fused: How methods compare that use all layers, by pair.
        across: How the last layers of several backbones compare with all of them together, by dataset.
        unfused: Pairs whose comparison failed.
        shifted: What the same classifiers do under distribution shift, for pairs that were asked.
        unshifted: Pairs whose figures under shift cannot be shown.
        directed: To which directions and tokens decoders react, for pairs that were diagnosed.
        undirected: Pairs whose directions cannot be shown.
        learnt: What models learnt of that, for pairs where they were trained.
        unlearnt: Pairs where learning failed, or whose figures cannot be shown.
        provenance: Any nesting of plain JSON: parameters, versions, commit, machine, engine.
        subject: What is studied, where it is not what the profile names: the user's own image folder.
    """

    title: str
    profile: str
    finished: tuple[Combination, ...]
    failed: tuple[Failure, ...] = ()
    datasets: tuple[DatasetFacts, ...] = ()
    costs: tuple[Cost, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    fused: tuple[FusedPair, ...] = ()
    across: tuple[FusedPair, ...] = ()
    unfused: tuple[Failure, ...] = ()
    shifted: tuple[ShiftedPair, ...] = ()
    unshifted: tuple[Failure, ...] = ()
    directed: tuple[DirectedPair, ...] = ()
    undirected: tuple[Failure, ...] = ()
    learnt: tuple[LearntPair, ...] = ()
    unlearnt: tuple[Failure, ...] = ()
    subject: str = ""

    @property
    def heading(self) -> str:
        """The title, with what is studied where it is not what the profile names."""
        return self.title if self.subject in ("", self.profile) else f"{self.title}: {self.subject}"

    def __post_init__(self) -> None:
        if not self.finished and not self.failed:
            raise InvalidInput(
                "a report needs at least one dataset × backbone, finished or failed; got none."
            )
        _check_once([*self.finished, *self.failed])
        _check_once([*self.fused, *self.across, *self.unfused])
        _check_once([*self.shifted, *self.unshifted])
        _check_once([*self.directed, *self.undirected])
        _check_once([*self.learnt, *self.unlearnt])


def _check_once(pairs: Sequence[Combination | FusedPair | ShiftedPair | PicturedTokens | Failure]) -> None:
    labels = [pair.label for pair in pairs]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise InvalidInput(f"each dataset × backbone may be reported once, got twice: {', '.join(twice)}.")
