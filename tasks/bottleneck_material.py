"""A bottleneck for the tokens that a head reads, untrained, and the tokens that it is trained on."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from tasks.bottleneck_request import BottleneckRequest
from tasks.opened import opened_backbone, opened_images
from tasks.training_work import Material
from vitgeom.decoders import load_decoder
from vitgeom.metric.bottleneck import BottleneckLearner, JoinedTaps, TokenExamples, bottleneck_for


def material_of(request: BottleneckRequest) -> Material:
    """Run the backbone on all images once and build the bottleneck.

    Args:
        request: Which images, which head.

    Raises:
        InvalidInput: Data or weights are others than planned, the head cannot be had, or an image cannot be used (it is named).
    """
    joined = joined_of(request)
    return Material(
        learner_of(request, joined), *(tokens_of(request, joined, split) for split in ("train", "val"))
    )


def joined_of(request: BottleneckRequest) -> JoinedTaps:
    """Return the head as a function of all its taps.

    Args:
        request: Names it.

    Raises:
        InvalidInput: The weights are others than planned, or the head cannot be had.
    """
    backbone = opened_backbone(request.backbone, device="cpu", weights_digest=request.weights_digest)
    return JoinedTaps(load_decoder(request.decoder, backbone, layer=backbone.spec.num_blocks))


def learner_of(request: BottleneckRequest, joined: JoinedTaps) -> BottleneckLearner:
    """Return the untrained bottleneck with its loss.

    Args:
        request: Its sizes and weights.
        joined: The head.
    """
    vae = bottleneck_for(joined, registers=request.registers, latent=request.latent, seed=request.seed)
    return BottleneckLearner(vae, joined, kl_weight=request.kl_weight, task_weight=request.task_weight)


def tokens_of(request: BottleneckRequest, joined: JoinedTaps, split: str) -> TokenExamples:
    """Return the tokens of one split's images, kept in a temporary file.

    Args:
        request: Which rows.
        joined: Runs the backbone.
        split: Which split.
    """
    images = opened_images(request.dataset, digest=request.dataset_digest).splits[split]
    names = [str(images.sample_ids[row]) for row in request.images[split]]
    return TokenExamples(joined, pictures(request, joined, split), sample_ids=names)


def pictures(request: BottleneckRequest, joined: JoinedTaps, split: str) -> Iterator[Tensor]:
    """Yield the preprocessed images of a split.

    Args:
        request: Which rows.
        joined: Its backbone preprocesses.
        split: Which split.
    """
    images = opened_images(request.dataset, digest=request.dataset_digest).splits[split]
    for row in request.images[split]:
        yield joined.backbone.preprocess(images.read(row))
