"""``vitgeom datasets``, ``backbones`` and ``decoders``: what there is to choose from."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    commands.add_parser("datasets", help="list the datasets and their options").set_defaults(run=run_datasets)
    commands.add_parser(
        "backbones", help="list the backbones that come along, and say how others are named"
    ).set_defaults(run=run_backbones)
    commands.add_parser(
        "decoders", help="list the decoders whose derivatives are looked at, and how outputs are measured"
    ).set_defaults(run=run_decoders)


def run_datasets(arguments: argparse.Namespace) -> int:
    """Print each dataset with its first line of documentation and its options."""
    from vitgeom.data import DATASETS, SHIFTED

    _print_openers(DATASETS)
    print(
        "\nTest sets under shift, for the library (vitgeom.data.open_shifted); options of the clean dataset begin with of_:"
    )
    _print_openers(SHIFTED)
    print("\nYour own images, one folder per class: vitgeom benchmark --data FOLDER")
    return 0


def _print_openers(openers: Mapping[str, Callable[..., object]]) -> None:
    for name, opener in openers.items():
        print(f"{name:15} {(inspect.getdoc(opener) or '').splitlines()[0]}")
        for option in inspect.signature(opener).parameters.values():
            default = "" if option.default is option.empty else f" (default {option.default!r})"
            print(f"{'':15}   {option.name}{default}")


def run_backbones(arguments: argparse.Namespace) -> int:
    """Print the embedded backbones and how others are named."""
    from vitgeom.backbones import EMBEDDED, load_backbone

    for name in EMBEDDED:
        spec = load_backbone(name).spec
        print(
            f"{name:16} {spec.num_blocks} blocks, width {spec.width}, {spec.image_size[0]} px, {spec.source}"
        )
    print("\nAny timm ViT name:     --backbone vit_small_patch14_dinov2.lvd142m")
    print("A checkpoint file:     --backbone model.safetensors --architecture vit_small_patch16_224")
    return 0


def run_decoders(arguments: argparse.Namespace) -> int:
    """Print the decoders with their outputs, and the metrics that an output can be measured by."""
    from vitgeom.decoders import DECODERS, OUTPUT_METRICS

    for name, entry in DECODERS.items():
        print(f"{name:16} {entry.output}")
    print("\nThe heads named scenes_... were trained on the embedded backbones and go with these alone.")
    print(f"Output metrics, behind a colon: {', '.join(OUTPUT_METRICS)}; for example scenes_camera:so3")
    print("Choose them:             vitgeom stage diagnose --set 'diagnose.decoders=[cls, scenes_depth]'")
    print("Your own, in a notebook: vitgeom.decoders.probe_decoder, head_decoder")
    return 0
