"""One trial of a sweep: VFusion with its parameters on the shared evidence, told epoch by epoch."""

from __future__ import annotations

from tasks.extract_features import torch_threads
from tasks.search_space import Parameters
from tasks.sweep_evidence import stored_evidence
from tasks.sweep_request import SweepRequest
from tasks.trials import OnEpoch, UnusableTrial
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.fusion.joint_training import Validation
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.store.fingerprint import canonical_json


def run_trial(request: SweepRequest, parameters: Parameters, *, on_epoch: OnEpoch) -> int:
    """Fit one classifier.

    Args:
        request: The sweep.
        parameters: What this trial tries.
        on_epoch: Told each epoch, 0 for the linear stage.

    Returns:
        The weights of the classifier.

    Raises:
        UnusableTrial: The parameters do not fit the rows, or the computation left the finite numbers.
    """
    classifier = VFusionClassifier(**{**request.encoder.model_dump(), **parameters}, seed=request.seed)
    start = canonical_json([classifier.selection, classifier.layer_scaling])

    def tell(epoch: int, standing: Validation) -> bool:
        return on_epoch(epoch, float(standing.loss[0]), float(standing.accuracy[0]))

    with torch_threads(request.threads):
        evidence = stored_evidence(request.model_dump_json(), start)
        try:
            classifier.fit_watched(evidence, on_epoch=tell)
        except (InvalidInput, NumericalFailure) as error:
            raise UnusableTrial(f"{type(error).__name__}: {error}") from error
    return classifier.num_parameters()
