"""Files of directions for the tests of the report: linear decoders with planted spectra, diagnosed by the code that does it in a run.

A decoder named in ``local`` reacts to two patches alone; one named in ``silent`` does not react at all.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from tasks.bound_checks import bound_checks
from tasks.target_figures import image_figures
from tests.support.matrices import planted, with_singular_values
from vitgeom.linop import DenseOperator
from vitgeom.report.directed_pair import DirectedPair, parse_directed_pair
from vitgeom.seeding import generator_for
from vitgeom.spectra import Diagnosis, diagnose
from vitgeom.spectra.dataset import aggregate, image_of

GRID, WIDTH, OUTPUTS = (2, 3), 4, 12
PREFIX = {"num_cls": 1, "num_distill": 0, "num_registers": 2}
TOKENS = sum(PREFIX.values()) + GRID[0] * GRID[1]
DECODERS = (("cls", 4), ("cls", 8), ("patch_mean", 8))


@dataclass(frozen=True)
class LinearDecoder:
    """y = J x at some features: its derivative is J everywhere."""

    matrix: Tensor
    features: Tensor
    name: str = "linear"
    layer: int = 0

    def __call__(self, features: Tensor) -> Tensor:
        """Return J x."""
        return self.matrix @ features.flatten()


def linear_decoder(
    *, seed: int = 0, scale: float = 1.0, local: bool = False, outputs: int = OUTPUTS
) -> LinearDecoder:
    """Return a decoder whose singular values fall quickly; a local one reacts to the first two patches alone."""
    columns = 2 * WIDTH if local else TOKENS * WIDTH
    order = min(outputs, columns)
    matrix = scale * with_singular_values(planted(order)["fast"], rows=outputs, columns=columns, seed=seed)
    if local:
        whole = torch.zeros(outputs, TOKENS * WIDTH, dtype=matrix.dtype)
        start = sum(PREFIX.values()) * WIDTH
        whole[:, start : start + columns] = matrix
        matrix = whole
    features = torch.randn(TOKENS, WIDTH, dtype=matrix.dtype, generator=generator_for(seed, "features"))
    return LinearDecoder(matrix, features)


def diagnosed(decoder: LinearDecoder, *, rank: int = 3) -> Diagnosis:
    """Diagnose a linear decoder exactly."""
    return diagnose(
        DenseOperator(decoder.matrix),
        rank=rank,
        num_tokens=TOKENS,
        num_prefix=sum(PREFIX.values()),
        generator=generator_for(0, "diagnose"),
    )


def planted_directions(
    *,
    decoders: Sequence[tuple[str, int]] = DECODERS,
    images: int = 3,
    rank: int = 3,
    outputs: int = OUTPUTS,
    local: Collection[str] = ("patch_mean",),
    silent: Collection[str] = (),
    agreements: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the content of a file of directions."""
    samples = [f"digit-{number}" for number in range(images)]
    return {
        "of": {"dataset": "d" * 64, "weights": "w" * 64},
        "tokens": {**PREFIX, "grid": list(GRID)},
        "num_bootstrap": 50,
        "pairs": [
            _entry(
                name,
                layer,
                samples,
                rank=rank,
                outputs=outputs,
                local=name in local,
                scale=0.0 if name in silent else 1.0 / layer,
            )
            for name, layer in decoders
        ],
        "metrics": [dict(agreement) for agreement in agreements],
        "pictures": {sample: picture(place) for place, sample in enumerate(samples[:2])},
    }


def _entry(
    name: str, layer: int, samples: Sequence[str], *, rank: int, outputs: int, local: bool, scale: float
) -> dict[str, Any]:
    made = [
        linear_decoder(seed=10 * layer + place, scale=scale, local=local, outputs=outputs)
        for place in range(len(samples))
    ]
    found = [diagnosed(decoder, rank=rank) for decoder in made]
    images = [
        image_figures(
            each, bound_checks(each, DenseOperator(decoder.matrix), decoder), sample=sample, image=place
        )
        for place, (each, decoder, sample) in enumerate(zip(found, made, samples, strict=True))
    ]
    whole = aggregate(
        [image_of(each) for each in found], num_resamples=50, generator=generator_for(0, "directions")
    )
    regime = max(sorted(whole.regimes), key=lambda each: whole.regimes[each])
    return {
        "decoder": {
            "name": name.partition(":")[0],
            "layer": layer,
            "metric": name.partition(":")[2] or "euclidean",
        },
        "shape": [outputs, TOKENS * WIDTH],
        "rank": rank,
        "recipe": "exact",
        "paths": {"jvp_path": "written out", "vjp_path": "written out"},
        "figures": whole.to_json(),
        "kappa_caps": [each.get("kappa_caps") for each in images],
        "singular_values": [each.singular_values_R.tolist() for each in found],
        "density": {
            "values": images[0]["density_values"],
            "counts": images[0]["density_counts"],
            "sample": samples[0],
        }
        if "density_values" in images[0]
        else None,
        "images": images,
        "advice": {"regime": regime, "text": found[0].advice, "sample": samples[0]},
        "maps": [
            {
                "sample": sample,
                "importance": each.importance_N.tolist(),
                "block_norms": each.block_norms_N.tolist(),
            }
            for sample, each in zip(samples[:2], found, strict=False)
        ],
        "origin": {"address": "targets/x", "digest": "t" * 64},
    }


def picture(shade: int) -> str:
    """Return a small grey PNG in base64."""
    buffer = io.BytesIO()
    Image.new("RGB", (6, 4), (40 * shade,) * 3).save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def directed_pair(
    *, dataset: str = "digits", backbone: str = "nano_supervised", **planted_as: Any
) -> DirectedPair:
    """Return such figures as the report has them."""
    return parse_directed_pair(dataset=dataset, backbone=backbone, content=planted_directions(**planted_as))
