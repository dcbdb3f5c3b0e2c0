"""What learnt metrics come to on one dataset × backbone: each beside its ceiling, its chance level and what needs no learning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tasks.alignment_table import alignment_table
from tasks.importance_table import importance_table
from tasks.learnt import SPLIT, Learnt, OpenedLearnt
from tasks.opened import opened_images
from tasks.over_images import OverImages, of_one_seed
from tasks.pictures import small_pictures
from tasks.receipt import Receipt
from tasks.stored_results import json_bytes
from tasks.target_request import DecoderRef
from tasks.train_bottleneck import FIGURES, HISTORY
from vitgeom.backbones import Backbone
from vitgeom.data import DatasetRef
from vitgeom.metric.choice import Choice
from vitgeom.store.figures import read_figures
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

SHOWN = 3
"""Images whose importance is drawn, from the start of the test images."""
STAGES = ("before", "after", "latent")
RANK_FIGURES = ("participation_ratio", "entropy_rank", "r_90", "kappa")


@dataclass(frozen=True)
class LearntPair:
    """What was made for one decoder.

    Attributes:
        decoder: Which one, at which layer.
        choice: What was trained, and why.
        learnt: Targets and models on the tokens of the layer.
        target: What an importance head learnt.
        ranks: The sweep over ranks, where there was one.
        bottleneck: Between the taps and the head, where there is one.
        behind: Targets and networks on its latents.
    """

    decoder: DecoderRef
    choice: Choice
    learnt: Learnt
    target: str = "importance"
    ranks: Receipt | None = None
    bottleneck: Receipt | None = None
    behind: Learnt | None = None

    @property
    def receipts(self) -> list[Receipt]:
        """Of everything that was made."""
        behind = self.behind.receipts if self.behind else []
        others = [receipt for receipt in (self.ranks, self.bottleneck) if receipt is not None]
        return [*self.learnt.receipts, *behind, *others]


def summarise_metric(
    pairs: Sequence[LearntPair],
    *,
    dataset: DatasetRef,
    backbone: Backbone,
    store: str,
    num_bootstrap: int,
    seed: int,
    name: str,
    asked: Mapping[str, Any],
) -> tuple[bytes, Receipt]:
    """Return the figures of all decoders of a cell as JSON, and a receipt.

    Args:
        pairs: One per decoder and layer.
        dataset: Whose images they are.
        backbone: Says how tokens lie, and what it sees of a picture.
        store: URI of the store's root.
        num_bootstrap: Resamples behind each interval over images.
        seed: Decides them, and the random scores.
        name: Of the cell.
        asked: Parameters that the figures were asked for with; kept beside them.
    """
    found = [
        _figures(pair, backbone, Root(store), OverImages(num_bootstrap, seed, pair.decoder.label))
        for pair in pairs
    ]
    images = opened_images(dataset.to_json())
    shown = {each["sample"]: each["image"] for pair in found for each in pair["maps"]}
    content = {
        "of": {"dataset": images.digest, "weights": backbone.spec.weights_digest},
        "tokens": backbone.spec.layout.to_json(),
        "num_bootstrap": num_bootstrap,
        "asked": dict(asked),
        "pairs": found,
        "pictures": small_pictures(images.splits[SPLIT], backbone, shown),
    }
    return json_bytes(content), _receipt(pairs, found, name=name)


def _figures(pair: LearntPair, backbone: Backbone, root: Root, over: OverImages) -> dict[str, Any]:
    opened = OpenedLearnt(pair.learnt, root)
    importance = importance_table(
        opened, over, backbone=backbone, layer=pair.decoder.layer, target=pair.target
    )
    return {
        "decoder": pair.decoder.to_json(),
        "choice": pair.choice.to_json(),
        "target": pair.target,
        **_of_targets(pair.learnt, opened),
        "importance": importance,
        **_of_models(pair.learnt, opened, over),
        "ranks": None if pair.ranks is None else pair.ranks.detail,
        "bottleneck": None if pair.bottleneck is None else _bottleneck(pair, root, over),
        "maps": _maps(opened),
        "origin": opened.origin(),
    }


def _of_targets(learnt: Learnt, opened: OpenedLearnt) -> dict[str, Any]:
    start, _ = opened.targets.ranges(SPLIT)[0]
    splits = opened.targets.splits
    return {
        "images": splits,
        "rank": opened.targets.layout.rank,
        "shape": read_figures(opened.targets, SPLIT, start)[0]["shape"],
        "recipe": learnt.targets.detail["recipe"],
        "products_per_image": learnt.targets.detail["products"] / sum(splits.values()),
    }


def _of_models(learnt: Learnt, opened: OpenedLearnt, over: OverImages) -> dict[str, Any]:
    return {
        "alignment": alignment_table(opened, over),
        "models": {
            name: {
                "seeds": [receipt.detail["seed"] for receipt in receipts],
                "parameters": receipts[0].detail["parameters"],
                "epochs": [receipt.detail["best_epoch"] for receipt in receipts],
                "figures": {
                    figure: over.summary(opened.figure(name, figure), f"model {figure}")
                    for figure in opened.tests[name][0]["figures"]
                },
            }
            for name, receipts in learnt.models.items()
        },
    }


def _bottleneck(pair: LearntPair, root: Root, over: OverImages) -> dict[str, Any]:
    """Return effective ranks before and after, beside what it costs, and what a network learns of the latents."""
    assert pair.bottleneck is not None, "only a decoder with a bottleneck has its figures"
    trained = Root(pair.bottleneck.uri)
    asked = json.loads(trained.read_bytes(HISTORY))["request"]
    found = json.loads(trained.read_bytes(FIGURES))
    return {
        "registers": asked["registers"],
        "width": asked["latent"],
        "figures": {
            name: {stage: of_one_seed(found[stage]["figures"][name]) for stage in STAGES}
            for name in RANK_FIGURES
        },
        "fall": found["fall"],
        **{name: of_one_seed(found[name]) for name in ("rebuild_error", "task_error")},
        "parameters": pair.bottleneck.detail["parameters"],
        "behind": None if pair.behind is None else _behind(pair.behind, root, over),
    }


def _behind(learnt: Learnt, root: Root, over: OverImages) -> dict[str, Any]:
    """Return what networks learnt of the latents; these are no places of the picture, so there is no importance of patches."""
    opened = OpenedLearnt(learnt, root)
    # Layers of a decoder share their bottleneck, and so these figures: the same resamples for all of them.
    latents = replace(over, label=opened.targets.address_path.split("/")[3])
    return {**_of_targets(learnt, opened), **_of_models(learnt, opened, latents), "origin": opened.origin()}


def _maps(opened: OpenedLearnt) -> list[dict[str, Any]]:
    """Return what the first images' tokens come to, exactly and as learnt by the first seed of each model."""
    targets = opened.targets
    images = [each for start, _ in targets.ranges(SPLIT) for each in read_figures(targets, SPLIT, start)]
    return [
        {
            "sample": image["sample"],
            "image": image["image"],
            "exact": _rounded(targets.read(SPLIT, "importance", rows=[row])[0]),
            "learnt": {name: tests[0]["importance"][row] for name, tests in opened.tests.items()},
        }
        for row, image in enumerate(images[:SHOWN])
    ]


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _receipt(pairs: Sequence[LearntPair], found: Sequence[Mapping[str, Any]], *, name: str) -> Receipt:
    receipts = [receipt for pair in pairs for receipt in pair.receipts]
    return Receipt(
        task="train_metric",
        key=name,
        uri=pairs[0].learnt.targets.uri,
        digest=fingerprint([receipt.digest for receipt in receipts]),
        seconds=sum(receipt.seconds for receipt in receipts),
        peak_bytes=max(receipt.peak_bytes for receipt in receipts),
        cached=all(receipt.cached for receipt in receipts),
        rows=sum(pair.learnt.targets.rows for pair in pairs),
        detail={
            "figures": {
                DecoderRef(**pair["decoder"]).label: {
                    **{
                        f"rho.{score}": _mean(by_target["importance"])
                        for score, by_target in pair["importance"]["scores"].items()
                    },
                    "alignment": _mean((pair["alignment"] or {}).get("learnt")),
                    **_behind_figures(pair["bottleneck"]),
                }
                for pair in found
            },
            "regimes": {DecoderRef(**pair["decoder"]).label: pair["choice"]["regime"] for pair in found},
        },
    )


def _behind_figures(bottleneck: Mapping[str, Any] | None) -> dict[str, float | None]:
    behind = (bottleneck or {}).get("behind")
    return {} if behind is None else {"alignment_of_latents": _mean(behind["alignment"]["learnt"])}


def _mean(summary: Mapping[str, Any] | None) -> float | None:
    return None if summary is None else float(summary["mean"]["value"])
