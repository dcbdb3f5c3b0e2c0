"""Colours by role, for light and dark surfaces: a figure names the role, the page decides what it looks like.

The data colours start from the blue, vermilion, green, purple and black of Okabe and Ito, darkened on white and
lightened on black until they contrast by 3:1 or more; the tests hold them apart for red-green colour blindness. Shape and
dashes always say the same as colour does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """One use of colour: its CSS variable and its value on a light and on a dark surface."""

    variable: str
    light: str
    dark: str


INK = Role("--ink", "#1b2026", "#e9edf1")
MUTED = Role("--muted", "#59636e", "#a3adb8")
GRID = Role("--grid", "#dfe3e8", "#333b44")
RULE = Role("--rule", "#c3cad2", "#4a545f")
SURFACE = Role("--surface", "#ffffff", "#14181d")
PANEL = Role("--panel", "#f6f7f9", "#1c2229")
LAYER = Role("--layer", "#0067a5", "#5ab4f0")
ORACLE = Role("--oracle", "#00785a", "#2fc79c")
UNIFORM = Role("--uniform", "#2b3037", "#f2f4f6")
PERMUTATION = Role("--permutation", "#c85200", "#ff8c42")
REFIT = Role("--refit", "#a8669a", "#c07fb4")

ROLES = (INK, MUTED, GRID, RULE, SURFACE, PANEL, LAYER, ORACLE, UNIFORM, PERMUTATION, REFIT)


def stylesheet(selector: str) -> str:
    """Return the CSS that gives every role its colour in both schemes.

    Args:
        selector: The element that carries the variables: ``:root`` for a page, ``svg`` for a figure of its own.
    """
    light = "".join(f"{role.variable}:{role.light};" for role in ROLES)
    dark = "".join(f"{role.variable}:{role.dark};" for role in ROLES)
    return f"{selector}{{{light}}}@media(prefers-color-scheme:dark){{{selector}{{{dark}}}}}"


def with_variables(svg: str) -> str:
    """Replace every light colour of a role in ``svg`` by the role's CSS variable.

    Args:
        svg: A drawing made with the ``light`` colours; these are unique by role.
    """
    for role in ROLES:
        svg = svg.replace(role.light, f"var({role.variable})")
    return svg
