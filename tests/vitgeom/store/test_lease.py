from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.feature_stores import keys
from tests.support.s3_server import S3Server
from tests.support.watched_objects import fails_on_write, watched
from vitgeom.errors import InvalidInput, StoreError, StoreLocked
from vitgeom.store.claim import Claim
from vitgeom.store.lease import Lease, lease
from vitgeom.store.uri import Root

ADDRESS = "features/digits/nano/0123456789abcdef"
CHECKOUT = Path(__file__).parents[3]


class LeaseContract:
    """Inherit and provide the fixture ``root``: an empty place."""

    def test_a_second_driver_is_refused_and_the_holder_named(self, root: Root) -> None:
        words = rf"is in use by process {os.getpid()} on .* \(since .*\)\. Wait"
        with lease(root, ADDRESS), pytest.raises(StoreLocked, match=words), lease(root, ADDRESS):
            raise AssertionError("two drivers hold the same store")

    def test_it_is_released_at_the_end_also_after_an_error(self, root: Root) -> None:
        with pytest.raises(ZeroDivisionError), lease(root, ADDRESS):
            raise ZeroDivisionError
        with lease(root, ADDRESS) as held:
            held.check()
            assert held.took_over == []
        assert keys(root) == []

    def test_other_addresses_are_free(self, root: Root) -> None:
        with lease(root, ADDRESS), lease(root, ADDRESS[:-1] + "0"):
            pass

    def test_a_stale_lease_is_taken_over(self, root: Root) -> None:
        dead = replace(
            Claim.new(ttl=60.0), owner="0" * 12 + "-1-1", host="elsewhere", pid=1, beat=time.time() - 100
        )
        root.join(ADDRESS).write_bytes("lease/dead.json", dead.to_bytes())
        root.join(ADDRESS).write_bytes("lease/torn.json", b"{")
        with lease(root, ADDRESS) as held:
            assert any("process 1 on elsewhere" in holder for holder in held.took_over)
            assert len(held.took_over) == 2
        assert keys(root) == []

    def test_a_living_lease_of_another_machine_is_respected(self, root: Root) -> None:
        living = replace(Claim.new(ttl=60.0), owner="0" * 12 + "-1-1", host="elsewhere", pid=1)
        root.join(ADDRESS).write_bytes("lease/living.json", living.to_bytes())
        with (
            pytest.raises(
                StoreLocked, match=r"is in use by process 1 on elsewhere.*60 s after its last sign of life"
            ),
            lease(root, ADDRESS),
        ):
            raise AssertionError("a living lease was ignored")
        assert len(keys(root)) == 1

    def test_of_many_drivers_at_once_at_most_one_holds(self, root: Root) -> None:
        holding, refused, most = [], [], []
        together = threading.Barrier(4)

        def drive(number: int) -> None:
            together.wait()
            try:
                with lease(root, ADDRESS):
                    holding.append(number)
                    most.append(len(holding))
                    time.sleep(0.5)
                    holding.remove(number)
            except StoreLocked:
                refused.append(number)

        threads = [threading.Thread(target=drive, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(most) == {1}
        assert len(most) + len(refused) == 4
        assert keys(root) == []


class TestFolder(LeaseContract):
    @pytest.fixture
    def root(self, local_root: Root) -> Root:
        return local_root


class TestMemory(LeaseContract):
    @pytest.fixture
    def root(self, memory_root: Root) -> Root:
        return memory_root


@pytest.mark.services
class TestS3(LeaseContract):
    @pytest.fixture
    def root(self, s3_root: Root) -> Root:
        return s3_root


HOLDER = """
import sys, time
from vitgeom.store.lease import lease
with lease(sys.argv[1], sys.argv[2]):
    print("holding", flush=True)
    time.sleep(600)
"""


def test_a_driver_in_another_process_is_refused_and_after_its_death_succeeds_at_once(
    local_root: Root,
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, local_root.uri, ADDRESS], cwd=CHECKOUT, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"holding\n"
        with (
            pytest.raises(StoreLocked, match=f"is in use by process {holder.pid} on"),
            lease(local_root, ADDRESS),
        ):
            raise AssertionError("two drivers hold the same store")
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()
    with lease(local_root, ADDRESS) as held:
        assert [f"process {holder.pid} on" in one for one in held.took_over] == [True]


def test_the_claim_is_renewed_while_it_is_held(local_root: Root) -> None:
    with lease(local_root, ADDRESS, ttl=0.8) as held:
        time.sleep(2.0)
        held.check()
        with pytest.raises(StoreLocked), lease(local_root, ADDRESS):
            raise AssertionError("a renewed lease was taken for a stale one")


def test_a_claim_that_somebody_removed_is_noticed(local_root: Root) -> None:
    with lease(local_root, ADDRESS, ttl=0.4) as held:
        local_root.join(ADDRESS).remove("lease", recursive=True)
        with pytest.raises(StoreLocked, match="was lost: another process removed it"):
            _check_for_ten_seconds(held)
    assert keys(local_root) == []


def test_a_claim_that_cannot_be_renewed_is_lost_after_its_ttl(local_root: Root) -> None:
    place, _ = watched(local_root, fault=fails_on_write(28, after=1))
    with lease(place, ADDRESS, ttl=0.4) as held:
        held.check()
        words = r"was lost: no sign of life reached the store for more than 0\.4 s"
        with pytest.raises(StoreLocked, match=words):
            _check_for_ten_seconds(held)


def test_a_place_that_cannot_be_written_is_a_store_error(local_root: Root) -> None:
    place, _ = watched(local_root, fault=fails_on_write(30))
    with pytest.raises(StoreError, match="the file system is read-only") as caught, lease(place, ADDRESS):
        raise AssertionError("a lease without a claim")
    assert not isinstance(caught.value, StoreLocked)


def _check_for_ten_seconds(held: Lease) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        held.check()
        time.sleep(0.02)


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("inf"), float("nan")])
def test_a_ttl_must_be_a_duration(local_root: Root, ttl: float) -> None:
    with (
        pytest.raises(InvalidInput, match="ttl must be a positive number of seconds"),
        lease(local_root, ADDRESS, ttl=ttl),
    ):
        raise AssertionError("a lease without a duration")


@pytest.mark.services
def test_a_driver_whose_server_is_gone_can_still_end(
    s3_environment: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Root(s3_environment.bucket("lease-end") + "/x", deadline=1.0)
    with lease(root, ADDRESS):
        monkeypatch.setattr(root.objects, "base", "no-such-bucket/x")
    monkeypatch.setattr(root.objects, "base", "lease-end/x")
    assert len(keys(root)) == 1
