"""Training of learned metrics: one loop, learners for each model, and states that survive an interruption."""

from vitgeom.metric.training.examples import Examples, needed
from vitgeom.metric.training.image_streams import image_generators
from vitgeom.metric.training.importance_learner import ImportanceLearner
from vitgeom.metric.training.in_memory import InMemoryExamples, SkippedImage
from vitgeom.metric.training.judgement import figures_per_image, judge
from vitgeom.metric.training.learner import Learner
from vitgeom.metric.training.loop import OnEpoch, Trained, train
from vitgeom.metric.training.reading import all_of, batches_of
from vitgeom.metric.training.report import EpochReport, HeldOutFigure
from vitgeom.metric.training.settings import TrainingSettings
from vitgeom.metric.training.spn_learner import SpnLearner
from vitgeom.metric.training.state import TrainingState
from vitgeom.metric.training.worker_group import WorkerGroup

__all__ = [
    "EpochReport",
    "Examples",
    "HeldOutFigure",
    "ImportanceLearner",
    "InMemoryExamples",
    "Learner",
    "OnEpoch",
    "SkippedImage",
    "SpnLearner",
    "Trained",
    "TrainingSettings",
    "TrainingState",
    "WorkerGroup",
    "all_of",
    "batches_of",
    "figures_per_image",
    "image_generators",
    "judge",
    "needed",
    "train",
]
