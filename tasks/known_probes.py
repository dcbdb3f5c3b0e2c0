"""Probes that the probe step has stored, for a step that would otherwise fit the same ones again."""

from __future__ import annotations

from safetensors.torch import load

from tasks.fusion_request import FusionRequest
from tasks.probe_results import finished_results
from tasks.sweep_request import SweepRequest
from vitgeom.errors import InvalidInput
from vitgeom.probes import LayerProbes
from vitgeom.store.uri import Root

ALIKE = ("token", "last_layer", "tol")


def known_probes(request: FusionRequest | SweepRequest) -> LayerProbes | None:
    """Return the stored probes that a request names; None if it names none, or they are not whole (any more).

    Args:
        request: ``probes`` is where they lie.

    Raises:
        InvalidInput: They are of other features, or were fitted in another way than the request asks for.
    """
    if request.probes is None:
        return None
    place = Root(request.probes)
    if finished_results(place) is None:
        return None
    told = place.read_json("probes.json")
    found = {name: told["request"][name] for name in ALIKE} | {
        "manifest_digest": told["features"]["manifest_digest"]
    }
    wanted = {name: getattr(request, name) for name in (*ALIKE, "manifest_digest")}
    wrong = [name for name in wanted if found[name] != wanted[name]]
    if wrong:
        name = wrong[0]
        raise InvalidInput(
            f"the probes at {place.uri} were fitted with {name}={found[name]!r}, but {name}={wanted[name]!r} is asked for. "
            "Leave probes out to have them fitted."
        )
    return LayerProbes.from_parts(load(place.read_bytes("probes.safetensors")), told["meta"])
