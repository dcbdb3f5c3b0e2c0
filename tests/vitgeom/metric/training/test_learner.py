from __future__ import annotations

from tests.vitgeom.metric.training.toy_learner import ToyLearner
from vitgeom.metric import ImportanceHead, SpectralPullbackNetwork
from vitgeom.metric.training import ImportanceLearner, Learner, SpnLearner


def test_all_learners_are_learners() -> None:
    for learner in (ToyLearner(), SpnLearner(SpectralPullbackNetwork(4, 2)), ImportanceLearner(ImportanceHead(4))):  # fmt: skip
        assert isinstance(learner, Learner)
    assert not isinstance(object(), Learner)
