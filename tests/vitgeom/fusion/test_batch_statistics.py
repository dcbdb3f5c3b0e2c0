from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles.restandardised import restandardised
from tests.support.fusion_data import TEST, TRAIN, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion import HFusionClassifier, layer_moments, staged_rows, with_batch_statistics
from vitgeom.fusion.batch_statistics import MIN_ROWS
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.probes import FunctionLayers, RowSource
from vitgeom.seeding import generator_for


def drawn(n: int, *, name: str, spread: float = 1.0, offset: float = 0.0) -> torch.Tensor:
    return torch.randn(n, 3, 5, generator=generator_for(0, name)) * spread + offset


TRAINING = drawn(90, name="train", spread=2.0, offset=1.0)
SHIFTED = drawn(80, name="test", spread=0.3, offset=-4.0)


def stacked(source: RowSource) -> np.ndarray:
    return np.stack(
        [source.rows(layer, 0, source.num_rows).numpy() for layer in range(source.num_layers)], axis=1
    )


def test_rows_are_those_restandardised_by_hand() -> None:
    found = stacked(with_batch_statistics(SHIFTED, like=TRAINING))
    np.testing.assert_allclose(found, restandardised(SHIFTED.numpy(), TRAINING.numpy()), atol=2e-6)
    assert found.dtype == np.float32


def test_training_rows_stay_what_they_are() -> None:
    np.testing.assert_allclose(
        stacked(with_batch_statistics(TRAINING, like=TRAINING)), TRAINING.numpy(), atol=1e-6
    )


def test_a_change_of_offset_and_scale_is_undone_and_so_are_its_answers() -> None:
    (x, y), (x_test, y_test) = part(TRAIN), part(TEST)
    fitted = LastLayerClassifier().fit(x, y)
    factors = torch.rand(x.shape[1:], generator=generator_for(0, "factors")) + 0.2
    damaged = x_test * factors - 3 * torch.rand(x.shape[1:], generator=generator_for(0, "offsets"))
    adapted = with_batch_statistics(damaged, like=x)
    np.testing.assert_allclose(
        fitted.predict_log_proba(adapted),
        fitted.predict_log_proba(with_batch_statistics(x_test, like=x)),
        atol=1e-4,
    )
    assert fitted.score(adapted, y_test) > fitted.score(damaged, y_test)


def test_coordinates_that_are_constant_are_only_moved() -> None:
    test, train = SHIFTED.clone(), TRAINING.clone()
    test[:, 0, 1] = 0.1
    train[:, 2, 3] = 0.7
    found = stacked(with_batch_statistics(test, like=train))
    np.testing.assert_allclose(found[:, 0, 1], train[:, 0, 1].double().mean(), rtol=1e-6)
    np.testing.assert_allclose(found[:, 2, 3], 0.7, rtol=1e-6)
    np.testing.assert_allclose(found, restandardised(test.numpy(), train.numpy()), atol=2e-6)


def test_streaming_gives_what_memory_gives_and_asks_for_blocks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stacked(with_batch_statistics(SHIFTED, like=TRAINING))
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 5 * 7)
    asked: list[int] = []

    def streamed(x: torch.Tensor) -> FunctionLayers:
        def read(layer: int, start: int, stop: int) -> torch.Tensor:
            asked.append(stop - start)
            return x[start:stop, layer]

        return FunctionLayers(num_layers=3, num_rows=len(x), read_rows=read)

    source = with_batch_statistics(streamed(SHIFTED), like=streamed(TRAINING))
    assert max(asked) == 7
    parts = [source.rows(layer, start, start + 20).numpy() for layer in range(3) for start in (0, 20, 40, 60)]
    rows = np.stack([np.concatenate(parts[4 * layer : 4 * layer + 4]) for layer in range(3)], axis=1)
    np.testing.assert_allclose(rows, whole, atol=1e-6)


def test_moments_stand_for_the_rows_they_are_of() -> None:
    np.testing.assert_array_equal(
        stacked(with_batch_statistics(SHIFTED, like=layer_moments(TRAINING))),
        stacked(with_batch_statistics(SHIFTED.numpy(), like=TRAINING.numpy())),
    )


def test_what_was_given_is_left_alone_and_its_number_format_kept() -> None:
    wide = SHIFTED.double()
    before = wide.clone()
    assert with_batch_statistics(wide, like=TRAINING).rows(0, 0, 4).dtype == torch.float64
    assert with_batch_statistics(SHIFTED.half(), like=TRAINING).rows(0, 0, 4).dtype == torch.float32
    assert torch.equal(wide, before)


def test_backbones_of_other_widths_come_as_a_list_and_go_to_hfusion() -> None:
    (x, y), (x_test, _) = part(TRAIN), part(TEST)
    train, test = ([given[:, 2], given[:, :2, :5]] for given in (x, x_test * 0.5 - 1))
    fitted = HFusionClassifier(max_epochs=2, hidden_dim=8).fit(train, y)
    by_hand = [
        restandardised(one[:, None].numpy(), like[:, None].numpy())[:, 0]
        for one, like in ((test[0], train[0]), (test[1][:, 1], train[1][:, 1]))
    ]
    np.testing.assert_allclose(
        fitted.predict_log_proba(with_batch_statistics(test, like=train)),
        fitted.predict_log_proba(by_hand),
        atol=1e-4,
    )


def test_too_few_rows_are_refused() -> None:
    assert with_batch_statistics(SHIFTED[:MIN_ROWS], like=TRAINING).num_rows == MIN_ROWS
    with pytest.raises(
        InvalidInput, match=rf"X must hold at least {MIN_ROWS} test rows .*, got {MIN_ROWS - 1}"
    ):
        with_batch_statistics(SHIFTED[: MIN_ROWS - 1], like=TRAINING)
    with pytest.raises(InvalidInput, match="like must hold at least 2 training rows, got 1"):
        with_batch_statistics(SHIFTED, like=TRAINING[:1])


def test_other_layers_than_those_of_training_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"got widths \(5, 5\) against \(5, 5, 5\)"):
        with_batch_statistics(SHIFTED[:, :2], like=TRAINING)


def test_rows_that_are_not_finite_are_refused_by_name() -> None:
    broken = SHIFTED.clone()
    broken[7, 1, 0] = torch.nan
    with pytest.raises(InvalidInput, match=r"X must be finite, .* at layer 1, first in row 7"):
        with_batch_statistics(broken, like=TRAINING)
    with pytest.raises(InvalidInput, match=r"like must be finite, .* at layer 1, first in row 7"):
        with_batch_statistics(SHIFTED, like=broken)
