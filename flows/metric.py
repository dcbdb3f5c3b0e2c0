"""Sub-flow: learn to what decoders react, for every cell, decoder and layer that the parameters name.

Targets are made of training, validation and test images, and once more, independently, of the test images: what two estimates agree on is the ceiling
of any model. The regime of the validation images says what is trained, unless the parameters ask for something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from flows import console
from flows.cell import Cell
from flows.diagnose import asked_for, decoder_refs, warn_of_other_pictures
from flows.engine_scope import engine_for
from flows.metric_work import MetricWork
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from tasks.engine import Engine
from tasks.learnt import Learnt
from tasks.opened import opened_backbone
from tasks.receipt import Receipt
from tasks.regimes import regimes_of
from tasks.summarise_metric import LearntPair, summarise_metric
from tasks.train_metric import MODEL
from vitgeom.backbones import check_device
from vitgeom.decoders.embedded_heads import SCENE_HEADS
from vitgeom.metric.choice import BOTTLENECK, SPN, choose


@flow(name="metric", run_name="learn metrics")
def metric(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Learn metrics for every cell and write one file per cell into the results folder.

    Args:
        study: Which cells, and how; the block ``metric`` of its parameters names decoders, layers, images and models.
        left_out: Names of cells that are to be left alone.

    Returns:
        One receipt per cell.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    if wanted.params.engine.is_here:
        check_device(wanted.params.metric.device)
    with engine_for(wanted.params.engine) as engine:
        outcomes = attempt_each(
            [cell for cell in wanted.cells if cell.name not in left_out],
            lambda cell: metric_cell(cell.name, cell, wanted=wanted, engine=engine, results=results),
            on_failure=console.report_failure,
        )
    return require_all("metric", outcomes)


@task(name="metric", run_name="metric {name}")
def metric_cell(name: str, cell: Cell, *, wanted: Resolved, engine: Engine, results: Results) -> Receipt:
    """Make or find a cell's targets and models, and write what they come to; ``name`` is what Prefect shows."""
    params = wanted.params.metric
    backbone = opened_backbone(
        cell.backbone_ref.at_size(wanted.params.extract.image_size).to_json(), device="cpu"
    )
    work = MetricWork(cell, backbone, wanted, engine)
    decoders = decoder_refs(params)
    warn_of_other_pictures(decoders, cell)
    targets, again = work.targets(decoders, again=False), work.targets(decoders, again=True)
    choices = {
        decoder: choose(
            regimes_of(wanted.store, receipt, split="val"),
            has_head=decoder.name in SCENE_HEADS,
            asked=_asked(wanted),
        )
        for decoder, receipt in targets.items()
    }
    for decoder, choice in choices.items():
        console.say(f"metric {name} {decoder.label}: {choice.why}")
    models = work.models(targets, choices)
    bottlenecks = work.bottlenecks(choices)
    behind = work.behind(bottlenecks)
    ranks = work.ranks(targets, choices)
    content, receipt = summarise_metric(
        [
            LearntPair(
                decoder,
                choices[decoder],
                Learnt(targets[decoder], again[decoder], models[decoder]),
                target=params.target,
                ranks=ranks.get(decoder),
                bottleneck=bottlenecks.get(decoder),
                behind=behind.get(decoder),
            )
            for decoder in decoders
        ],
        dataset=cell.dataset_ref,
        backbone=backbone,
        store=wanted.store,
        num_bootstrap=params.num_bootstrap,
        seed=wanted.params.seed,
        name=name,
        asked=asked_for(params),
    )
    if results.write_metric(cell, content):
        console.say(f"metric {name}: replaces other figures in {results.metric(cell)}")
    console.say(_said(name, receipt))
    made = {
        (decoder, kind): trained[0]
        for decoder, by_kind in models.items()
        for kind, trained in by_kind.items()
    }
    made |= {(decoder, BOTTLENECK): trained for decoder, trained in bottlenecks.items()}
    made |= {(decoder, "spn of latents"): each.models[SPN][0] for decoder, each in behind.items()}
    for (decoder, kind), trained in made.items():
        console.say(f"metric {name} {decoder.label}: {kind} is {trained.uri}/{MODEL}")
    return receipt


def _asked(wanted: Resolved) -> tuple[str, ...] | None:
    learn = wanted.params.metric.learn
    return None if isinstance(learn, str) else learn


def _said(name: str, receipt: Receipt) -> str:
    how = "cached" if receipt.cached else f"{receipt.seconds:.1f} s"
    shown = "; ".join(
        f"{pair}: "
        + ", ".join(f"{figure} {value:.3f}" for figure, value in found.items() if value is not None)
        for pair, found in receipt.detail["figures"].items()
    )
    return f"metric {name}: {how}; {shown}"
