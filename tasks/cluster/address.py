"""Which addresses of a Ray cluster are accepted, and whether anybody answers there."""

from __future__ import annotations

import re
import socket

from vitgeom.errors import InvalidInput

REACH_SECONDS = 10.0
"""A head node that is there answers at once."""


def check_address(address: str, *, num_cpus: int | None) -> None:
    """Refuse an address that could join a cluster by accident.

    Args:
        address: ``"local"`` or ``"host:port"``.
        num_cpus: Only a private Ray can be told its size.

    Raises:
        InvalidInput: Anything else.
    """
    if address == "local":
        if num_cpus is not None and num_cpus < 1:
            raise InvalidInput(
                f"num_cpus must be >= 1, got {num_cpus}. Leave it out to use what the machine has."
            )
        return
    if not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}", address):
        raise InvalidInput(
            f"address must be 'local' or 'host:port' of one Ray cluster, got {address!r}. 'auto' could join a cluster that is "
            "somebody else's, and ray:// cannot cancel reliably; name the head node's port (6379 by default)."
        )
    if num_cpus is not None:
        raise InvalidInput(
            f"num_cpus={num_cpus} goes with address='local' only; the cluster at {address} has its own size."
        )


def reach(address: str) -> None:
    """Open and close one connection to a head node; Ray itself would try for minutes.

    Args:
        address: ``"host:port"``.

    Raises:
        OSError: Nobody answers.
    """
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS).close()
