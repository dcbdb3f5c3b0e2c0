"""One driver's claim on a store: a small record that tells who holds it and when it last gave a sign of life."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from vitgeom.store.owner import Owner


@dataclass(frozen=True)
class Claim:
    """Who claims a store.

    Attributes:
        owner: Label of the process (:class:`vitgeom.store.owner.Owner`).
        host: Name of its machine, for people.
        pid: Its process id, for people.
        since: When it came, UTC, ISO 8601.
        beat: Its last sign of life, seconds since 1970 by its own clock.
        ttl: Seconds after which a silent claim is stale.
    """

    owner: str
    host: str
    pid: int
    since: str
    beat: float
    ttl: float

    @classmethod
    def new(cls, *, ttl: float) -> Claim:
        """Return a claim of this process.

        Args:
            ttl: Seconds after which it is stale unless renewed.
        """
        owner = Owner.current()
        since = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(owner.label, socket.gethostname(), owner.pid, since, time.time(), ttl)

    def renewed(self) -> Claim:
        """Return the claim with a sign of life from now."""
        return replace(self, beat=time.time())

    @property
    def is_stale(self) -> bool:
        """True when its process is known to be dead or has been silent for longer than its ttl."""
        owner = Owner.from_label(self.owner)
        return (owner is not None and owner.is_known_dead()) or time.time() - self.beat > self.ttl

    @property
    def holder(self) -> str:
        """Who it is, for a message."""
        return f"process {self.pid} on {self.host} (since {self.since})"

    def to_bytes(self) -> bytes:
        """Return the record as JSON."""
        return json.dumps(asdict(self), sort_keys=True).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> Claim | None:
        """Return the claim that :meth:`to_bytes` wrote, or None for anything else."""
        try:
            value = json.loads(data)
            return cls(
                str(value["owner"]),
                str(value["host"]),
                int(value["pid"]),
                str(value["since"]),
                float(value["beat"]),
                float(value["ttl"]),
            )
        except (KeyError, TypeError, ValueError):
            return None
