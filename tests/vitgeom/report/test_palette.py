from __future__ import annotations

import itertools

import pytest

from vitgeom.report import palette
from vitgeom.report.palette import Role

DATA = (palette.LAYER, palette.ORACLE, palette.UNIFORM, palette.PERMUTATION, palette.REFIT)
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
DEFICIENCIES = {
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


def linear(colour: str) -> list[float]:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(colour: str) -> float:
    return sum(
        weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True)
    )


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> list[float]:
    return [
        max(0.0, sum(m * c for m, c in zip(row, linear(colour), strict=True))) ** (1 / 2.4) for row in matrix
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_data_contrast_with_every_surface(scheme: str) -> None:
    def of(role: Role) -> str:
        return getattr(role, scheme)

    for surface in (palette.SURFACE, palette.PANEL):
        assert contrast(of(palette.INK), of(surface)) >= 7
        assert contrast(of(palette.MUTED), of(surface)) >= 4.5
        assert all(contrast(of(role), of(surface)) >= 3 for role in DATA)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("deficiency", sorted(DEFICIENCIES))
def test_marks_of_one_picture_stay_apart_for_colour_blind_readers(scheme: str, deficiency: str) -> None:
    matrix = DEFICIENCIES[deficiency]
    levels = itertools.combinations((palette.LAYER, palette.UNIFORM, palette.PERMUTATION, palette.REFIT), 2)
    for first, second in (*levels, (palette.LAYER, palette.ORACLE)):
        a, b = (seen(getattr(role, scheme), matrix) for role in (first, second))
        distance = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5
        assert distance >= 0.1, (first.variable, second.variable, distance)


def test_light_colours_are_unique_so_that_they_can_stand_for_their_role() -> None:
    assert len({role.light for role in palette.ROLES}) == len(palette.ROLES)
    assert (
        palette.with_variables(f"fill: {palette.LAYER.light}; stroke: #123456")
        == "fill: var(--layer); stroke: #123456"
    )


def test_stylesheet_names_each_role_for_both_schemes() -> None:
    rules = palette.stylesheet(":root")
    light, dark = rules.split("@media(prefers-color-scheme:dark)")
    for role in palette.ROLES:
        assert f"{role.variable}:{role.light};" in light
        assert f"{role.variable}:{role.dark};" in dark
