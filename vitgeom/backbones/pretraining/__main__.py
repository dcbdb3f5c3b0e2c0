"""``python -m vitgeom.backbones.pretraining [supervised|masked|all|figures]``: train the embedded backbones again, or probe them.

One thread; about 15 minutes each on one quiet core. The same command gives the same weights on the same machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from vitgeom.backbones import EMBEDDED, load_backbone
from vitgeom.backbones.embedded import WEIGHTS_FOLDER
from vitgeom.backbones.pretraining import figures, masked, supervised
from vitgeom.backbones.pretraining.pictures import pictures_digest, render_pool, train_images
from vitgeom.backbones.pretraining.writing import write_weights

DATASETS = ("digits", "photos", "scenes")
Say = Callable[[str], None]


def train_supervised(folder: Path, *, scenes: int, steps: int | None, seed: int, say: Say) -> Path:
    """Train ``nano_supervised`` and write its weights.

    Args:
        folder: Receives the file.
        scenes: Rendered scenes to learn from.
        steps: Batches; None: the recipe's.
        seed: Of scenes and training.
        say: Receives progress lines.
    """
    recipe = supervised.SupervisedRecipe(seed=seed)
    recipe = recipe if steps is None else replace(recipe, steps=steps)
    say(f"rendering {scenes} scenes")
    pool = render_pool(scenes, seed=seed)
    model = supervised.pretrain(pool, recipe=recipe, progress=say)
    file = folder / f"{supervised.NAME}.safetensors"
    write_weights(
        model, file, name=supervised.NAME, recipe=recipe, pictures={"scenes": pictures_digest(pool.images)}
    )
    return file


def train_masked(folder: Path, *, scenes: int, steps: int | None, seed: int, say: Say) -> Path:
    """Train ``nano_selfsup`` and write its weights.

    Args:
        folder: Receives the file.
        scenes: Rendered scenes among the pictures.
        steps: Batches; None: the recipe's.
        seed: Of scenes and training.
        say: Receives progress lines.
    """
    recipe = masked.MaskedRecipe(seed=seed)
    recipe = recipe if steps is None else replace(recipe, steps=steps)
    say(f"rendering {scenes} scenes")
    pools = {
        "scenes": render_pool(scenes, seed=seed).images,
        "photos": train_images("photos", train=60),
        "digits": train_images("digits"),
    }
    model = masked.pretrain(list(pools.values()), recipe=recipe, progress=say)
    file = folder / f"{masked.NAME}.safetensors"
    write_weights(
        model,
        file,
        name=masked.NAME,
        recipe=recipe,
        pictures={name: pictures_digest(pool) for name, pool in pools.items()},
    )
    return file


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Args:
        arguments: None: those of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m vitgeom.backbones.pretraining", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=["supervised", "masked", "all", "figures"])
    parser.add_argument("--scenes", type=int, default=9000, help="rendered scenes to learn from")
    parser.add_argument("--steps", type=int, default=None, help="batches (default: as shipped)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=WEIGHTS_FOLDER, help="where the weights go")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    start = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - start:7.1f} s] {line}", flush=True)

    trainers = {"supervised": train_supervised, "masked": train_masked}
    chosen = [options.what] if options.what in trainers else list(trainers) if options.what == "all" else []
    for name in chosen:
        file = trainers[name](
            options.folder, scenes=options.scenes, steps=options.steps, seed=options.seed, say=say
        )
        say(f"wrote {file}")
    names = [
        file.stem
        for file in map(options.folder.joinpath, (f"{name}.safetensors" for name in EMBEDDED))
        if file.is_file()
    ]
    for name in names:
        backbone = load_backbone(options.folder / f"{name}.safetensors")
        say(f"{name}, weights {backbone.spec.weights_digest}")
        print(figures.as_markdown(figures.measure(backbone, DATASETS)), flush=True)


if __name__ == "__main__":
    main()
