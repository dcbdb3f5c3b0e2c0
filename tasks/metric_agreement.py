"""One decoder under two output metrics: does it matter how the output is measured?   n = images, N = tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

from tasks.target_request import DecoderRef
from vitgeom.bootstrap import bootstrap_interval
from vitgeom.decoders.output_metrics import EUCLIDEAN
from vitgeom.seeding import generator_for
from vitgeom.store.targets import TargetStore

SPLIT = "test"


def metric_agreements(
    opened: Mapping[DecoderRef, TargetStore], *, num_bootstrap: int, seed: int
) -> list[dict[str, Any]]:
    """Return, for each decoder that was diagnosed under another metric and under the Euclidean one, how far the two say the same of tokens.

    Args:
        opened: Targets by decoder.
        num_bootstrap: Resamples behind each interval over images.
        seed: Decides them.
    """
    found = []
    for decoder, store in opened.items():
        plain = opened.get(DecoderRef(name=decoder.name, layer=decoder.layer))
        if decoder.metric == EUCLIDEAN or plain is None:
            continue
        rank = {
            name: _summary(
                rank_agreements(plain.read(SPLIT, name), store.read(SPLIT, name)),
                num_bootstrap=num_bootstrap,
                seed=seed,
                name=f"{decoder.label} {name}",
            )
            for name in ("importance", "block_norms")
        }
        found.append(
            {
                "decoder": decoder.name,
                "layer": decoder.layer,
                "metric": decoder.metric,
                "rank_agreement": rank,
            }
        )
    return found


def rank_agreements(one: np.ndarray, other: np.ndarray) -> list[float]:
    """Return Spearman's rho over the tokens of each image; an image all of whose tokens are alike has none and is left out.

    Args:
        one: [n, N].
        other: [n, N].
    """
    return [
        float(spearmanr(first, second).statistic)
        for first, second in zip(one, other, strict=True)
        if np.ptp(first) > 0 and np.ptp(second) > 0
    ]


def _summary(values: list[float], *, num_bootstrap: int, seed: int, name: str) -> dict[str, Any] | None:
    if not values:
        return None
    interval = bootstrap_interval(
        torch.tensor(values, dtype=torch.float64),
        num_resamples=num_bootstrap,
        generator=generator_for(seed, "metrics", name),
    )
    return {"images": len(values), "mean": interval.to_json()}
