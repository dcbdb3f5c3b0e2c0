"""Sub-flow: to which directions and tokens decoders react, for every cell, decoder and layer that the parameters name.

Images are read and run anew: directions belong to all tokens of a layer, which no feature store keeps. What is stored of them is not computed
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows import console
from flows.cell import Cell
from flows.direction_params import Diagnose, Metric
from flows.engine_scope import engine_for
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from tasks.engine import Engine
from tasks.opened import opened_backbone
from tasks.receipt import Receipt
from tasks.summarise_targets import summarise_targets
from tasks.target_request import DecoderRef, TargetSettings
from tasks.target_set import make_target_set
from vitgeom.backbones import check_device
from vitgeom.decoders.embedded_heads import SCENE_HEADS


@flow(name="diagnose", run_name="diagnose directions")
def diagnose(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Diagnose every cell and write one file per cell into the results folder.

    Args:
        study: Which cells, and how; the block ``diagnose`` of its parameters names decoders, layers and images.
        left_out: Names of cells that are not to be diagnosed.

    Returns:
        One receipt per cell.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    if wanted.params.engine.is_here:
        check_device(wanted.params.diagnose.device)
    with engine_for(wanted.params.engine) as engine:
        outcomes = attempt_each(
            [cell for cell in wanted.cells if cell.name not in left_out],
            lambda cell: diagnose_cell(cell.name, cell, wanted=wanted, engine=engine, results=results),
            on_failure=console.report_failure,
        )
    return require_all("diagnose", outcomes)


@task(name="diagnose", run_name="diagnose {name}")
def diagnose_cell(name: str, cell: Cell, *, wanted: Resolved, engine: Engine, results: Results) -> Receipt:
    """Make or find a cell's targets, and write what they come to; ``name`` is what Prefect shows."""
    params = wanted.params.diagnose
    decoders = decoder_refs(params)
    warn_of_other_pictures(decoders, cell)
    sealed = make_target_set(
        cell.dataset_ref,
        cell.backbone_ref,
        decoders,
        store=wanted.store,
        settings=settings_from(wanted),
        engine=engine,
        emit=console.say,
        label=f"diagnose {name}",
    )
    content, receipt = summarise_targets(
        sealed,
        dataset=cell.dataset_ref,
        backbone=opened_backbone(
            cell.backbone_ref.at_size(wanted.params.extract.image_size).to_json(), device="cpu"
        ),
        store=wanted.store,
        num_bootstrap=params.num_bootstrap,
        seed=wanted.params.seed,
        name=name,
        asked=asked_for(params),
    )
    if results.write_directions(cell, content):
        console.say(f"diagnose {name}: replaces other figures in {results.directions(cell)}")
    console.say(_said(name, receipt))
    return receipt


def decoder_refs(params: Diagnose | Metric) -> list[DecoderRef]:
    """Return every decoder at every layer."""
    return [DecoderRef.spelled(name, layer=layer) for name in params.decoders for layer in params.layers]


def warn_of_other_pictures(decoders: Sequence[DecoderRef], cell: Cell) -> None:
    """Say where a head sees other pictures than it was trained on: its output means little there, and so does what it reacts to."""
    heads = sorted({decoder.name for decoder in decoders if decoder.name in SCENE_HEADS})
    if heads and "scenes" not in cell.dataset_ref.name:
        console.warn(
            f"{cell.name}: {', '.join(heads)} was trained on rendered scenes; on other pictures its output, and what that reacts to, means little"
        )


def asked_for(params: Diagnose | Metric) -> dict[str, Any]:
    """Return the parameters that decide the figures, as plain JSON."""
    return params.model_dump(
        mode="json", exclude={"datasets", "rows_per_range", "device", "threads", "workers"}
    )


def settings_from(wanted: Resolved) -> TargetSettings:
    """Return the settings of the task that belong to a profile's parameters."""
    params = wanted.params
    return TargetSettings(
        seed=params.seed,
        image_size=params.extract.image_size,
        **params.diagnose.model_dump(
            include={"images", "rank", "recipe", "budget", "storage", "rows_per_range", "device", "threads"}
        ),
    )


def _said(name: str, receipt: Receipt) -> str:
    how = (
        "cached" if receipt.cached else f"{receipt.detail['products']:,} products in {receipt.seconds:.1f} s"
    )
    shown = ", ".join(
        f"{pair} {'undefined' if found['kappa'] is None else format(found['kappa'], '.2f')}"
        for pair, found in receipt.detail["figures"].items()
    )
    return f"diagnose {name}: {how}; share of the best directions: {shown}"
