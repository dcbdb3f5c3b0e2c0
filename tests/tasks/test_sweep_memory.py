"""The memory formula of a sweep grows with what it should, and covers the probes that the evidence is made of."""

from __future__ import annotations

from pathlib import Path

from tasks.fit_probes import memory as probe_memory
from tasks.request import ProbeRequest
from tasks.sweep_memory import memory
from tests.support.sweep_features import sweep_request, sweep_store


def test_memory_covers_the_probes_and_grows_with_hidden_units(tmp_path: Path) -> None:
    store = sweep_store(str(tmp_path))
    small, large = (sweep_request(store, tmp_path, space={"hidden_dim": (size,)}) for size in (8, 4096))
    probes = ProbeRequest(
        store=str(tmp_path), address=small.address, manifest_digest=small.manifest_digest, l2=small.l2
    )
    assert probe_memory(probes) < memory(small) < memory(large)
