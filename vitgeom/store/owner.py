"""Who a process is, so that another one can tell later whether it still lives."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

_LABEL = re.compile(r"^(?P<machine>[0-9a-f]{12})-(?P<pid>[0-9]+)-(?P<started>[0-9]+)$")


@dataclass(frozen=True)
class Owner:
    """One process: ``machine`` marks the kernel and pid namespace, ``started`` tells a reused pid from the first one."""

    machine: str
    pid: int
    started: int

    @classmethod
    def current(cls) -> Owner:
        """Return the calling process."""
        pid = os.getpid()
        return cls(machine=_machine(), pid=pid, started=_start_ticks(pid))

    @classmethod
    def from_label(cls, label: str) -> Owner | None:
        """Return the owner that :attr:`label` described, or None for any other text."""
        match = _LABEL.match(label)
        if match is None:
            return None
        return cls(machine=match["machine"], pid=int(match["pid"]), started=int(match["started"]))

    @property
    def label(self) -> str:
        """One word, fit for a file name."""
        return f"{self.machine}-{self.pid}-{self.started}"

    def is_known_dead(self) -> bool:
        """Return True only when the process ran on this machine and is gone; False when it lives or cannot be judged."""
        return self.machine == _machine() and not _is_running(self.pid, self.started)


@functools.cache
def _machine() -> str:
    """Hash of host name, boot and pid namespace: two containers with the same host name differ."""
    parts = [socket.gethostname()]
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespace = Path("/proc/self/ns/pid")
    if boot.exists():
        parts.append(boot.read_text().strip())
    if namespace.is_symlink():
        parts.append(str(namespace.readlink()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _start_ticks(pid: int) -> int:
    """Clock ticks between boot and the start of a process; 0 where the system does not tell."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    # The command name (field 2) may hold spaces and parentheses; the fields after it do not.
    return int(text.rpartition(")")[2].split()[19])


def _is_running(pid: int, started: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started == 0 or _start_ticks(pid) in (0, started)
