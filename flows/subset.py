"""A part of a profile's study has its results in a folder of its own, so that its report does not take the place of the whole one."""

from __future__ import annotations

from collections.abc import Iterable

from flows.study import Study
from vitgeom.store.fingerprint import fingerprint

LONGEST = 80


def apart(study: Study) -> Study:
    """Return the study, with a results folder of its own if it names other datasets or backbones than its profile.

    Args:
        study: What is asked for; a results folder that it names is kept.

    Raises:
        InvalidInput: A parameter, dataset or backbone is not allowed.
    """
    if study.out or (study.datasets is None and study.backbones is None):
        return study
    wanted = study.resolve()
    whole = study.model_copy(update={"datasets": None, "backbones": None}).resolve()
    differing = [
        names
        for names, usual in (
            (_names(cell.dataset for cell in wanted.cells), _names(cell.dataset for cell in whole.cells)),
            (_names(cell.backbone for cell in wanted.cells), _names(cell.backbone for cell in whole.cells)),
        )
        if set(names) != set(usual)
    ]
    if not differing:
        return study
    name = "-".join(name for names in differing for name in names)
    short = name if len(name) <= LONGEST else fingerprint(name)[:12]
    return study.model_copy(update={"out": f"results/{wanted.profile}-{short}"})


def _names(labels: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(labels))
