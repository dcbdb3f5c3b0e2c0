"""``python -m vitgeom.decoders.training [depth|points|camera|all|cards]``: train the heads for the built-in scenes again.

One thread; about 12 minutes for both embedded backbones on one quiet core. The same command gives the same weights on the same machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch

from vitgeom.backbones import EMBEDDED, Backbone, load_backbone
from vitgeom.backbones.pretraining.pictures import pictures_digest
from vitgeom.decoders.embedded_heads import HEADS_FOLDER, head_path
from vitgeom.decoders.geometry import geometry_of
from vitgeom.decoders.head_file import HeadRecord, read_head, write_head
from vitgeom.decoders.training.cached_taps import cached_taps
from vitgeom.decoders.training.cards import write_cards
from vitgeom.decoders.training.fitting import fit_head
from vitgeom.decoders.training.jobs import JOBS, TAPS, Job, predict
from vitgeom.decoders.training.scene_targets import SceneTargets, render_targets

STREAM = "decoders"
Say = Callable[[str], None]


def train(
    job: Job,
    backbone: Backbone,
    learnt: tuple[SceneTargets, torch.Tensor],
    held_out: tuple[SceneTargets, torch.Tensor],
    *,
    folder: Path,
    say: Say,
) -> Path:
    """Train one head on one backbone, measure it as it is stored, and write it.

    Args:
        job: Which head.
        backbone: Whose taps it reads.
        learnt: Training scenes and their taps.
        held_out: Test scenes and their taps.
        folder: Receives the file.
        say: Receives progress lines.
    """
    geometry = geometry_of(backbone)
    scenes, taps = learnt
    head = fit_head(job, taps, job.target(scenes), geometry=geometry, progress=say)
    file = head_path(job.name, backbone.spec.name, folder=folder)
    provenance = {
        "licence": "Apache-2.0",
        "command": f"python -m vitgeom.decoders.training {job.name.removeprefix('scenes_')}",
        "recipe": asdict(job.recipe),
        "pictures": {"scenes": pictures_digest(scenes.images), "count": len(scenes.images)},
        "output": job.output,
    }
    record = HeadRecord(
        job.name, job.kind, TAPS, True, backbone.spec.name, backbone.spec.weights_digest, provenance
    )
    write_head(head, file, record=record)
    stored, _ = read_head(file)
    wanted = job.target(held_out[0])
    constant = job.constant(job.target(scenes)).expand_as(wanted)
    figures = {
        "held_out": len(wanted),
        "head": job.figures(predict(stored.eval(), held_out[1], geometry=geometry), wanted),
        "constant": job.figures(constant, wanted),
    }
    say(f"{file.name}: {figures}")
    write_head(head, file, record=replace(record, provenance={**provenance, "figures": figures}))
    return file


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Args:
        arguments: None: those of the process.
    """
    names = [name.removeprefix("scenes_") for name in JOBS]
    parser = argparse.ArgumentParser(prog="python -m vitgeom.decoders.training", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=[*names, "all", "cards"])
    parser.add_argument("--scenes", type=int, default=2000, help="rendered scenes to learn from")
    parser.add_argument("--held-out", type=int, default=800, help="test scenes of the built-in data set")
    parser.add_argument("--steps", type=int, default=None, help="batches (default: as shipped)")
    parser.add_argument("--backbones", nargs="+", default=list(EMBEDDED), choices=EMBEDDED)
    parser.add_argument("--folder", type=Path, default=HEADS_FOLDER, help="where heads and cards go")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    start = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - start:7.1f} s] {line}", flush=True)

    jobs = [job for job in JOBS.values() if options.what in ("all", job.name.removeprefix("scenes_"))]
    if options.steps is not None:
        jobs = [replace(job, recipe=replace(job.recipe, steps=options.steps)) for job in jobs]
    if jobs:
        say(f"rendering {options.scenes} + {options.held_out} scenes")
        learnt = render_targets(options.scenes, seed=0, stream=STREAM)
        held_out = render_targets(options.held_out, seed=0, stream="test")
    for name in options.backbones if jobs else ():
        backbone = load_backbone(name)
        taps = [cached_taps(backbone, scenes.images, taps=TAPS) for scenes in (learnt, held_out)]
        for job in jobs:
            file = train(
                job, backbone, (learnt, taps[0]), (held_out, taps[1]), folder=options.folder, say=say
            )
            say(f"wrote {file}")
    write_cards(options.folder)


if __name__ == "__main__":
    main()
