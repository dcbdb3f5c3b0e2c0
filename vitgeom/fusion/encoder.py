"""Encoder and head of VFusion for several seeds at once.

    z = u A + dropout(gelu(u C + c)) B,    logits = z H + b

M = models (seeds), n = rows, p = inputs, d = latents, h = hidden units, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Float32
from torch import Generator, Tensor
from torch.nn.functional import gelu

from vitgeom.fusion.decorrelated import Factors


@dataclass(eq=False)
class EncoderHead:
    """Weights of M models side by side; every product is one batched product.

    Attributes:
        direct: A, the linear path.
        enter: C, inputs to hidden units.
        enter_bias: c.
        leave: B, hidden units to latents; zero at the start, so that training starts from the linear path.
        head: H.
        head_bias: b.
    """

    direct: Float32[Tensor, "M p d"]
    enter: Float32[Tensor, "M p h"]
    enter_bias: Float32[Tensor, "M h"]
    leave: Float32[Tensor, "M h d"]
    head: Float32[Tensor, "M d K"]
    head_bias: Float32[Tensor, "M K"]

    def latents(
        self, u: Float32[Tensor, "M n p"], *, keep: Bool[Tensor, "M n h"] | None = None, kept: float = 1.0
    ) -> Float32[Tensor, "M n d"]:
        """Return z.

        Args:
            u: Inputs, the same or others for each model.
            keep: Which hidden units are not dropped, in training.
            kept: Share of units that are kept.
        """
        z = torch.bmm(u, self.direct)
        if not self.enter.shape[2]:
            return z
        hidden = gelu(torch.baddbmm(self.enter_bias[:, None], u, self.enter))
        if keep is not None:
            hidden = hidden * keep / kept
        return torch.baddbmm(z, hidden, self.leave)

    def logits(self, z: Float32[Tensor, "M n d"]) -> Float32[Tensor, "M n K"]:
        """Return the logits of latents."""
        return torch.baddbmm(self.head_bias[:, None], z, self.head)

    def parameters(self) -> list[Tensor]:
        """Return all weights."""
        return [getattr(self, item.name) for item in fields(self)]

    def copy(self) -> EncoderHead:
        """Return detached copies of all weights."""
        return EncoderHead(*(tensor.detach().clone() for tensor in self.parameters()))

    def to(self, device: torch.device) -> EncoderHead:
        """Return all weights on another device."""
        return EncoderHead(*(tensor.to(device) for tensor in self.parameters()))

    def model(self, number: int) -> EncoderHead:
        """Return one model alone, with M = 1."""
        return EncoderHead(*(tensor[number : number + 1].detach().clone() for tensor in self.parameters()))


def initial_models(
    factors: Factors, bias: Tensor, *, hidden_dim: int, generators: list[Generator]
) -> EncoderHead:
    """Return one model per generator that computes the linear stage, with random hidden units that nothing listens to yet.

    Args:
        factors: Encoder and head of the linear stage; inputs are taken to have unit total variance.
        bias: Its bias.
        hidden_dim: h; 0 for a linear encoder.
        generators: One per model.
    """
    num_inputs, latent_dim = factors.encoder.shape
    models = len(generators)

    def same(tensor: Tensor) -> Tensor:
        return tensor.float().expand(models, *tensor.shape).clone()

    enter = torch.stack([torch.randn(num_inputs, hidden_dim, generator=one) for one in generators])
    return EncoderHead(
        direct=same(factors.encoder),
        enter=enter,
        enter_bias=torch.zeros(models, hidden_dim),
        leave=torch.zeros(models, hidden_dim, latent_dim),
        head=same(factors.head),
        head_bias=same(bias),
    )
