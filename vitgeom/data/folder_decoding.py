"""Every file of a scan decoded once: which are usable, their hashes, and why the others are not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vitgeom.data.dataset import Quarantined
from vitgeom.data.decode import decode_image, quiet_decoders
from vitgeom.data.folder_scan import Candidate, Scan
from vitgeom.errors import InvalidInput

LARGEST_FILE = 1 << 30
_BATCH = 256


def decode_all(
    folder: Path, scan: Scan, *, threads: int, on_progress: Callable[[int, int], None] | None = None
) -> tuple[list[Candidate], list[str]]:
    """Return the candidates that decode and the hashes of their files; the others join the quarantine of ``scan``.

    Args:
        folder: The root of the scan.
        scan: What was found below it.
        threads: Files decoded at once.
        on_progress: Called with (files done, files in all) now and then.
    """
    usable: list[Candidate] = []
    hashes: list[str] = []
    for candidate, digest, reason in _attempts(
        folder, scan.candidates, threads, on_progress or (lambda done, total: None)
    ):
        if reason is None:
            usable.append(candidate)
            hashes.append(digest)
        else:
            scan.quarantine.append(Quarantined(candidate.path, reason))
    return usable, hashes


def _attempts(
    folder: Path, candidates: list[Candidate], threads: int, on_progress: Callable[[int, int], None]
) -> Iterator[tuple[Candidate, str, str | None]]:
    """Yield (candidate, sha256, reason or None) in order, with at most one batch in flight."""

    def attempt(candidate: Candidate) -> tuple[Candidate, str, str | None]:
        try:
            path = folder / candidate.path
            if (length := path.stat().st_size) > LARGEST_FILE:
                return (
                    candidate,
                    "",
                    f"the file has {length:,} bytes, more than {LARGEST_FILE:,} are not read",
                )
            data = path.read_bytes()
            decode_image(data)
        except InvalidInput as error:
            return candidate, "", str(error)
        except OSError as error:
            return candidate, "", f"cannot be read: {error.strerror}"
        return candidate, hashlib.sha256(data).hexdigest(), None

    with quiet_decoders(), ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(candidates), _BATCH):
            yield from pool.map(attempt, candidates[start : start + _BATCH])
            on_progress(min(start + _BATCH, len(candidates)), len(candidates))
