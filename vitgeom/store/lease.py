"""One driver per store: a second one is refused while the first one lives, on a disk and on any object store alike.

Every driver writes a claim of its own and then looks at all claims: whoever sees another living claim withdraws. Of two drivers that
both hold, one would have looked before the other wrote, so the other would have seen it: with consistent listings (local disks, S3) both
cannot hold, and no conditional put is needed. What remains: a driver that is stopped for longer than its ttl loses its claim to a
newcomer, and between waking up and its next ``check`` it may still write. Such writes are harmless: ranges are written whole and a range
that was committed with other values is refused.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vitgeom.errors import InvalidInput, StoreError, StoreLocked
from vitgeom.store.claim import Claim
from vitgeom.store.uri import Root, as_root

FOLDER = "lease"
# How long a driver waits for another one that came at the same moment and has to withdraw.
_PATIENCE_SECONDS = 3.0
_LOOK_AGAIN_SECONDS = 0.1
# How long a release waits for a renewal that is under way.
_LAST_RENEWAL_SECONDS = 5.0


class Lease:
    """A held claim, renewed by a thread until it is released.

    Attributes:
        took_over: Holders of the stale claims that were removed, for a log line.
    """

    def __init__(self, root: Root, *, name: str, claim: Claim, took_over: list[str]) -> None:
        self.took_over = took_over
        self._root, self._name, self._claim = root, name, claim
        self._stop = threading.Event()
        self._lost = ""
        self._thread = threading.Thread(target=self._renew, name="vitgeom-lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Refuse to go on when the claim was lost.

        Raises:
            StoreLocked: It was silent for too long or was removed.
        """
        if self._lost:
            raise StoreLocked(
                f"the lease on {self._root.uri} was lost: {self._lost}. Finished ranges stay valid; run the command again."
            )

    def release(self) -> None:
        """End the claim; doing it twice changes nothing. Where the place cannot be written any more, the claim ends by its ttl."""
        self._stop.set()
        self._thread.join(timeout=_LAST_RENEWAL_SECONDS)
        with suppress(StoreError):
            self._root.remove(self._name)

    def _renew(self) -> None:
        while not self._stop.wait(self._claim.ttl / 4):
            if time.time() - self._claim.beat > self._claim.ttl:
                self._lost = f"no sign of life reached the store for more than {self._claim.ttl:g} s"
                return
            try:
                if self._root.get(self._name) is None:
                    self._lost = "another process removed it"
                    return
                renewed = self._claim.renewed()
                self._root.write_bytes(self._name, renewed.to_bytes())
                self._claim = renewed
            except StoreError:
                # The next round tries again; after ttl seconds of failures the claim counts as lost.
                continue


@contextmanager
def lease(root: Root | str | Path, address_path: str, *, ttl: float = 60.0) -> Iterator[Lease]:
    """Hold a store for the driver of a run; workers need none.

    Args:
        root: Where stores live.
        address_path: Path of the store below it.
        ttl: Seconds of silence after which others may take over. Clocks of machines must agree to a fraction of it.

    Yields:
        The lease; call ``check()`` between steps of a long run.

    Raises:
        StoreLocked: Another driver holds it; it is named.
        StoreError: The place cannot be written.
    """
    if not 0 < ttl < float("inf"):
        raise InvalidInput(f"ttl must be a positive number of seconds, got {ttl}.")
    held = _acquire(as_root(root).join(address_path), ttl=ttl)
    try:
        yield held
    finally:
        held.release()


def _acquire(here: Root, *, ttl: float) -> Lease:
    took_over = _remove_stale(here)
    _refuse_if(_living(here), here)
    name = f"{FOLDER}/{uuid.uuid4().hex}.json"
    claim = Claim.new(ttl=ttl)
    try:
        here.write_bytes(name, claim.to_bytes())
        _await_turn(here, name)
    except BaseException:
        with suppress(StoreError):
            here.remove(name)
        raise
    return Lease(here, name=name, claim=claim, took_over=took_over)


def _await_turn(here: Root, name: str) -> None:
    """Return once no other living claim is seen; of two that came together the one with the smaller name stays."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        others = {other: claim for other, claim in _living(here).items() if other != name}
        if not others:
            return
        if min(others) < name or time.monotonic() > end:
            _refuse_if(others, here)
        time.sleep(_LOOK_AGAIN_SECONDS)


def _refuse_if(claims: dict[str, Claim], here: Root) -> None:
    for claim in claims.values():
        raise StoreLocked(
            f"{here.uri} is in use by {claim.holder}. Wait for it or stop it; if it is gone without a trace, its lease ends"
            f" {claim.ttl:g} s after its last sign of life."
        )


def _claims(here: Root) -> dict[str, Claim | None]:
    found: dict[str, Claim | None] = {}
    for entry in here.list(FOLDER):
        data = here.get(f"{FOLDER}/{entry}")
        if data is not None:
            found[f"{FOLDER}/{entry}"] = Claim.from_bytes(data)
    return found


def _living(here: Root) -> dict[str, Claim]:
    return {name: claim for name, claim in _claims(here).items() if claim is not None and not claim.is_stale}


def _remove_stale(here: Root) -> list[str]:
    removed = []
    for name, claim in _claims(here).items():
        if claim is None or claim.is_stale:
            here.remove(name)
            removed.append(claim.holder if claim is not None else f"an unreadable claim ({name})")
    return removed
