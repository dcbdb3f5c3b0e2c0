"""What this process keeps open, and that stale content never passes for what was planned."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from safetensors.torch import save_file

from tasks.opened import KEPT, Recent, opened_backbone, opened_dataset, opened_images
from tests.support.small_extraction import BACKBONE, noise
from vitgeom.backbones import BackboneRef, load_backbone
from vitgeom.data import DatasetRef, corrupted_ref
from vitgeom.errors import InvalidInput


def test_a_few_things_are_kept_and_the_oldest_goes_first() -> None:
    built: list[str] = []

    def get(recent: Recent[str], key: str) -> str:
        return recent.get(key, lambda: built.append(key) or key, accept=lambda thing: True)

    recent: Recent[str] = Recent(2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert get(recent, key) == key
    assert built == ["a", "b", "c", "b"]


def test_an_unacceptable_thing_is_opened_again() -> None:
    recent: Recent[int] = Recent(2)
    assert recent.get("k", lambda: 1, accept=lambda thing: True) == 1
    assert recent.get("k", lambda: 2, accept=lambda thing: thing == 2) == 2


def test_backbones_are_kept_by_name_and_weights() -> None:
    first = opened_backbone(BACKBONE.to_json(), device="cpu")
    assert (
        opened_backbone(BACKBONE.to_json(), device="cpu", weights_digest=first.spec.weights_digest) is first
    )
    assert opened_backbone(BACKBONE.to_json(), device="cpu") is first


def test_a_weights_file_that_changed_is_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    ref = BackboneRef.from_options(str(file), architecture="nano_supervised", image_size=16).to_json()
    digests = []
    for seed in (1, 2):
        random = load_backbone("nano_supervised", pretrained=False, image_size=64, seed=seed)
        save_file(random.model.state_dict(), file)
        digests.append(opened_backbone(ref, device="cpu").spec.weights_digest)
        assert digests[-1] == random.spec.weights_digest
    assert digests[0] != digests[1]


def test_datasets_are_kept_by_content() -> None:
    first = opened_dataset(noise().to_json())
    assert opened_dataset(noise().to_json(), digest=first.digest) is first
    for seed in range(KEPT):
        opened_dataset(noise(seed=seed + 1).to_json())
    assert opened_dataset(noise().to_json(), digest=first.digest) is not first


def test_other_weights_than_planned_are_refused() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"backbone 'nano_supervised' has other weights now .* new weights get an address of their own",
    ):
        opened_backbone(BACKBONE.to_json(), device="cpu", weights_digest="0" * 64)


def test_other_content_than_planned_is_refused(tmp_path: Path) -> None:
    for label, grey in (("a", 10), ("b", 200)):
        for number in range(6):
            file = tmp_path / label / f"{number}.png"
            file.parent.mkdir(exist_ok=True)
            Image.new("RGB", (8, 8), (grey, grey, number)).save(file)
    ref = DatasetRef.from_options("folder", root=str(tmp_path)).to_json()
    planned = opened_dataset(ref).digest
    Image.new("RGB", (8, 8), (0, 0, 0)).save(tmp_path / "a" / "0.png")
    assert opened_dataset(ref).digest != planned
    with pytest.raises(
        InvalidInput, match=r"has other content now .* new content gets an address of its own"
    ):
        opened_dataset(ref, digest=planned)


def test_a_test_set_under_shift_is_opened_for_extraction_alone() -> None:
    ref = corrupted_ref(noise(), corruption="fog", severity=2).to_json()
    data = opened_images(ref)
    assert list(data.splits) == ["test"]
    assert opened_images(ref, digest=data.digest) is data
    with pytest.raises(InvalidInput, match="is a test set under shift; here a data set with train and val"):
        opened_dataset(ref)
