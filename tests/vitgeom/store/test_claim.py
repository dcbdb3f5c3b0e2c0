from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from vitgeom.store.claim import Claim


def test_a_claim_names_its_process_and_survives_bytes() -> None:
    claim = Claim.new(ttl=60.0)
    assert claim.pid == os.getpid()
    assert Claim.from_bytes(claim.to_bytes()) == claim
    assert f"process {os.getpid()} on " in claim.holder
    assert not claim.is_stale


def test_silence_makes_a_claim_stale_and_a_sign_of_life_renews_it() -> None:
    silent = replace(Claim.new(ttl=60.0), beat=time.time() - 61)
    assert silent.is_stale
    assert not silent.renewed().is_stale


def test_a_dead_process_makes_a_claim_stale_at_once() -> None:
    machine, pid, started = Claim.new(ttl=60.0).owner.split("-")
    assert replace(Claim.new(ttl=60.0), owner=f"{machine}-{pid}-{int(started) + 1}").is_stale
    assert not replace(Claim.new(ttl=60.0), owner=f"{'0' * 12}-{pid}-1").is_stale


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"owner": 1}', b"\xff\xfe"])
def test_other_bytes_are_no_claim(data: bytes) -> None:
    assert Claim.from_bytes(data) is None
