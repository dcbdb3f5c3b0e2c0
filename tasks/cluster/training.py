"""One training on the workers of Ray Train, started from the unit that asked for it.

Workers share each batch and sum their gradients (``vitgeom.metric.training``); which worker holds which image changes no weight but by rounding. States go to
vitgeom's own store, epoch by epoch: Train is given a folder of its own, where it keeps nothing that counts. It restarts nothing either: when a
worker dies the unit fails with ``WorkerDied``, and the engine's next try goes on after the last epoch in the store.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from tasks import environment
from tasks.cluster.capacity import shortage
from tasks.cluster.surroundings import exported
from tasks.failure import WorkerDied
from tasks.task_spec import Ask
from tasks.training_work import TrainingRequest, kind_of, work
from vitgeom.errors import ResourceShortage
from vitgeom.metric.training import EpochReport

QUIET = {"RAY_TRAIN_ENABLE_STATE_TRACKING": "0", "RAY_TRAIN_METRICS_ENABLED": "0"}


class TorchGroup:
    """The workers of one training, through ``torch.distributed`` as Ray Train has set it up.

    Attributes:
        rank: Of this worker.
        world_size: Workers in all.
    """

    def __init__(self, *, rank: int, world_size: int) -> None:
        """Remember who this is.

        Args:
            rank: Of this worker.
            world_size: Workers in all.
        """
        self.rank, self.world_size = rank, world_size

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all workers.

        Args:
            tensor: The same shape and dtype everywhere.
        """
        from torch import distributed

        distributed.all_reduce(tensor)


def train_on_ray(request: TrainingRequest, *, worker_bytes: int) -> None:
    """Train to the end; the state lies in the store then.

    Args:
        request: Which model, on how many workers.
        worker_bytes: Memory that one worker takes.

    Raises:
        ResourceShortage: No machine of the cluster can hold one worker.
        WorkerDied: A worker is gone; another try goes on where it was.
        VitgeomError: What a worker raised.
    """
    import ray
    from ray import train
    from ray.train.torch import TorchConfig, TorchTrainer
    from ray.train.v2.api.exceptions import TrainingFailedError

    on_gpu = request.settings.device.startswith("cuda")
    ask = Ask(cpus=float(request.threads), gpus=float(on_gpu), memory=worker_bytes)
    reason = shortage(ask, [node["Resources"] for node in ray.nodes() if node["Alive"]])
    if reason is not None:
        raise ResourceShortage(f"{request.task}: {reason}")
    with tempfile.TemporaryDirectory(prefix="vitgeom-train-") as folder, exported(QUIET):
        trainer = TorchTrainer(
            _in_worker,
            train_loop_config={"task": request.task, "request": request.model_dump_json()},
            torch_config=TorchConfig(backend="nccl" if on_gpu else "gloo"),
            scaling_config=train.ScalingConfig(
                num_workers=request.workers,
                use_gpu=on_gpu,
                resources_per_worker={"CPU": ask.cpus, "GPU": ask.gpus, "memory": ask.memory},
            ),
            run_config=train.RunConfig(name="training", storage_path=folder),
        )
        try:
            trainer.fit()
        except TrainingFailedError as error:
            raise cause_of(error) from error


def cause_of(error: Any) -> Exception:
    """Return what one of the workers raised, or that it is gone.

    Args:
        error: Of Ray Train.
    """
    failures: Mapping[int, Exception] = getattr(error, "worker_failures", {})
    for failure in failures.values():
        inner = getattr(failure, "cause", None) or failure.__cause__ or failure
        if isinstance(inner, Exception) and not _is_rays(inner):
            return inner
    first = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".:")
    return WorkerDied(f"a worker of the training died ({first}).")


def _is_rays(error: Exception) -> bool:
    """Whether Ray speaks for a worker that cannot speak any more; its own classes for that are not all public."""
    return type(error).__module__.split(".")[0] == "ray"


def _in_worker(config: dict[str, Any]) -> None:
    """What each worker of Ray Train does."""
    environment.apply()
    from ray import train

    context = train.get_context()
    rank, world_size = context.get_world_rank(), context.get_world_size()
    group = TorchGroup(rank=rank, world_size=world_size) if world_size > 1 else None

    def tell(report: EpochReport) -> None:
        train.report({"epoch": report.epoch, "selection": report.selection, **report.loss})

    request: Any = kind_of(config["task"]).request.model_validate_json(config["request"])
    work(request, group=group, on_report=tell)
