"""Energy of a discrete path through feature space, measured at the decoder's output.   P = points, Q = P - 2 inner ones, N = tokens, D = width, M = outputs."""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.features import check_features
from vitgeom.linop.output_metric import as_metric


class PathEnergy:
    """E = sum_i ||L T(F_{i+1}) - L T(F_i)||^2 of paths with fixed ends, and its gradient by the inner points.

    dE/dF_i = 2 J_i^T L^T (2 y_i - y_{i-1} - y_{i+1}) with y = L T(F): it needs the point's own graph and its neighbours' outputs, so at most two graphs of the
    decoder are held at once, however many points there are.

    Args:
        decoder: As for ``JacobianOperator``.
        start: F_0, finite float32 or float64 [N, D].
        end: F_{P-1}, like ``start``.
        output_metric: L: None for the identity, a matrix [M', M] or an operator M' x M.

    Attributes:
        start: Copied.
        end: Copied.
        evaluations: Of the decoder so far, three for the two ends included.

    Raises:
        InvalidInput: Ends or metric do not fit, or the decoder is no function of the features.
        NumericalFailure: The decoder's output at an end is not finite.
    """

    def __init__(self, decoder: object, start: object, end: object, *, output_metric: object = None) -> None:
        self.start, self.end = _check_ends(start, end)
        self._function = DecoderFunction(decoder, self.start)
        self._metric = as_metric(output_metric, self._function.output)
        self.evaluations = 2
        self._first = self._measured(self._function.output)
        with self._function.ready(), torch.no_grad():
            output = self._checked(self._function(self.end.clone()), place="the end")
        self._last = self._measured(output)

    @property
    def chord(self) -> float:
        """||L T(F_{P-1}) - L T(F_0)||: no path is shorter."""
        return float((self._last - self._first).double().norm())

    def steps(
        self, inner_QND: Float[Tensor, "q n d"]
    ) -> tuple[Float64[Tensor, " s"], Float[Tensor, "q n d"]]:
        """Return the P - 1 output steps ||y_{i+1} - y_i||, whose squares sum to E, and the gradient of E by the inner points.

        One evaluation and one product with J^T for every inner point.

        Args:
            inner_QND: Inner points, Q >= 1.

        Raises:
            NumericalFailure: An output is not finite.
        """
        gradient, steps = torch.empty_like(inner_QND), []
        with self._function.ready(), torch.enable_grad():
            before_M, here = self._first, self._graph(inner_QND, 0)
            for index in range(len(inner_QND)):
                after = self._graph(inner_QND, index + 1) if index + 1 < len(inner_QND) else None
                here_M = self._measured(here[1].detach())
                after_M = self._last if after is None else self._measured(after[1].detach())
                gradient[index] = self._pulled(*here, u_M=2 * (2 * here_M - before_M - after_M))
                steps.append(here_M - before_M)
                before_M, here = here_M, after or here
            steps.append(self._last - before_M)
        return torch.stack(steps).double().norm(dim=1).cpu(), gradient

    def _graph(self, inner_QND: Tensor, index: int) -> tuple[Tensor, Tensor]:
        """Return the point as leaf and the output that hangs on it."""
        leaf = inner_QND[index].detach().clone().requires_grad_(True)
        return leaf, self._checked(self._function(leaf), place=f"point {index + 1}")

    def _pulled(self, leaf: Tensor, output: Tensor, *, u_M: Tensor) -> Tensor:
        if not output.requires_grad:
            return torch.zeros_like(leaf)
        weights = u_M if self._metric is None else self._metric.rmatmat(u_M[:, None])[:, 0]
        return torch.autograd.grad(output, leaf, weights, materialize_grads=True)[0]

    def _measured(self, output: Tensor) -> Tensor:
        return output if self._metric is None else self._metric.matmat(output[:, None])[:, 0]

    def _checked(self, output: Tensor, *, place: str) -> Tensor:
        self.evaluations += 1
        if not bool(output.isfinite().all()):
            raise NumericalFailure(
                f"decoder returned entries that are not finite at {place} of the path. It is not defined everywhere between the two feature "
                "maps: choose ends that are closer, or a decoder that is."
            )
        return output


def _check_ends(start: object, end: object) -> tuple[Tensor, Tensor]:
    """Return copies of both ends, or refuse what no path can join."""
    first, last = _check_point(start, name="start"), _check_point(end, name="end")
    if last.shape != first.shape:
        raise InvalidInput(
            f"end is {list(last.shape)}, start {list(first.shape)}: a path joins two feature maps of one layer. Take both at one image size."
        )
    if last.dtype != first.dtype or last.device.type != first.device.type:
        raise InvalidInput(
            f"end is {last.dtype} on {last.device}, start {first.dtype} on {first.device}. Give end.to(start)."
        )
    return first, last


def _check_point(point: object, *, name: str) -> Tensor:
    try:
        return check_features(point)
    except InvalidInput as error:
        raise InvalidInput(f"{name} of the path: {error}") from error
