"""Where training starts: the linear path as principal components, each latent as precise as the weight of the KL term pays for.

For a linear bottleneck with orthonormal directions the least of  error / (N W t) + w KL / (N W)  is known in closed form (reverse water-filling):
a latent of variance v carries 1/2 log(v / D) nats with D = w t / 2, and nothing if v <= D. Its posterior variance is D / v, its mean is
shrunk by 1 - D / v in all.   N = tokens, W = numbers per token, S = slots, R = registers, Z = latents of one, t = variance of a token number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.metric.bottleneck.cosine_slots import cosine_bank, slots_of
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.vae import BottleneckVAE

# A latent that carries nothing keeps this much of its mean: at zero, encoder and decoder would wait for each other for ever.
LEAST_SHARE = 0.05

LEAST_VARIANCE = 1e-4
"""No latent is taken to vary less than this share of what latents vary by on average."""

MOST_IMAGES = 2048
"""Images that principal directions are found from: their products with each other must be in memory."""


@torch.no_grad()
def start_from_principal_components(
    vae: BottleneckVAE,
    blocks: Iterable[Float[Tensor, "b n w"]],
    *,
    mean_NW: Float[Tensor, "n w"],
    grid: tuple[int, int],
    kl_weight: float,
) -> None:
    """Set the linear path of a bottleneck whose scale is fitted; attention stays as it is.

    Slots and channels are mixed separately (one step of the Tucker decomposition), so that R Z latents need S R + W Z numbers; then the latents
    are turned until the first K are principal components of whole pictures.

    Args:
        vae: Changed in place.
        blocks: Training tokens, iterated twice, as a list or an object that starts again.
        mean_NW: Mean over images.
        grid: Of the training images.
        kl_weight: w.
    """
    shape, scale = vae.shape, vae.scale
    bank = cosine_bank(grid, waves=shape.waves, dtype=mean_NW.dtype, device=mean_NW.device)
    mean_SW = slots_of(scale.standardised(mean_NW[None]), bank)[0]
    # Slots of patches are means: times the root of their number, a slot counts as much as the tokens it stands for.
    weight_S = torch.ones(shape.slots, dtype=mean_NW.dtype, device=mean_NW.device)
    weight_S[shape.num_prefix :] = len(bank) ** 0.5

    def centred() -> Iterable[Tensor]:
        for block in blocks:
            yield weight_S[:, None] * (slots_of(scale.standardised(block), bank) - mean_SW)

    mix_RS, channels_WZ = _components(centred(), shape.registers, shape.latent)
    mix_RS, channels_WZ = mix_RS.to(mean_NW), channels_WZ.to(mean_NW)
    vae.rotation.fit(_directions(centred(), mix_RS, channels_WZ, vae))
    variance_RZ = _variances(centred(), mix_RS, channels_WZ, vae.rotation)
    level = kl_weight * float(vae.token_variance) / 2
    # Where training images do not vary at all, others may, and would be whitened to any size.
    floor = max(LEAST_VARIANCE * float(variance_RZ.mean()), 1e-12)
    lost_RZ = (level / variance_RZ.clamp_min(floor)).clamp(max=1 - LEAST_SHARE)
    root_RZ = (1 - lost_RZ).sqrt()
    deviation_RZ = variance_RZ.clamp_min(floor).sqrt()
    encoder, generator = vae.encoder.linear, vae.generator.linear
    encoder.mix.copy_(mix_RS * weight_S)
    encoder.channels.copy_(channels_WZ)
    encoder.offset.copy_((mix_RS * weight_S) @ mean_SW @ channels_WZ)
    encoder.gain.copy_(root_RZ / deviation_RZ)
    vae.encoder.base_log_variance.copy_(lost_RZ.log())
    generator.mix.copy_((mix_RS / weight_S).mT)
    generator.channels.copy_(channels_WZ.mT)
    generator.mean.copy_(mean_SW)
    generator.gain.copy_(root_RZ * deviation_RZ)


def _components(blocks: Iterable[Tensor], registers: int, latent: int) -> tuple[Tensor, Tensor]:
    """Return the leading R mixtures of slots as rows and Z mixtures of channels as columns, orthonormal; zeros where there are no more."""
    slots_SS, channels_WW = torch.zeros(()), torch.zeros(())
    for block in blocks:
        wide = block.double()
        slots_SS = slots_SS + torch.einsum("bsw,btw->st", wide, wide)
        channels_WW = channels_WW + torch.einsum("bsw,bsv->wv", wide, wide)
    return _leading(slots_SS, registers).mT, _leading(channels_WW, latent)


def _leading(gram: Float64[Tensor, "n n"], count: int) -> Float64[Tensor, "n c"]:
    vectors = torch.linalg.eigh(gram).eigenvectors.flip(1)[:, :count]
    return torch.nn.functional.pad(vectors, (0, count - vectors.shape[1]))


def _directions(blocks: Iterable[Tensor], mix_RS: Tensor, channels_WZ: Tensor, vae: BottleneckVAE) -> Tensor:
    """Return the leading principal directions [M', K] of all latents together, from the first images alone; fewer where there are fewer."""
    rows = torch.cat([vae.rotation.flat(mix_RS @ block @ channels_WZ) for block in _first(blocks)]).double()
    values, vectors = torch.linalg.eigh(rows @ rows.mT)
    there = values.flip(0) > 1e-10 * values[-1]
    leading = vectors.flip(1)[:, there][:, : vae.shape.directions]
    # The left vectors of the rows are known; orthonormal right ones follow without the M' x M' matrix.
    return torch.linalg.qr(rows.mT @ leading).Q


def _first(blocks: Iterable[Tensor]) -> Iterator[Tensor]:
    left = MOST_IMAGES
    for block in blocks:
        yield block[:left]
        left -= len(block)
        if left <= 0:
            return


def _variances(
    blocks: Iterable[Tensor], mix_RS: Tensor, channels_WZ: Tensor, rotation: RegisterRotation
) -> Tensor:
    total, count = torch.zeros(len(mix_RS), channels_WZ.shape[1], dtype=torch.float64), 0
    for block in blocks:
        total += rotation(mix_RS @ block @ channels_WZ).double().square().sum(0).cpu()
        count += len(block)
    return (total / count).to(mix_RS)
