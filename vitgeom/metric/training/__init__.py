"""Training of learned metrics: one loop, learners for each model, and states that survive an interruption."""

from vitgeom.metric.training.examples import Examples, needed
from vitgeom.metric.training.image_streams import image_generators
from vitgeom.metric.training.in_memory import InMemoryExamples, SkippedImage
from vitgeom.metric.training.judgement import figures_per_image, judge
from vitgeom.metric.training.learner import Learner
from vitgeom.metric.training.loop import OnEpoch, Trained, train
from vitgeom.metric.training.report import EpochReport, HeldOutFigure
from vitgeom.metric.training.settings import TrainingSettings
from vitgeom.metric.training.state import TrainingState
from vitgeom.metric.training.worker_group import WorkerGroup

__all__ = [
    "EpochReport",
    "Examples",
    "HeldOutFigure",
    "InMemoryExamples",
    "Learner",
    "OnEpoch",
    "SkippedImage",
    "Trained",
    "TrainingSettings",
    "TrainingState",
    "WorkerGroup",
    "figures_per_image",
    "image_generators",
    "judge",
    "needed",
    "train",
]
