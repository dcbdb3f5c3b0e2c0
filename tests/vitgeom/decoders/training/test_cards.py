from __future__ import annotations

from vitgeom.decoders import CameraConfig, CameraHead, HeadRecord, random_head, write_head
from vitgeom.decoders.embedded_heads import head_path
from vitgeom.decoders.training.cards import write_cards


def test_a_card_holds_the_figures_of_its_files(tmp_path):
    head = random_head(lambda: CameraHead(CameraConfig(8, hidden=4)), seed=0)
    provenance = {
        "licence": "Apache-2.0",
        "command": "python -m vitgeom.decoders.training camera",
        "recipe": {"steps": 1200, "batch": 3, "rate": 0.5, "weight_decay": 0.25, "seed": 9},
        "pictures": {"scenes": "ab", "count": 2345},
        "output": "a pose",
        "figures": {"held_out": 67, "head": {"turn": 1.5, "move": 0.25}, "constant": {"turn": 3, "move": 1}},
    }
    record = HeadRecord("scenes_camera", "camera", (3, 6), True, "nano_selfsup", "d1d1", provenance)
    write_head(head, head_path("scenes_camera", "nano_selfsup", folder=tmp_path), record=record)
    (card,) = write_cards(tmp_path)
    text = card.read_text(encoding="utf-8")
    assert card.name == "scenes_camera.md"
    count = sum(parameter.numel() for parameter in head.parameters())
    assert f"| `scenes_camera.nano_selfsup.safetensors` | `d1d1` | {count:,} |" in text
    assert (
        "| | move | turn |\n|---|---|---|\n| nano_selfsup | 0.250 | 1.500 |\n| constant | 1.000 | 3.000 |"
        in text
    )
    for part in (
        "1,200 steps of 3 scenes",
        "2,345 rendered scenes",
        "67 scenes",
        "rate 0.5",
        "seed 9",
        "layers 3, 6",
    ):
        assert part in text


def test_no_heads_no_cards(tmp_path):
    assert write_cards(tmp_path) == []
