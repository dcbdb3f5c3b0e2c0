"""Every task, once: its function, the CPUs and GPUs that one unit takes, and its memory in bytes.

The memory formulas are upper estimates for one process that has run one unit; a test measures small runs against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks import (
    evaluate_shift,
    extract_features,
    fit_fusion,
    fit_horizontal,
    fit_probes,
    make_targets,
    sweep_fusion,
    sweep_memory,
    sweep_rank,
    train_bottleneck,
    train_metric,
)
from tasks.task_spec import TaskSpec


def _threads(request: Any) -> float:
    return float(request.threads)


def _no_gpu(request: Any) -> float:
    return 0.0


def _gpu_if_cuda(request: Any) -> float:
    return 1.0 if request.device.startswith("cuda") else 0.0


CATALOGUE: Mapping[str, TaskSpec] = {
    spec.name: spec
    for spec in (
        TaskSpec(
            name="extract_features",
            function=extract_features.run,
            cpus=_threads,
            gpus=_gpu_if_cuda,
            memory=extract_features.memory,
            shrink=extract_features.halve_batch,
        ),
        TaskSpec(
            name="fit_probes",
            function=fit_probes.run,
            cpus=_threads,
            gpus=_no_gpu,
            memory=fit_probes.memory,
        ),
        TaskSpec(
            name="fit_fusion",
            function=fit_fusion.run,
            cpus=_threads,
            gpus=_gpu_if_cuda,
            memory=fit_fusion.memory,
        ),
        TaskSpec(
            name="fit_horizontal",
            function=fit_horizontal.run,
            cpus=_threads,
            gpus=_gpu_if_cuda,
            memory=fit_horizontal.memory,
        ),
        TaskSpec(
            name="sweep_fusion",
            function=sweep_fusion.run,
            cpus=_threads,
            gpus=_no_gpu,
            memory=sweep_memory.memory,
        ),
        TaskSpec(
            name="evaluate_shift",
            function=evaluate_shift.run,
            cpus=_threads,
            gpus=_no_gpu,
            memory=evaluate_shift.memory,
        ),
        TaskSpec(
            name="make_targets",
            function=make_targets.run,
            cpus=_threads,
            gpus=_gpu_if_cuda,
            memory=make_targets.memory,
        ),
        TaskSpec(
            name="sweep_rank",
            function=sweep_rank.run,
            cpus=_threads,
            gpus=_no_gpu,
            memory=sweep_rank.memory,
        ),
        TaskSpec(
            name="train_bottleneck",
            function=train_bottleneck.run,
            cpus=train_metric.own_cpus,
            gpus=train_metric.own_gpus,
            memory=train_bottleneck.memory,
        ),
        TaskSpec(
            name="train_metric",
            function=train_metric.run,
            cpus=train_metric.own_cpus,
            gpus=train_metric.own_gpus,
            memory=train_metric.memory,
        ),
    )
}
