"""``run.json``: how the last run of a study went. Everything that differs from run to run stands here and in no other result file."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flows.outcome import Outcome
from flows.result_file import write_result
from flows.steps import inside_flow_run
from flows.study import Resolved
from tasks.tracking import Tracked
from vitgeom.errors import StoreError

NAME = "run.json"


class RunFile:
    """Times a run and writes down what was computed, what was cached, and who ran it."""

    def __init__(self, wanted: Resolved) -> None:
        """Start the clock."""
        self._wanted = wanted
        self._began, self._clock = datetime.now(UTC), time.monotonic()

    @property
    def tags(self) -> dict[str, str]:
        """Return who runs the study, and on what."""
        return {"vitgeom.orchestrator": _orchestrator(), "vitgeom.engine": self._wanted.params.engine.kind}

    def write(self, *, tracked: Tracked, steps: Mapping[str, Sequence[Outcome]]) -> None:
        """Write the file.

        Args:
            tracked: Where the study was recorded.
            steps: Name of a step -> what became of each cell.

        Raises:
            StoreError: The file cannot be written; the one of an earlier run is left as it is.
        """
        content = {
            "began": self._began.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self._clock, 2),
            "orchestrator": _orchestrator(),
            "engine": self._wanted.params.engine.model_dump(mode="json"),
            "store": self._wanted.store,
            "steps": {
                step: {outcome.cell.name: _told(outcome) for outcome in outcomes}
                for step, outcomes in steps.items()
            },
            "tracking": {"uri": tracked.uri, "run": tracked.run_id, "problem": tracked.problem},
        }
        path = Path(self._wanted.out, NAME)
        try:
            write_result(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        except StoreError as error:
            raise StoreError(
                f"{error} All other results of this run are complete, the report among them; the same command computes nothing again and"
                " writes this file."
            ) from error


def _orchestrator() -> str:
    return "prefect" if inside_flow_run() else "plain"


def _told(outcome: Outcome) -> dict[str, Any]:
    if outcome.receipt is None:
        return {"failed": outcome.problem}
    receipt = outcome.receipt
    return {
        "cached": receipt.cached,
        "rows": receipt.rows,
        "digest": receipt.digest,
        "peak_bytes": receipt.peak_bytes,
    }
