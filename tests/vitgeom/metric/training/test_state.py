from __future__ import annotations

import dataclasses

import pytest
import torch

from tests.vitgeom.metric.training.toy_learner import ToyLearner, toy_examples
from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.metric.training import EpochReport, TrainingSettings, TrainingState, train
from vitgeom.tensor_file import packed

SETTINGS = TrainingSettings(epochs=4, batch_size=4, patience=2, learning_rate=0.1)


@pytest.fixture
def state() -> TrainingState:
    found = train(ToyLearner(), toy_examples(6), toy_examples(3, seed=1), SETTINGS, on_epoch=lambda report, state: report.epoch < 2)  # fmt: skip
    return found.state


def test_everything_survives_the_file(state: TrainingState, tmp_path) -> None:
    back = TrainingState.load(state.save(tmp_path / "state"))
    for field in dataclasses.fields(state):
        one, other = getattr(state, field.name), getattr(back, field.name)
        if isinstance(one, dict):
            assert set(one) == set(other)
            assert all(torch.equal(one[name], other[name]) for name in one)
        else:
            assert one == other
    assert [one.name for one in tmp_path.iterdir()] == ["state"]


def test_damage_and_other_files_are_noticed(state: TrainingState, tmp_path) -> None:
    content = bytearray(state.to_bytes())
    content[-1] ^= 1
    (tmp_path / "state").write_bytes(bytes(content))
    with pytest.raises(CorruptData, match="state does not match its checksum"):
        TrainingState.load(tmp_path / "state")
    with pytest.raises(InvalidInput, match="must hold a training state of version 1, got a learned metric"):
        TrainingState.from_bytes(packed({}, {}, kind="learned metric", version=1))
    with pytest.raises(StoreError, match="there is no training state at"):
        TrainingState.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"settings": dataclasses.replace(SETTINGS, epochs=9)}, "epochs was 4, is 9"),
        ({"settings": dataclasses.replace(SETTINGS, seed=1)}, "seed was 0, is 1"),
        ({"learner": "Other"}, "learner was 'ToyLearner', is 'Other'"),
        ({"num_images": 7}, "training images was 6, is 7"),
    ],
)
def test_another_training_is_refused(state: TrainingState, change, said: str) -> None:
    same = {"learner": "ToyLearner", "settings": SETTINGS, "num_images": 6}
    state.check_fits(**same)
    state.check_fits(**{**same, "settings": dataclasses.replace(SETTINGS, device="cuda")})
    with pytest.raises(InvalidInput, match=f"state belongs to another training: {said}"):
        state.check_fits(**{**same, **change})


def test_it_knows_when_there_is_no_further_epoch(state: TrainingState) -> None:
    def after(epoch: int, best: int | None) -> str | None:
        history = tuple(EpochReport(e, {}, {}, 0.5, e == best, 1.0) for e in range(1, epoch + 1))
        return dataclasses.replace(state, epoch=epoch, history=history).finished

    assert [after(3, 2), after(3, 1), after(4, 4)] == [None, "patience", "epochs"]
    assert [after(1, None), after(2, None)] == [None, "patience"]
