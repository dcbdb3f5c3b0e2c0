"""Says while models are trained how far each is, from the small files that trainings leave in the store after every epoch."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tasks.engine import OnReceipt
from tasks.receipt import Receipt
from tasks.training_work import PROGRESS, TrainingRequest
from vitgeom.errors import VitgeomError
from vitgeom.store.uri import Root

EVERY_SECONDS = 5.0


@contextmanager
def watched(
    requests: Sequence[TrainingRequest], *, emit: Callable[[str], None], label: str
) -> Iterator[OnReceipt]:
    """Emit a line for every training that got further, every few seconds, and one for each that is done.

    Args:
        requests: All trainings.
        emit: Receives lines.
        label: What they call the whole.

    Yields:
        What is to be told of each finished training.
    """
    done = 0

    def seen(receipt: Receipt) -> None:
        nonlocal done
        done += 1
        how = "cached" if receipt.cached else f"{receipt.detail['epochs']} epochs in {receipt.seconds:.0f} s"
        emit(f"{label}: {done} of {len(requests)} models, {receipt.key}: {how}")

    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(requests, over, emit), name="vitgeom-watch", daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _watch(requests: Sequence[TrainingRequest], over: threading.Event, emit: Callable[[str], None]) -> None:
    last: dict[str, int] = {}
    while not over.wait(EVERY_SECONDS):
        for request in requests:
            progress = progress_of(request)
            if progress is not None and progress["epoch"] > last.get(request.path, 0):
                last[request.path] = progress["epoch"]
                emit(f"{request.key}: {line_of(progress)}")


def progress_of(request: TrainingRequest) -> dict[str, Any] | None:
    """Return how far a training is; None before its first epoch, after its end, and where the store cannot be asked.

    Args:
        request: Which one.
    """
    with suppress(VitgeomError, OSError, ValueError):
        content = Root(request.store).join(request.path).get(PROGRESS)
        return None if content is None else dict(json.loads(content))
    return None


def line_of(progress: dict[str, Any]) -> str:
    """Return progress in words.

    Args:
        progress: From ``progress_of``.
    """
    value, best = (
        "undefined" if progress[name] is None else f"{progress[name]:.3f}" for name in ("value", "best")
    )
    return f"epoch {progress['epoch']} of {progress['epochs']}, {progress['figure']} {value} (best {best})"
