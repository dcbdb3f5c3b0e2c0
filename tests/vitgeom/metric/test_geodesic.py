from __future__ import annotations

import json
import math

import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.oracles.path_by_bfgs import path_by_bfgs
from tests.support.attention_decoder import SmallDecoder
from vitgeom.backbones import load_backbone
from vitgeom.data.scenes import render_scene
from vitgeom.decoders import cls_decoder
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop import DenseOperator
from vitgeom.metric import geodesic


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def point(*entries: float) -> Tensor:
    return torch.tensor([entries], dtype=torch.float64)


def on_sphere(f: Tensor) -> Tensor:
    """Polar angle and longitude [1, 2] -> the unit sphere in space."""
    polar, longitude = f[0]
    return torch.stack(
        [polar.sin() * longitude.cos(), polar.sin() * longitude.sin(), polar.cos()],
    )


def in_plane(f: Tensor) -> Tensor:
    """Radius and angle [1, 2] -> the plane."""
    radius, angle = f[0]
    return torch.stack([radius * angle.cos(), radius * angle.sin()])


def test_a_linear_decoder_keeps_the_straight_line() -> None:
    weights = drawn(5, 12, seed=1)
    found = geodesic(lambda f: weights @ f.flatten(), drawn(3, 4), drawn(3, 4, seed=2), num_points=7)
    assert found.length == pytest.approx(found.straight_length, rel=1e-12)
    assert found.length == pytest.approx(found.chord, rel=1e-12)
    assert found.ratio == pytest.approx(1.0, rel=1e-12)
    assert found.converged
    shares = torch.linspace(0, 1, 7, dtype=torch.float64)[:, None, None]
    torch.testing.assert_close(found.points, torch.lerp(drawn(3, 4), drawn(3, 4, seed=2), shares))


@pytest.mark.parametrize("num_points", [3, 10, 40])
def test_on_the_sphere_it_is_the_great_circle(num_points: int) -> None:
    start, end = point(1.0, 0.0), point(1.0, 2.5)
    angle = math.acos(float(on_sphere(start) @ on_sphere(end)))
    found = geodesic(on_sphere, start, end, num_points=num_points, tol=1e-12)
    steps = num_points - 1
    assert found.length == pytest.approx(2 * steps * math.sin(angle / 2 / steps), rel=1e-9)
    torch.testing.assert_close(found.steps, found.steps.mean().expand(steps), rtol=1e-4, atol=0)
    assert found.chord < found.length < angle < found.straight_length


def test_polar_coordinates_are_straightened_out() -> None:
    found = geodesic(in_plane, point(1.0, 0.0), point(1.0, 2.0), num_points=20, tol=1e-12)
    assert found.chord == pytest.approx(2 * math.sin(1.0), rel=1e-12)
    assert found.length == pytest.approx(found.chord, rel=1e-8)
    assert found.straight_length == pytest.approx(19 * 2 * math.sin(1 / 19), rel=1e-12)
    middle = torch.stack([in_plane(each) for each in found.points])
    torch.testing.assert_close(middle, torch.lerp(middle[0], middle[-1], torch.linspace(0, 1, 20, dtype=torch.float64)[:, None]), rtol=0, atol=1e-5)  # fmt: skip


def test_a_small_network_agrees_with_dense_minimisation() -> None:
    inward, outward = drawn(6, 4, seed=7), drawn(5, 6, seed=8)

    def decoder(f: Tensor) -> Tensor:
        return outward @ torch.tanh(inward @ f.flatten())

    start, end = drawn(2, 2), drawn(2, 2, seed=3)
    energy, length = path_by_bfgs(decoder, start, end, num_points=4)
    found = geodesic(decoder, start, end, num_points=4, tol=1e-12)
    assert found.converged
    assert found.energy == pytest.approx(energy, rel=1e-6)
    assert found.length == pytest.approx(length, rel=1e-5)
    assert found.energy < 0.95 * found.straight_energy


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_between_two_images_the_class_token_takes_a_shorter_way(dtype: torch.dtype) -> None:
    backbone = load_backbone("nano_supervised", dtype=dtype)
    first, second = (
        cls_decoder(backbone, layer=10).at(
            backbone.preprocess(Image.fromarray(render_scene(0, index, stream="test").image))
        )
        for index in (0, 1)
    )
    found = geodesic(first, first.features, second.features, num_points=8)
    assert found.converged
    assert found.points.dtype == dtype
    assert found.chord < found.length < found.straight_length
    assert found.energy < found.straight_energy
    back = geodesic(first, second.features, first.features, num_points=8)
    assert back.length == pytest.approx(found.length, rel=1e-4)


def test_start_and_end_alike_are_no_way_at_all() -> None:
    found = geodesic(in_plane, point(1.0, 0.5), point(1.0, 0.5), num_points=4)
    assert (found.length, found.straight_length, found.chord, found.energy) == (0, 0, 0, 0)
    assert (found.ratio, found.converged, found.iterations) == (None, True, 0)
    torch.testing.assert_close(found.points, point(1.0, 0.5).expand(4, 1, 2), rtol=0, atol=0)


@pytest.mark.parametrize("constant", [lambda f: torch.ones(3, dtype=torch.float64), lambda f: 0 * f.sum()])
def test_a_constant_decoder_has_lengths_zero_and_no_ratio(constant) -> None:
    found = geodesic(constant, drawn(2, 3), drawn(2, 3, seed=1), num_points=5)
    assert (found.length, found.straight_length, found.chord) == (0, 0, 0)
    assert found.ratio is None
    assert found.converged


def test_a_way_between_two_ends_with_one_output_shrinks_to_nothing() -> None:
    """Once around in the angle: the straight line is a full circle, the chord zero."""
    found = geodesic(in_plane, point(1.0, 0.0), point(1.0, 2 * math.pi), num_points=9, tol=1e-10)
    assert found.chord < 1e-12
    assert found.energy < 1e-3 * found.straight_energy


def test_an_output_metric_is_the_decoder_followed_by_it() -> None:
    decoder, metric = SmallDecoder(4).eval(), drawn(6, 7, seed=4)
    start, end = drawn(3, 4), drawn(3, 4, seed=5)
    wanted = geodesic(lambda f: metric @ decoder(f), start, end, num_points=5)
    for given in (metric, DenseOperator(metric)):
        found = geodesic(decoder, start, end, num_points=5, output_metric=given)
        torch.testing.assert_close(found.points, wanted.points)
        assert found.length == pytest.approx(wanted.length, rel=1e-9)
        assert found.chord == pytest.approx(wanted.chord, rel=1e-12)


def test_turned_outputs_change_nothing_and_scaled_ones_the_scale() -> None:
    decoder = SmallDecoder(4).eval()
    start, end = drawn(3, 4), drawn(3, 4, seed=5)
    turn = torch.linalg.qr(drawn(7, 7, seed=6)).Q
    plain = geodesic(decoder, start, end, num_points=5)
    for factor in (1.0, 1e3):
        turned = geodesic(decoder, start, end, num_points=5, output_metric=factor * turn)
        assert turned.length == pytest.approx(factor * plain.length, rel=1e-6)
        torch.testing.assert_close(turned.points, plain.points, rtol=0, atol=1e-5)


def test_iterations_that_run_out_are_said_and_still_no_worse() -> None:
    found = geodesic(on_sphere, point(0.3, 0.0), point(0.3, 2.5), num_points=30, max_iterations=1, tol=1e-12)
    assert not found.converged
    assert found.iterations == 1
    assert found.energy <= found.straight_energy


def test_evaluations_are_those_that_the_decoder_saw() -> None:
    seen = []

    def decoder(f: Tensor) -> Tensor:
        seen.append(f)
        return on_sphere(f)

    found = geodesic(decoder, point(0.5, 0.0), point(0.6, 2.0), num_points=6)
    assert found.evaluations == len(seen)
    assert (found.evaluations - 3) % 4 == 0


def test_what_the_caller_holds_is_left_alone() -> None:
    decoder = SmallDecoder(4).train()
    start, end = drawn(3, 4).requires_grad_(True), drawn(3, 4, seed=1)
    before = start.detach().clone()
    found = geodesic(decoder, start, end, num_points=4)
    assert decoder.training
    assert all(weight.requires_grad and weight.grad is None for weight in decoder.parameters())
    assert torch.equal(start.detach(), before)
    assert not found.points.requires_grad


def test_inference_mode_outside_changes_nothing() -> None:
    decoder = SmallDecoder(4).eval()
    wanted = geodesic(decoder, drawn(3, 4), drawn(3, 4, seed=1), num_points=4)
    with torch.inference_mode():
        found = geodesic(decoder, drawn(3, 4), drawn(3, 4, seed=1), num_points=4)
    assert torch.equal(found.points, wanted.points)


def test_json_has_all_but_the_points() -> None:
    found = geodesic(in_plane, point(1.0, 0.0), point(1.0, 1.0), num_points=4)
    read = json.loads(json.dumps(found.to_json()))
    assert read["length"] == found.length
    assert len(read["steps"]) == 3
    assert "points" not in read


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_points": 2}, r"num_points must be a whole number >= 3, got 2"),
        ({"num_points": 4.0}, r"num_points must be a whole number >= 3, got 4.0"),
        ({"num_points": 4, "max_iterations": 0}, r"max_iterations must be a whole number >= 1, got 0"),
        ({"num_points": 4, "tol": 0.0}, r"tol must be a number in \(0, 1\), got 0.0"),
        ({"num_points": 4, "tol": float("nan")}, r"tol must be a number in \(0, 1\), got nan"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        geodesic(in_plane, point(1.0, 0.0), point(1.0, 1.0), **settings)  # type: ignore[arg-type]


def test_a_path_that_leaves_the_domain_of_the_decoder_is_refused() -> None:
    with pytest.raises(NumericalFailure, match="not finite at point 2 of the path"):
        geodesic(lambda f: 1 / f, point(-1.0), point(1.0), num_points=5)
