"""One trial of a sweep over ranks: a network trained on the targets, told epoch by epoch."""

from __future__ import annotations

from typing import Any

from tasks.extract_features import torch_threads
from tasks.metric_material import examples_of, learner_of
from tasks.pinned_targets import pinned_targets
from tasks.rank_sweep_request import RankSweepRequest
from tasks.trials import OnEpoch, UnusableTrial
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.metric.training import EpochReport, TrainingState, train

ALIGNMENT, CAPTURED = "alignment", "captured"


def run_trial(request: RankSweepRequest, parameters: dict[str, Any], *, on_epoch: OnEpoch) -> int:
    """Train one network.

    Args:
        request: The sweep.
        parameters: Rank and width.
        on_epoch: Told each epoch, from 0: 1 - alignment with the validation targets, and the share of all sensitivity captured there.

    Returns:
        The weights of the network.

    Raises:
        UnusableTrial: The sizes do not fit the targets, or the computation left the finite numbers.
    """
    one = request.trial(parameters)
    store = pinned_targets(request.store, request.address, manifest_digest=request.manifest_digest)

    def tell(report: EpochReport, state: TrainingState) -> bool:
        alignment, captured = (report.figures[name].mean for name in (ALIGNMENT, CAPTURED))
        nothing = float("nan")
        return on_epoch(
            report.epoch - 1,
            nothing if alignment is None else 1 - alignment,
            nothing if captured is None else captured,
        )

    with torch_threads(request.threads):
        try:
            learner = learner_of(one, store)
            train(
                learner,
                examples_of(one, store, "train"),
                examples_of(one, store, "val"),
                one.settings,
                on_epoch=tell,
            )
        except (InvalidInput, NumericalFailure) as error:
            raise UnusableTrial(f"{type(error).__name__}: {error}") from error
    return sum(weights.numel() for weights in learner.module.parameters())
