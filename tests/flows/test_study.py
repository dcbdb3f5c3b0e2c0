"""A study names its cells before anything is computed, and refuses what it cannot name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.params import Named
from flows.study import Study, store_uri
from tests.flows.params_text import write_small
from vitgeom.errors import InvalidInput, UnknownName


@pytest.fixture(autouse=True)
def _small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    write_small(
        tmp_path,
        datasets="[digits, {name: noise, options: {n: 60}}]",
        backbones="[nano_supervised, nano_selfsup]",
    )


def test_cells_are_all_pairs_in_the_order_of_the_file() -> None:
    wanted = Study().resolve()

    assert [cell.name for cell in wanted.cells if cell.dataset == "digits"] == [
        "digits × nano_supervised",
        "digits × nano_selfsup",
    ]
    assert len(wanted.cells) == 4
    assert len({cell.path for cell in wanted.cells}) == 4
    assert wanted.out == Path("results/small")


def test_a_chosen_name_keeps_the_options_of_the_profile() -> None:
    [cell] = Study(datasets=("noise",), backbones=("nano_selfsup",)).resolve().cells

    assert dict(cell.dataset_ref.options) == {"n": 60}


def test_a_label_means_the_entry_that_it_labels() -> None:
    label = next(cell.dataset for cell in Study().resolve().cells if cell.dataset.startswith("noise-"))

    [cell] = Study(datasets=(label,), backbones=("nano_selfsup",)).resolve().cells

    assert dict(cell.dataset_ref.options) == {"n": 60}


def test_a_name_that_the_profile_does_not_list_may_be_chosen() -> None:
    cells = Study(datasets=("photos",)).resolve().cells

    assert {cell.dataset for cell in cells} == {"photos"}


def test_an_unknown_dataset_is_refused_before_any_work() -> None:
    with pytest.raises(UnknownName, match=r"unknown dataset 'digit'. Did you mean 'digits'.*--data FOLDER"):
        Study(datasets=("digit",)).resolve()


def test_an_unknown_backbone_is_refused_before_any_work() -> None:
    with pytest.raises(
        UnknownName, match=r"unknown backbone 'nano_supervisd'. Did you mean 'nano_supervised'"
    ):
        Study(backbones=("nano_supervisd",)).resolve()


def test_a_cell_that_is_named_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="digits × nano_selfsup is named twice"):
        Study(datasets=("digits", "digits"), backbones=("nano_selfsup",)).resolve()


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="extra"):
        Study(dataset="digits")  # type: ignore[call-arg]


def test_the_store_is_the_given_one_or_the_environments_or_a_hidden_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store_uri() == str(tmp_path / ".vitgeom" / "store")
    monkeypatch.setenv("VITGEOM_STORE", "s3://bucket/features")
    assert store_uri() == "s3://bucket/features"
    assert store_uri("elsewhere") == str(tmp_path / "elsewhere")


def test_a_weights_file_is_preferred_where_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import timm
    from safetensors.torch import save_file

    weights = tmp_path / "weights"
    weights.mkdir()
    model = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=32, num_classes=0, depth=1)
    save_file(model.state_dict(), weights / "tiny.safetensors")
    write_small(tmp_path, backbones="[{name: vit_tiny_patch16_224.augreg_in21k, file: tiny.safetensors}]")
    monkeypatch.setenv("VITGEOM_WEIGHTS", str(weights))

    [cell, *_] = Study().resolve().cells

    assert cell.backbone == "vit_tiny_patch16_224.augreg_in21k"
    assert cell.backbone_ref.name == str(weights / "tiny.safetensors")
    assert cell.backbone_ref.option("architecture") == "vit_tiny_patch16_224"


def test_weights_that_are_nowhere_are_refused_with_the_folder_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    write_small(tmp_path, backbones="[{name: vit_tiny_patch16_224.augreg_in21k, file: tiny.safetensors}]")

    with pytest.raises(
        InvalidInput,
        match=r"no weights on this machine.* Or set VITGEOM_WEIGHTS to a folder that holds tiny\.safetensors",
    ):
        Study().resolve()


@pytest.mark.parametrize(
    ("store", "out"),
    [
        ("here", "here"),
        ("here", "here/deep/results"),
        ("file://{tmp}/here", "link"),
        ("here", "link/results"),
        ("here/features", "here"),
        ("link/probes/deep", "here"),
    ],
)
def test_a_store_and_results_that_would_mix_are_refused(tmp_path: Path, store: str, out: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to("here")

    with pytest.raises(InvalidInput, match=r"/here.* lies in .*/here.*--(out|store) FOLDER, or another"):
        Study(store=store.format(tmp=tmp_path), out=out).resolve()


@pytest.mark.parametrize(
    ("store", "out"),
    [("here/store", "here"), ("here", "hereafter"), ("s3://bucket/here", "here"), ("here", "../here")],
)
def test_a_store_and_results_that_lie_apart_are_allowed(store: str, out: str) -> None:
    assert Study(store=store, out=out).resolve().out == Path(out)


def test_a_stage_with_other_parameters_has_the_folder_that_a_benchmark_would_have(tmp_path: Path) -> None:
    write_small(tmp_path)
    changed = Study(overrides=("seed=1", "engine.kind=ray")).resolve()
    assert changed.out == Path("results/small-seed=1")
    assert changed.place_note == "seed=1: other than in profile 'small'; results are in results/small-seed=1"
    for usual in (Study(), Study(overrides=("engine.kind=ray",)), Study(overrides=("seed=0",))):
        assert (usual.resolve().out, usual.resolve().place_note) == (Path("results/small"), None)


def test_a_profile_that_only_an_override_makes_good_is_named_by_its_hash(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    path.write_text(path.read_text().replace("seed: 0", "seed: -1"))
    out = Study(overrides=("seed=1",)).resolve().out
    assert re.fullmatch(r"small-[0-9a-f]{12}", out.name)


def folders(*roots: str) -> Study:
    return Study(datasets=tuple(Named(name="folder", options={"root": root}) for root in roots))


def test_a_folder_goes_by_its_own_name_and_its_files_by_a_label_that_no_other_has() -> None:
    wanted = folders("/a/my images").resolve()
    cell = wanted.cells[0]
    assert (cell.name, wanted.subject) == ("my images × nano_supervised", "my images")
    assert re.fullmatch(r"folder-my_images-[0-9a-f]{8}/nano_supervised", cell.path)


def test_folders_of_one_name_stay_distinguishable() -> None:
    wanted = folders("/a/flowers", "/b/flowers", "/a/digits").resolve()
    names = [cell.dataset_name for cell in wanted.cells[::2]]
    assert len(set(names)) == 3
    assert [name for name in names if name == "digits"] == ["digits"]
    assert sum(name.startswith("folder-flowers-") for name in names) == 2


def test_the_subject_of_anything_but_folders_is_the_profile() -> None:
    assert Study().resolve().subject == "small"
    mixed = folders("/a/flowers").model_copy(
        update={"datasets": (*(folders("/a/flowers").datasets or ()), Named(name="digits"))}
    )
    assert mixed.resolve().subject == "small"
