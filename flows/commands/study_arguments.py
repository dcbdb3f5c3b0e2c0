"""Arguments that several commands share: which study, where it is stored, where its results go."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flows.study import Study

ENGINES = ("serial", "ray")
ORCHESTRATORS = ("auto", "prefect", "plain")


def add_study(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a study."""
    command.add_argument("--profile", help="profile of the parameter file (default: the file's own choice)")
    command.add_argument(
        "--dataset", action="append", metavar="NAME", help="only this dataset; may be given several times"
    )
    command.add_argument(
        "--backbone",
        action="append",
        metavar="NAME_OR_FILE",
        help="only this backbone: an embedded or timm name, or a checkpoint file; may be given several times",
    )
    command.add_argument("--architecture", metavar="NAME", help="timm name of what a checkpoint file holds")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="one parameter, e.g. probe.tol=1e-4; may be given several times. What changes features, probes or fusion has its results in a folder of its own",
    )
    command.add_argument(
        "--params", default="params.yaml", metavar="FILE", help="the parameter file (default: %(default)s)"
    )
    add_store(command)
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="folder for results (default: results/<profile>; a part of the profile, or other parameters, get one of their own)",
    )
    command.add_argument(
        "--engine", choices=ENGINES, help="where the work runs (default: the profile's engine.kind)"
    )


def add_data(command: argparse.ArgumentParser) -> None:
    """Add the argument that names images of the user's own."""
    command.add_argument(
        "--data",
        metavar="FOLDER",
        help="your own images, one folder per class, in place of the profile's datasets",
    )


def add_store(command: argparse.ArgumentParser) -> None:
    """Add the argument that names the feature store."""
    command.add_argument(
        "--store",
        metavar="URI",
        help="folder or s3://bucket/prefix (default: $VITGEOM_STORE or .vitgeom/store)",
    )


def add_orchestrator(command: argparse.ArgumentParser) -> None:
    """Add the argument that says who runs the flow."""
    command.add_argument(
        "--orchestrator",
        choices=ORCHESTRATORS,
        default="auto",
        help="auto: Prefect where an API is configured (PREFECT_API_URL), or else plain calls without any server (default: %(default)s)",
    )


def study_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of the study that the arguments name, as plain JSON values."""
    overrides = [*arguments.set, *([f"engine.kind={arguments.engine}"] if arguments.engine else [])]
    return {
        "profile": arguments.profile,
        "datasets": arguments.dataset,
        "backbones": _backbones(arguments.backbone, arguments.architecture),
        "store": arguments.store,
        "out": arguments.out,
        "overrides": overrides,
        "params_file": arguments.params,
    }


def data_folder(arguments: argparse.Namespace) -> str | None:
    """Return the folder with the user's own images, None for the study's datasets.

    Raises:
        InvalidInput: It is empty, or datasets are named as well.
    """
    from vitgeom.errors import InvalidInput

    if arguments.data == "":
        raise InvalidInput("--data is empty: give the folder with the images, or leave it out.")
    if arguments.data and arguments.dataset:
        raise InvalidInput("--data takes the place of the datasets: give either --data or --dataset.")
    return str(arguments.data) if arguments.data else None


def study(arguments: argparse.Namespace) -> Study:
    """Return the study that the arguments name."""
    from flows.study import Study

    return Study(**study_fields(arguments))


def _backbones(names: list[str] | None, architecture: str | None) -> list[dict[str, Any]] | None:
    """Return backbone entries; files are made absolute, because workers may run in another folder."""
    from vitgeom.errors import InvalidInput

    if architecture and len(names or []) != 1:
        raise InvalidInput(
            f"--architecture {architecture} needs exactly one --backbone, the checkpoint file that holds it."
        )
    options = {"architecture": architecture} if architecture else {}
    if names is None:
        return None
    return [
        {"name": str(Path(name).absolute()) if Path(name).is_file() else name, "options": options}
        for name in names
    ]
