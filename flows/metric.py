"""Sub-flow: learn to what decoders react, for every cell, decoder and layer that the parameters name.

Targets are made of training, validation and test images, and once more, independently, of the test images: what two estimates agree on is the ceiling
of any model. The regime of the validation images says what is trained, unless the parameters ask for something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from flows import console
from flows.cell import Cell
from flows.diagnose import decoder_refs
from flows.engine_scope import engine_for
from flows.metric_requests import (
    SPLITS,
    bottleneck_request_for,
    rank_request_for,
    request_for,
    target_settings,
)
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from tasks import sweep_rank
from tasks.bottleneck_request import BottleneckRequest
from tasks.engine import Engine
from tasks.metric_request import LearnerName, MetricRequest
from tasks.opened import opened_backbone, opened_images
from tasks.receipt import Receipt
from tasks.regimes import regimes_of
from tasks.summarise_metric import LearntPair, summarise_metric
from tasks.sweep_engine import trials_on
from tasks.target_request import DecoderRef
from tasks.target_set import make_target_set
from tasks.train_metric import MODEL
from tasks.training_watch import watched
from vitgeom.backbones import Backbone, check_device
from vitgeom.decoders.embedded_heads import SCENE_HEADS
from vitgeom.metric.choice import BOTTLENECK, SPN, Choice, choose

LEARNT_FROM_TARGETS: tuple[LearnerName, ...] = ("importance", "spn")
"""Models that are learnt from directions and importance; a bottleneck is learnt from tokens."""


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
    decoders = decoder_refs(params)
    targets = _targets(cell, decoders, wanted, engine, again=False)
    again = _targets(cell, decoders, wanted, engine, again=True)
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
    models = _models(name, targets, choices, backbone, wanted, engine)
    bottlenecks = _bottlenecks(cell, choices, backbone, wanted, engine)
    ranks = _ranks(cell, targets, choices, backbone, wanted, engine)
    content, receipt = summarise_metric(
        [
            LearntPair(
                decoder,
                choices[decoder],
                targets[decoder],
                again[decoder],
                models[decoder],
                ranks=ranks.get(decoder),
                bottleneck=bottlenecks.get(decoder),
            )
            for decoder in decoders
        ],
        dataset=cell.dataset_ref,
        backbone=backbone,
        store=wanted.store,
        num_bootstrap=params.num_bootstrap,
        seed=wanted.params.seed,
        name=name,
    )
    results.write_metric(cell, content)
    console.say(_said(name, receipt))
    made = {
        (decoder, kind): trained[0]
        for decoder, by_kind in models.items()
        for kind, trained in by_kind.items()
    }
    made |= {(decoder, BOTTLENECK): trained for decoder, trained in bottlenecks.items()}
    for (decoder, kind), trained in made.items():
        console.say(f"metric {name} {decoder.label}: {kind} is {trained.uri}/{MODEL}")
    return receipt


def _targets(
    cell: Cell, decoders: Sequence[DecoderRef], wanted: Resolved, engine: Engine, *, again: bool
) -> dict[DecoderRef, Receipt]:
    return make_target_set(
        cell.dataset_ref,
        cell.backbone_ref,
        decoders,
        store=wanted.store,
        settings=target_settings(wanted, again=again),
        engine=engine,
        emit=console.say,
        label=f"{'second estimate' if again else 'targets'} of {cell.name}",
    )


def _models(
    name: str,
    targets: dict[DecoderRef, Receipt],
    choices: dict[DecoderRef, Choice],
    backbone: Backbone,
    wanted: Resolved,
    engine: Engine,
) -> dict[DecoderRef, dict[str, list[Receipt]]]:
    """Train all models of a cell together; return them by decoder and kind, one per seed."""
    plan = [
        (decoder, learner, seed)
        for decoder, choice in choices.items()
        for learner in LEARNT_FROM_TARGETS
        if learner in choice.learners
        for seed in wanted.params.metric.seeds
    ]
    requests = [
        request_for(
            targets[decoder], learner, seed=seed, num_prefix=backbone.spec.layout.num_prefix, wanted=wanted
        )
        for decoder, learner, seed in plan
    ]
    with watched(requests, emit=console.say, label=f"train {name}") as seen:
        receipts = engine.map(MetricRequest.task, requests, on_receipt=seen, label=f"train {name}")
    found: dict[DecoderRef, dict[str, list[Receipt]]] = {decoder: {} for decoder in targets}
    for (decoder, learner, _), receipt in zip(plan, receipts, strict=True):
        found[decoder].setdefault(learner, []).append(receipt)
    return found


def _bottlenecks(
    cell: Cell, choices: dict[DecoderRef, Choice], backbone: Backbone, wanted: Resolved, engine: Engine
) -> dict[DecoderRef, Receipt]:
    """Train a bottleneck in front of each head that is to have one. All taps are behind it, so layers of one decoder share theirs."""
    behind = [decoder for decoder, choice in choices.items() if BOTTLENECK in choice.learners]
    if not behind:
        return {}
    data = opened_images(cell.dataset_ref.to_json())
    requests = {
        decoder: bottleneck_request_for(
            cell,
            decoder,
            dataset_digest=data.digest,
            weights_digest=backbone.spec.weights_digest,
            sizes={split: len(data.splits[split]) for split in SPLITS},
            wanted=wanted,
        )
        for decoder in behind
    }
    once = list({request.path: request for request in requests.values()}.values())
    with watched(once, emit=console.say, label=f"bottlenecks of {cell.name}") as seen:
        receipts = engine.map(
            BottleneckRequest.task, once, on_receipt=seen, label=f"bottlenecks of {cell.name}"
        )
    by_path = {request.path: receipt for request, receipt in zip(once, receipts, strict=True)}
    return {decoder: by_path[request.path] for decoder, request in requests.items()}


def _ranks(
    cell: Cell,
    targets: dict[DecoderRef, Receipt],
    choices: dict[DecoderRef, Choice],
    backbone: Backbone,
    wanted: Resolved,
    engine: Engine,
) -> dict[DecoderRef, Receipt]:
    """Sweep over ranks where a network is trained and ranks are asked for; targets of a higher rank are made where they are needed."""
    params = wanted.params.metric
    swept = [decoder for decoder, choice in choices.items() if SPN in choice.learners]
    if not params.sweep.ranks or not swept:
        return {}
    highest = max(params.sweep.ranks)
    if highest > params.rank:
        targets = make_target_set(
            cell.dataset_ref,
            cell.backbone_ref,
            swept,
            store=wanted.store,
            settings=target_settings(wanted, again=False).model_copy(update={"rank": highest}),
            engine=engine,
            emit=console.say,
            label=f"targets of rank {highest} of {cell.name}",
        )
    found = {}
    for decoder in swept:
        request = rank_request_for(
            targets[decoder], num_prefix=backbone.spec.layout.num_prefix, wanted=wanted
        )
        found[decoder] = sweep_rank.run(request, trials_on(engine))
        console.say(_ranks_said(cell.name, decoder, found[decoder]))
    return found


def _ranks_said(name: str, decoder: DecoderRef, swept: Receipt) -> str:
    best = {(one["rank"], one["hidden"]) for one in swept.detail["best"]}
    shown = ", ".join(
        f"{one['rank']}: {100 * one['captured']:.0f} %"
        for one in swept.detail["trials"]
        if (one["rank"], one["hidden"]) in best
    )
    how = "cached" if swept.cached else f"{swept.seconds:.0f} s"
    return f"metric {name} {decoder.label}: {how}; sensitivity captured by rank: {shown}"


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
