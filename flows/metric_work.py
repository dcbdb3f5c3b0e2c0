"""What one cell asks of the engine when metrics are learnt: targets, models, bottlenecks and sweeps, found or made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows import console
from flows.cell import Cell
from flows.metric_requests import (
    SPLITS,
    Places,
    bottleneck_request_for,
    latents_settings,
    rank_request_for,
    request_for,
    target_settings,
)
from flows.study import Resolved
from tasks import sweep_rank
from tasks.bottleneck_request import BottleneckRequest
from tasks.engine import Engine
from tasks.learnt import Learnt
from tasks.metric_request import LearnerName, MetricRequest
from tasks.opened import opened_images
from tasks.receipt import Receipt
from tasks.sweep_engine import trials_on
from tasks.target_request import DecoderRef, TargetSettings, TrainedBottleneck
from tasks.target_set import make_target_set
from tasks.training_watch import watched
from vitgeom.backbones import Backbone
from vitgeom.metric.choice import BOTTLENECK, SPN, Choice
from vitgeom.store.uri import Root

LEARNT_FROM_TARGETS: tuple[LearnerName, ...] = ("importance", "spn")
"""Models that are learnt from directions and importance; a bottleneck is learnt from tokens."""
NETWORK: LearnerName = "spn"


@dataclass(frozen=True)
class MetricWork:
    """The work of one cell.

    Attributes:
        cell: Which dataset and backbone.
        backbone: Open; says how tokens lie.
        wanted: The study.
        engine: Where units run.
    """

    cell: Cell
    backbone: Backbone
    wanted: Resolved
    engine: Engine

    def targets(self, decoders: Sequence[DecoderRef], *, again: bool) -> dict[DecoderRef, Receipt]:
        """Return sealed targets of tokens.

        Args:
            decoders: Of which.
            again: A second, independent estimate, of the test images alone.
        """
        settings = target_settings(self.wanted, again=again)
        return self._targets(decoders, settings, label="second estimate" if again else "targets")

    def models(
        self, targets: Mapping[DecoderRef, Receipt], choices: Mapping[DecoderRef, Choice]
    ) -> dict[DecoderRef, dict[str, list[Receipt]]]:
        """Train what was chosen on tokens; return it by decoder and kind, one per seed.

        Args:
            targets: By decoder.
            choices: Likewise.
        """
        layout = self.backbone.spec.layout
        plan = [
            (decoder, learner)
            for decoder, choice in choices.items()
            for learner in LEARNT_FROM_TARGETS
            if learner in choice.learners
        ]
        return self._trained(plan, targets, Places(layout.num_prefix, layout.grid), label="train")

    def bottlenecks(self, choices: Mapping[DecoderRef, Choice]) -> dict[DecoderRef, Receipt]:
        """Train a bottleneck between taps and head where one was chosen. Layers of one decoder share theirs, since all taps go through it.

        Args:
            choices: By decoder.
        """
        chosen = [decoder for decoder, choice in choices.items() if BOTTLENECK in choice.learners]
        if not chosen:
            return {}
        data = opened_images(self.cell.dataset_ref.to_json())
        requests = {
            decoder: bottleneck_request_for(
                self.cell,
                decoder,
                dataset_digest=data.digest,
                weights_digest=self.backbone.spec.weights_digest,
                sizes={split: len(data.splits[split]) for split in SPLITS},
                wanted=self.wanted,
            )
            for decoder in chosen
        }
        once = list({request.path: request for request in requests.values()}.values())
        label = f"bottlenecks of {self.cell.name}"
        with watched(once, emit=console.say, label=label) as seen:
            receipts = self.engine.map(BottleneckRequest.task, once, on_receipt=seen, label=label)
        by_path = {request.path: receipt for request, receipt in zip(once, receipts, strict=True)}
        return {decoder: by_path[request.path] for decoder, request in requests.items()}

    def behind(self, bottlenecks: Mapping[DecoderRef, Receipt]) -> dict[DecoderRef, Learnt]:
        """Make targets of the latents of each bottleneck and train networks on them.

        Args:
            bottlenecks: By the decoder that they are for.
        """
        if not bottlenecks:
            return {}
        refs = {decoder: self._latents(decoder, trained) for decoder, trained in bottlenecks.items()}
        once = list(dict.fromkeys(refs.values()))
        targets, again = (
            self._targets(once, latents_settings(self.wanted, again=second), label=label)
            for second, label in ((False, "targets of latents"), (True, "second estimate of latents"))
        )
        trained = self._trained([(ref, NETWORK) for ref in once], targets, Places(), label="train on latents")
        return {decoder: Learnt(targets[ref], again[ref], trained[ref]) for decoder, ref in refs.items()}

    def ranks(
        self, targets: Mapping[DecoderRef, Receipt], choices: Mapping[DecoderRef, Choice]
    ) -> dict[DecoderRef, Receipt]:
        """Sweep over ranks where a network is trained on tokens and ranks are asked for; targets of a higher rank are made where they are needed.

        Args:
            targets: By decoder.
            choices: Likewise.
        """
        params, layout = self.wanted.params.metric, self.backbone.spec.layout
        swept = [decoder for decoder, choice in choices.items() if SPN in choice.learners]
        if not params.sweep.ranks or not swept:
            return {}
        highest = max(params.sweep.ranks)
        if highest > params.rank:
            settings = target_settings(self.wanted, again=False).model_copy(update={"rank": highest})
            targets = self._targets(swept, settings, label=f"targets of rank {highest}")
        found = {}
        for decoder in swept:
            request = rank_request_for(
                targets[decoder], Places(layout.num_prefix, layout.grid), wanted=self.wanted
            )
            found[decoder] = sweep_rank.run(request, trials_on(self.engine))
            console.say(_ranks_said(self.cell.name, decoder, found[decoder]))
        return found

    def _targets(
        self, decoders: Sequence[DecoderRef], settings: TargetSettings, *, label: str
    ) -> dict[DecoderRef, Receipt]:
        return make_target_set(
            self.cell.dataset_ref,
            self.cell.backbone_ref,
            decoders,
            store=self.wanted.store,
            settings=settings,
            engine=self.engine,
            emit=console.say,
            label=f"{label} of {self.cell.name}",
        )

    def _trained(
        self,
        plan: Sequence[tuple[DecoderRef, LearnerName]],
        targets: Mapping[DecoderRef, Receipt],
        places: Places,
        *,
        label: str,
    ) -> dict[DecoderRef, dict[str, list[Receipt]]]:
        """Train all models of a plan together, one per seed."""
        seeded = [(*one, seed) for one in plan for seed in self.wanted.params.metric.seeds]
        requests = [
            request_for(targets[decoder], learner, places, seed=seed, wanted=self.wanted)
            for decoder, learner, seed in seeded
        ]
        label = f"{label} {self.cell.name}"
        with watched(requests, emit=console.say, label=label) as seen:
            receipts = self.engine.map(MetricRequest.task, requests, on_receipt=seen, label=label)
        found: dict[DecoderRef, dict[str, list[Receipt]]] = {decoder: {} for decoder in targets}
        for (decoder, learner, _), receipt in zip(seeded, receipts, strict=True):
            found[decoder].setdefault(learner, []).append(receipt)
        return found

    def _latents(self, decoder: DecoderRef, trained: Receipt) -> DecoderRef:
        path = trained.uri.removeprefix(f"{Root(self.wanted.store).uri}/")
        return DecoderRef(
            name=decoder.name,
            layer=self.backbone.spec.num_blocks,
            metric=decoder.metric,
            behind=TrainedBottleneck(path=path, digest=trained.digest),
        )


def _ranks_said(name: str, decoder: DecoderRef, swept: Receipt) -> str:
    best = {(one["rank"], one["hidden"]) for one in swept.detail["best"]}
    shown = ", ".join(
        f"{one['rank']}: {100 * one['captured']:.0f} %"
        for one in swept.detail["trials"]
        if (one["rank"], one["hidden"]) in best
    )
    how = "cached" if swept.cached else f"{swept.seconds:.0f} s"
    return f"metric {name} {decoder.label}: {how}; sensitivity captured by rank: {shown}"
