"""A part of a profile's study has its results in a folder of its own, so that its report does not take the place of the whole one."""

from __future__ import annotations

from flows.departures import folder_name, other_names, other_parameters
from flows.study import Study


def apart(study: Study) -> Study:
    """Return the study, with a results folder of its own if it names other datasets or backbones than its profile.

    Args:
        study: What is asked for; a results folder that it names is kept.

    Raises:
        InvalidInput: A parameter, dataset or backbone is not allowed.
    """
    if study.out or (study.datasets is None and study.backbones is None):
        return study  # overrides alone are told by Study.resolve
    wanted, plain = study.resolve(), study.plain()
    departures = (
        *other_names(
            plain,
            datasets=[cell.dataset for cell in wanted.cells],
            backbones=[cell.backbone for cell in wanted.cells],
        ),
        *other_parameters(plain, wanted.params),
    )
    if not departures:
        return study
    return study.model_copy(update={"out": f"results/{folder_name(wanted.profile, departures)}"})


def apart_on_folder(study: Study, label: str) -> Study:
    """Return a study of an image folder, with a results folder named after it and after what is not the profile's own.

    Args:
        study: What is asked for; a results folder that it names is kept.
        label: Label of the image folder, which is the only dataset.

    Raises:
        InvalidInput: A parameter or backbone is not allowed.
    """
    if study.out:
        return study
    wanted, plain = study.resolve(), study.plain()
    departures = (
        *other_names(plain, datasets=(), backbones=[cell.backbone for cell in wanted.cells]),
        *other_parameters(plain, wanted.params),
    )
    return study.model_copy(update={"out": f"results/{folder_name(label, departures)}"})
