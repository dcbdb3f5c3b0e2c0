from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.errors import CorruptData, InvalidInput, StoreError, UnknownName
from vitgeom.metric import MODELS, ImportanceHead, SpectralPullbackNetwork, load, save
from vitgeom.seeding import generator_for
from vitgeom.tensor_file import packed, unpacked


def models() -> list[nn.Module]:
    options = {"hidden": 16, "heads": 2, "num_prefix": 2, "seed": 5}
    return [SpectralPullbackNetwork(6, 3, blocks=1, **options), ImportanceHead(6, inner=8, **options)]


def features() -> torch.Tensor:
    return 1 + torch.randn(2, 5, 6, generator=generator_for(0, "features"))


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_every_model_survives_its_file(model: nn.Module, tmp_path) -> None:
    model.fit_features([features()])
    back = load(save(model, tmp_path / "model"))
    assert type(back) is type(model)
    assert back.config == model.config
    assert not back.training
    assert set(back.state_dict()) == set(model.state_dict())
    assert all(torch.equal(tensor, back.state_dict()[name]) for name, tensor in model.state_dict().items())
    assert all(weight.requires_grad for weight in back.parameters())
    one, other = model(features()), back(features())
    if isinstance(model, SpectralPullbackNetwork):
        assert torch.equal(one.directions, other.directions)
        assert torch.equal(one.energies, other.energies)
        assert one.eps == other.eps
    else:
        assert torch.equal(one, other)


def test_all_models_are_tried() -> None:
    assert {type(model).__name__ for model in models()} <= set(MODELS)


def test_another_width_or_rank_than_expected_is_refused(tmp_path) -> None:
    file = save(models()[0], tmp_path / "model")
    assert load(file, dim=6, rank=3).rank == 3
    with pytest.raises(InvalidInput, match=r"must hold a SpectralPullbackNetwork with dim=384, got one with dim=6"):  # fmt: skip
        load(file, dim=384)
    with pytest.raises(InvalidInput, match=r"with rank=20, got one with rank=3"):
        load(file, rank=20)
    with pytest.raises(UnknownName, match="unknown number of a SpectralPullbackNetwork 'ranks'"):
        load(file, ranks=20)


def test_damage_is_noticed(tmp_path) -> None:
    file = save(models()[0], tmp_path / "model")
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(bytes(content))
    with pytest.raises(CorruptData, match="does not match its checksum"):
        load(file)
    file.write_bytes(bytes(content[:200]))
    with pytest.raises(CorruptData, match="holds no learned metric of vitgeom, or is cut short"):
        load(file)
    with pytest.raises(StoreError, match="there is no learned metric at"):
        load(tmp_path / "none")


def rewritten(file, **change):
    tensors, record = unpacked(file.read_bytes(), kind="learned metric", version=1, place="here")
    file.write_bytes(packed(tensors, {**record, **change}, kind="learned metric", version=1))
    return file


def test_other_versions_are_refused(tmp_path) -> None:
    def file():
        return save(models()[1], tmp_path / "model")

    with pytest.raises(UnknownName, match=r"unknown model of a metric 'ImportanceHeads'\. Did you mean 'Imp"):
        load(rewritten(file(), **{"class": "ImportanceHeads"}))
    with pytest.raises(
        InvalidInput, match="does not hold the weights of the ImportanceHead that it describes"
    ):
        load(rewritten(file(), config={"dim": 7}))
    with pytest.raises(InvalidInput, match="does not hold the weights of the ImportanceHead"):
        load(rewritten(file(), config={"width": 7}))
    path = file()
    path.write_bytes(packed({}, {}, kind="learned metric", version=99))
    with pytest.raises(InvalidInput, match=r"must hold a learned metric of version 1, got .* of version 99"):
        load(path)


def test_what_is_no_model_or_not_finite_is_not_written(tmp_path) -> None:
    with pytest.raises(UnknownName, match="unknown model of a metric 'Linear'"):
        save(nn.Linear(2, 2), tmp_path / "model")
    model = models()[1]
    with torch.no_grad():
        model.entry.kind[0, 0] = torch.nan
    with pytest.raises(
        InvalidInput, match=r"weights of ImportanceHead must be finite, got others in entry.kind"
    ):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
