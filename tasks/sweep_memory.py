"""How much memory one process of a sweep needs: the probes of the evidence, then one trial.

n = rows of all splits, L = layers, D = width, K = classes, p = inputs of the encoder.
"""

from __future__ import annotations

import numpy as np

from tasks import fit_probes
from tasks.request import ProbeRequest
from tasks.sweep_request import SweepRequest
from vitgeom.fusion.compression import OVERSAMPLING
from vitgeom.fusion.fused_inputs import MOST_READOUTS
from vitgeom.store.features import open_features
from vitgeom.store.uri import Root

COPIES = 8
"""Of the encoder's inputs and of the evidence: products, batches, gradients, and what is handed over."""


def memory(request: SweepRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that computes the evidence and runs trials, one at a time."""
    probes = ProbeRequest(
        store=request.store,
        address=request.address,
        manifest_digest=request.manifest_digest,
        token=request.token,
        last_layer=request.last_layer,
        l2=request.l2,
        num_bootstrap=1,
    )
    features = open_features(Root(request.store), request.address)
    rows = features.splits["train"] + features.splits["val"]
    classes = len(np.unique(features.read("train", "label")))
    components = request.encoder.components
    hidden = max(int(str(value)) for value in request.space.get("hidden_dim", (request.encoder.hidden_dim,)))
    inputs = components + min(features.num_layers * classes, MOST_READOUTS) + 2 * classes
    width = features.num_layers * features.width
    evidence = 4 * rows * features.num_layers * classes
    axes = 4 * 4 * width * (components + OVERSAMPLING)
    training = 4 * (rows * inputs + inputs * (hidden + classes) + rows * hidden) + 8 * inputs * inputs
    return fit_probes.memory(probes) + axes + COPIES * (evidence + training)
