"""Model cards written from what stands in the weights files: no figure is copied by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file

from vitgeom.backbones import EMBEDDED
from vitgeom.decoders.embedded_heads import SCENE_HEADS, head_path
from vitgeom.decoders.head_file import HeadRecord, read_record

LEARNT = {
    "scenes_depth": "the mean of |log depth - log true depth|",
    "scenes_points": "the mean distance to the true point, relative to its distance from the camera",
    "scenes_camera": "translation error + 10 (1 - <q, q'>²) + error of the field of view",
}
CONVENTION = {
    "scenes_depth": "Depth is the third camera coordinate, not the distance from the camera.",
    "scenes_points": "Camera axes: x right, y down, z forward.",
    "scenes_camera": "x_camera = R x_world + t. A picture does not show from which side the camera looks at the object, so the world is turned about the "
    "vertical until the camera looks towards its +y.",
}
CONSTANT = {
    "scenes_depth": "the median over the training scenes of every pixel",
    "scenes_points": "the median over the training scenes of every coordinate of every pixel",
    "scenes_camera": "the mean pose of the training scenes",
}


def write_cards(folder: Path) -> list[Path]:
    """Write one card per decoder that has weights in a folder.

    Args:
        folder: Holds heads; receives ``NAME.md``.
    """
    written = []
    for name in SCENE_HEADS:
        files = [head_path(name, backbone, folder=folder) for backbone in EMBEDDED]
        there = [file for file in files if file.is_file()]
        if there:
            card = folder / f"{name}.md"
            card.write_text(card_text(name, there), encoding="utf-8")
            written.append(card)
    return written


def card_text(name: str, files: Sequence[Path]) -> str:
    """Return the card of a decoder.

    Args:
        name: Of the decoder.
        files: Its heads, one per backbone.
    """
    records = [read_record(file) for file in files]
    first = records[0].provenance
    recipe = first["recipe"]
    sizes = [sum(math.prod(t.shape) for t in load_file(file).values()) for file in files]
    heads = "\n".join(
        f"| `{file.name}` | `{record.weights_digest}` | {size:,} |"
        for file, record, size in zip(files, records, sizes, strict=True)
    )
    return f"""# {name}

A small head on an embedded backbone that comes with vitgeom: {first["output"]}.

## Architecture

Kind `{records[0].kind}` on layers {", ".join(map(str, records[0].taps))}, each after the backbone's final norm; stored as float16, used in the
backbone's own precision. `vitgeom.decoders.load_decoder("{name}", backbone, layer=...)` loads it.
{CONVENTION[name]}

| file | digest of the backbone's weights | parameters |
|---|---|---|
{heads}

## Data

{first["pictures"]["count"]:,} rendered scenes of a stream of their own (`render_scene(0, index, stream="decoders")`), which shares nothing with the splits of
`scenes` or with what the backbones were trained on. Figures on {first["figures"]["held_out"]:,} scenes of the test split of `scenes`.

## Recipe

{recipe["steps"]:,} steps of {recipe["batch"]} scenes on cached tokens of the frozen backbone; AdamW, largest rate {recipe["rate"]:g}, weight decay {recipe["weight_decay"]:g}, half a cosine;
one thread, seed {recipe["seed"]}. Loss: {LEARNT[name]}. No setting was chosen on the test scenes.

## Command

`make pretrain-heads`, or `{first["command"]}`: the same weights on the same kind of machine.

## Figures

Lengths in scene units (an object is about 2 across); no scale or shift is fitted. "Constant" answers {CONSTANT[name]}.

{_table(records)}

## Licence

{first["licence"]}, like the package.

## Limits

Trained for minutes on synthetic scenes, for demonstrations and tests. Its figures say nothing about large pretrained models or photographs.
"""


def _table(records: Sequence[HeadRecord]) -> str:
    keys = list(records[0].provenance["figures"]["head"])
    rows = [(record.backbone, record.provenance["figures"]["head"]) for record in records] + [
        ("constant", records[0].provenance["figures"]["constant"])
    ]
    lines = ["| | " + " | ".join(keys) + " |", "|---" * (len(keys) + 1) + "|"]
    lines += [
        f"| {label} | " + " | ".join(f"{figures[key]:.3f}" for key in keys) + " |" for label, figures in rows
    ]
    return "\n".join(lines)
