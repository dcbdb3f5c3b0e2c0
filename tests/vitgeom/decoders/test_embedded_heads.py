from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch

from tests.contracts.decoder import DecoderContract
from vitgeom.backbones import EMBEDDED, load_backbone
from vitgeom.decoders import load_decoder, load_head, read_head, write_head
from vitgeom.decoders.embedded_heads import HEADS_FOLDER, SCENE_HEADS, head_path, load_scene_head
from vitgeom.decoders.head_file import read_record
from vitgeom.decoders.training.cards import card_text
from vitgeom.errors import InvalidInput, UnknownName

ALL = [(name, backbone) for name in SCENE_HEADS for backbone in EMBEDDED]


class TestContract(DecoderContract):
    @pytest.fixture(params=SCENE_HEADS)
    def bound(self, request, nano, picture):
        return load_decoder(request.param, nano, layer=8).at(picture)


class TestContractWithRegisters(DecoderContract):
    @pytest.fixture(params=SCENE_HEADS)
    def bound(self, request, registers, picture):
        return load_decoder(request.param, registers, layer=5).at(picture)


@pytest.mark.parametrize("name", SCENE_HEADS)
def test_from_every_layer_it_is_the_same_function_of_the_picture(name, nano, picture):
    whole = load_decoder(name, nano, layer=0).at(picture)
    wanted = whole(whole.features)
    for layer in range(1, 13):
        bound = load_decoder(name, nano, layer=layer).at(picture)
        torch.testing.assert_close(bound(bound.features), wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("name", "backbone"), ALL)
def test_each_is_small_says_what_it_is_and_beats_an_answer_that_does_not_look(name, backbone):
    file = head_path(name, backbone)
    assert file.stat().st_size <= 1.5e6
    record = read_record(file)
    assert (record.name, record.backbone) == (name, backbone)
    assert record.weights_digest == load_backbone(backbone).spec.weights_digest
    assert record.provenance["licence"] == "Apache-2.0"
    assert record.provenance["command"].startswith("python -m vitgeom.decoders.training ")
    figures = record.provenance["figures"]
    assert figures["held_out"] == 800
    first = next(iter(figures["head"]))
    assert figures["head"][first] < 0.8 * figures["constant"][first]


@pytest.mark.parametrize("name", SCENE_HEADS)
def test_each_card_is_what_the_files_say(name):
    card = (HEADS_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert card == card_text(name, [head_path(name, backbone) for backbone in EMBEDDED])
    for heading in ("Architecture", "Data", "Recipe", "Command", "Figures", "Licence", "Limits"):
        assert re.search(rf"^#+ {heading}", card, re.MULTILINE), heading


def test_other_backbones_and_names_are_refused(headless, nano):
    with pytest.raises(
        InvalidInput, match=r"has heads for nano_supervised, nano_selfsup alone, not for 'test_vit2'"
    ):
        load_scene_head("scenes_depth", headless, layer=1)
    with pytest.raises(UnknownName, match=r"unknown head of the built-in scenes 'depth'"):
        load_scene_head("depth", nano, layer=1)


def test_the_same_architecture_with_other_weights_is_refused():
    random = load_backbone("nano_supervised", pretrained=False)
    with pytest.raises(
        InvalidInput, match=r"was trained on 'nano_supervised' with weights .*, but 'nano_supervised' has"
    ):
        load_scene_head("scenes_camera", random, layer=1)


def test_a_head_file_for_another_width_is_refused(tmp_path, registers):
    from vitgeom.decoders import CameraConfig, CameraHead

    _, record = read_head(head_path("scenes_camera", "nano_selfsup"))
    write_head(
        CameraHead(CameraConfig(48, num_taps=4)), tmp_path / "h", record=replace(record, provenance={})
    )
    with pytest.raises(InvalidInput, match=r"made for tokens of width 48, but 'nano_selfsup' has width 96"):
        load_head(tmp_path / "h", registers, layer=1)
