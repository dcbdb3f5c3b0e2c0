"""The flows as Prefect's own objects: what ``infra/prefect.yaml`` deploys. Importing this imports Prefect."""

from __future__ import annotations

from flows import diagnose as _diagnose
from flows import extract as _extract
from flows import full_benchmark as _full_benchmark
from flows import fuse as _fuse
from flows import horizontal as _horizontal
from flows import metric as _metric
from flows import probe as _probe
from flows import report as _report
from flows import shift as _shift
from flows import sweep as _sweep

full_benchmark = _full_benchmark.full_benchmark.prefect
extract = _extract.extract.prefect
probe = _probe.probe.prefect
fuse = _fuse.fuse.prefect
horizontal = _horizontal.horizontal.prefect
shift = _shift.shift.prefect
report = _report.report.prefect
sweep = _sweep.sweep.prefect
diagnose = _diagnose.diagnose.prefect
metric = _metric.metric.prefect
