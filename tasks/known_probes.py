"""Probes that the probe step has stored, for a step that would otherwise fit the same ones again."""

from __future__ import annotations

from safetensors.torch import load

from tasks.fusion_request import FusionSettings
from tasks.probe_results import finished_results
from tasks.sweep_request import SweepRequest
from vitgeom.errors import InvalidInput
from vitgeom.probes import LayerProbes
from vitgeom.store.uri import Root

ALIKE = ("token", "last_layer", "tol")


def known_probes(
    place: str | None, settings: FusionSettings | SweepRequest, *, manifest_digest: str
) -> LayerProbes | None:
    """Return stored probes; None if there is no place to look at, or they are not whole (any more).

    Args:
        place: Where they lie.
        settings: How they must have been fitted.
        manifest_digest: Of the features that they must be of.

    Raises:
        InvalidInput: They are of other features, or were fitted in another way than is asked for.
    """
    if place is None:
        return None
    root = Root(place)
    if finished_results(root) is None:
        return None
    told = root.read_json("probes.json")
    found = {name: told["request"][name] for name in ALIKE} | {
        "manifest_digest": told["features"]["manifest_digest"]
    }
    wanted = {name: getattr(settings, name) for name in ALIKE} | {"manifest_digest": manifest_digest}
    wrong = [name for name in wanted if found[name] != wanted[name]]
    if wrong:
        name = wrong[0]
        raise InvalidInput(
            f"the probes at {root.uri} were fitted with {name}={found[name]!r}, but {name}={wanted[name]!r} is asked for. "
            "Leave probes out to have them fitted."
        )
    return LayerProbes.from_parts(load(root.read_bytes("probes.safetensors")), told["meta"])
