"""What learnt metrics come to on one dataset × backbone: each beside its ceiling, its chance level and what needs no learning.

Importance is compared over patch tokens: prefix tokens are never pruned, and a class token's own residual path would make every score look good.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tasks.metric_scores import plain_scores
from tasks.opened import opened_images
from tasks.pictures import small_pictures
from tasks.receipt import Receipt
from tasks.stored_results import json_bytes
from tasks.target_examples import TargetExamples
from tasks.target_figures import read_figures
from tasks.target_request import DecoderRef
from tasks.train_bottleneck import FIGURES, HISTORY
from tasks.train_metric import TEST
from vitgeom.backbones import Backbone
from vitgeom.bootstrap import bootstrap_interval
from vitgeom.data import DatasetRef
from vitgeom.metric.alignment import alignment, random_alignment
from vitgeom.metric.choice import SPN, Choice
from vitgeom.metric.constant_importance import constant_importance
from vitgeom.metric.constant_subspace import constant_subspace
from vitgeom.metric.rank_correlation import rank_correlation
from vitgeom.seeding import generator_for
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root

SPLIT = "test"
SHOWN = 3
"""Images whose importance is drawn, from the start of the test images."""
STAGES = ("before", "after", "latent")
RANK_FIGURES = ("participation_ratio", "entropy_rank", "r_90", "kappa")
AT_ONCE = 8
"""Images whose directions are read together."""
TARGETS = ("importance", "block_norms")
"""From the directions stored, and without truncation."""


@dataclass(frozen=True)
class LearntPair:
    """What was made for one decoder.

    Attributes:
        decoder: Which one, at which layer.
        choice: What was trained, and why.
        targets: Seal of the targets that were learnt.
        again: Seal of a second, independent estimate of the test targets.
        models: By name, one receipt per seed.
        ranks: The sweep over ranks, where there was one.
        bottleneck: The bottleneck in front of the head, where there is one.
    """

    decoder: DecoderRef
    choice: Choice
    targets: Receipt
    again: Receipt
    models: Mapping[str, Sequence[Receipt]]
    ranks: Receipt | None = None
    bottleneck: Receipt | None = None


def summarise_metric(
    pairs: Sequence[LearntPair],
    *,
    dataset: DatasetRef,
    backbone: Backbone,
    store: str,
    num_bootstrap: int,
    seed: int,
    name: str,
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
    """
    found = [_Pair(pair, backbone, store, num_bootstrap, seed).content() for pair in pairs]
    images = opened_images(dataset.to_json())
    shown = {each["sample"]: each["image"] for pair in found for each in pair["maps"]}
    content = {
        "of": {"dataset": images.digest, "weights": backbone.spec.weights_digest},
        "tokens": backbone.spec.layout.to_json(),
        "num_bootstrap": num_bootstrap,
        "pairs": found,
        "pictures": small_pictures(images.splits[SPLIT], backbone, shown),
    }
    return json_bytes(content), _receipt(pairs, found, name=name)


class _Pair:
    """The targets of one decoder, opened, and everything that is read off them."""

    def __init__(
        self, pair: LearntPair, backbone: Backbone, store: str, num_bootstrap: int, seed: int
    ) -> None:
        self._pair, self._backbone, self._root = pair, backbone, Root(store)
        self._num_bootstrap, self._seed = num_bootstrap, seed
        self._targets = open_targets(self._root, pair.targets.detail["address"])
        self._again = open_targets(self._root, pair.again.detail["address"])
        self._prefix = backbone.spec.layout.num_prefix
        self._truth = {name: self._read(self._targets, name) for name in TARGETS}
        self._tests = {
            name: [json.loads(Root(receipt.uri).read_bytes(TEST)) for receipt in receipts]
            for name, receipts in pair.models.items()
        }

    def content(self) -> dict[str, Any]:
        pair, targets = self._pair, self._targets
        images = [each for start, _ in targets.ranges(SPLIT) for each in read_figures(targets, SPLIT, start)]
        return {
            "decoder": pair.decoder.model_dump(),
            "choice": pair.choice.to_json(),
            "images": targets.splits,
            "rank": targets.layout.rank,
            "shape": images[0]["shape"],
            "recipe": pair.targets.detail["recipe"],
            "products_per_image": pair.targets.detail["products"] / sum(targets.splits.values()),
            "importance": self._importance(),
            "alignment": self._alignment(),
            "models": {name: self._model(receipts) for name, receipts in pair.models.items()},
            "ranks": None if pair.ranks is None else pair.ranks.detail,
            "bottleneck": None if pair.bottleneck is None else self._bottleneck(pair.bottleneck),
            "maps": self._maps(images),
            "origin": {
                "address": targets.address_path,
                "digest": pair.targets.digest,
                "models": {
                    name: [receipt.uri.removeprefix(f"{self._root.uri}/") for receipt in receipts]
                    for name, receipts in pair.models.items()
                },
            },
        }

    def _importance(self) -> dict[str, Any]:
        """Return Spearman's rho over patches with both targets: of every score, of a second estimate, and of one target with the other."""
        again = {name: self._read(self._again, name) for name in TARGETS}
        truncation = self._summary(
            [self._rho(self._truth["importance"], self._truth["block_norms"])], "truncation"
        )
        return {
            "ceiling": {
                name: self._summary([self._rho(self._truth[name], again[name])], f"ceiling {name}")
                for name in TARGETS
            },
            "truncation": truncation,
            "scores": {
                name: {
                    target: self._summary(
                        [self._rho(each, self._truth[target]) for each in scores], f"{name} {target}"
                    )
                    for target in TARGETS
                }
                for name, scores in self._scores().items()
            },
        }

    def _scores(self) -> dict[str, list[Tensor]]:
        """Return what is compared with the targets: by name, one array [n, N] per seed."""
        learnt = {
            name: [torch.tensor(test["importance"], dtype=torch.float64) for test in tests]
            for name, tests in self._tests.items()
        }
        plain = plain_scores(
            torch.from_numpy(self._targets.read(SPLIT, "features")).float(),
            self._backbone,
            layer=self._pair.decoder.layer,
            seed=self._seed,
        )
        constant = constant_importance(
            [{"importance": torch.from_numpy(self._targets.read("train", "importance"))}]
        )
        return {
            **learnt,
            "one map for all images": [constant.expand(len(self._truth["importance"]), -1)],
            "exact block norms": [self._truth["block_norms"]],
            **{name: [each] for name, each in plain.items()},
        }

    def _alignment(self) -> dict[str, Any] | None:
        """Return V1 of the network beside its ceiling, of what knows no image, and of chance; None where no network was trained."""
        if SPN not in self._tests:
            return None
        layout = self._targets.layout
        constant = constant_subspace(_batches(self._targets, "train"), rank=layout.rank)
        found: dict[str, list[Tensor]] = {"ceiling": [], "constant": []}
        for truth, again in zip(_batches(self._targets, SPLIT), _batches(self._again, SPLIT), strict=True):
            right, count = truth["right_vectors"].flatten(1, 2), truth["num_found"]
            others = again["right_vectors"].flatten(1, 2)
            some = torch.where(count > 0, 1.0, torch.nan)
            found["ceiling"].append(alignment(others, right, num_found=count) * some)
            found["constant"].append(constant.alignment(right, num_found=count) * some)
        return {
            "learnt": self._summary(
                [self._figure(test, "alignment") for test in self._tests[SPN]], "alignment"
            ),
            **{name: self._summary([torch.cat(parts)], f"alignment {name}") for name, parts in found.items()},
            "chance": random_alignment(layout.rank, num_tokens=layout.num_tokens, dim=layout.width),
        }

    def _model(self, receipts: Sequence[Receipt]) -> dict[str, Any]:
        tests = self._tests[receipts[0].detail["learner"]]
        names = tests[0]["figures"]
        return {
            "seeds": [receipt.detail["seed"] for receipt in receipts],
            "parameters": receipts[0].detail["parameters"],
            "epochs": [receipt.detail["best_epoch"] for receipt in receipts],
            "figures": {
                name: self._summary([self._figure(test, name) for test in tests], f"model {name}")
                for name in names
            },
        }

    def _bottleneck(self, receipt: Receipt) -> dict[str, Any]:
        """Return effective ranks before and after, beside what it costs."""
        trained = Root(receipt.uri)
        asked = json.loads(trained.read_bytes(HISTORY))["request"]
        found = json.loads(trained.read_bytes(FIGURES))
        return {
            "registers": asked["registers"],
            "width": asked["latent"],
            "figures": {
                name: {stage: _averaged(found[stage]["figures"][name]) for stage in STAGES}
                for name in RANK_FIGURES
            },
            "fall": found["fall"],
            **{name: _averaged(found[name]) for name in ("rebuild_error", "task_error")},
            "parameters": receipt.detail["parameters"],
        }

    def _maps(self, images: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return what the first images' tokens come to, exactly and as learnt by the first seed of each model."""
        return [
            {
                "sample": images[row]["sample"],
                "image": images[row]["image"],
                "exact": _rounded(self._targets.read(SPLIT, "importance", rows=[row])[0]),
                "learnt": {name: tests[0]["importance"][row] for name, tests in self._tests.items()},
            }
            for row in range(min(SHOWN, len(images)))
        ]

    def _figure(self, test: Mapping[str, Any], name: str) -> Tensor:
        return torch.tensor(
            [float("nan") if value is None else value for value in test["figures"][name]], dtype=torch.float64
        )

    def _read(self, store: TargetStore, name: str) -> Tensor:
        return torch.from_numpy(store.read(SPLIT, name))

    def _rho(self, one: Tensor, other: Tensor) -> Tensor:
        """Spearman's rho over the patches of each image, NaN where all are alike."""
        return rank_correlation(one[:, self._prefix :].double(), other[:, self._prefix :].double()).with_nan()

    def _summary(self, by_seed: Sequence[Tensor], name: str) -> dict[str, Any] | None:
        """Return the mean over images of the mean over seeds with its interval, spread over images, and spread over seeds; None where it is undefined."""
        values = torch.stack(list(by_seed)).double()
        defined = ~values.isnan().any(dim=0)
        if not defined.any():
            return None
        values = values[:, defined]
        mean = values.mean(dim=0)
        interval = bootstrap_interval(
            mean,
            num_resamples=self._num_bootstrap,
            generator=generator_for(self._seed, "metric", self._pair.decoder.label, name),
        )
        return {
            "mean": interval.to_json(),
            "images": int(defined.sum()),
            "std": float(mean.std()) if len(mean) > 1 else 0.0,
            "seeds": values.mean(dim=1).tolist(),
        }


def _batches(store: TargetStore, split: str) -> Iterator[dict[str, Tensor]]:
    """Yield directions some images at a time."""
    names = {"right_vectors": "right_vectors", "num_found": "num_found"}
    examples = TargetExamples(store, split, names=names, keep_bytes=0)
    for rows in torch.arange(examples.num_images).split(AT_ONCE):
        yield examples.batch(rows)


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _receipt(pairs: Sequence[LearntPair], found: Sequence[Mapping[str, Any]], *, name: str) -> Receipt:
    receipts = [receipt for pair in pairs for models in pair.models.values() for receipt in models]
    receipts += [pair.targets for pair in pairs]
    return Receipt(
        task="train_metric",
        key=name,
        uri=pairs[0].targets.uri,
        digest=fingerprint([receipt.digest for receipt in receipts]),
        seconds=sum(receipt.seconds for receipt in receipts),
        peak_bytes=max(receipt.peak_bytes for receipt in receipts),
        cached=all(receipt.cached for receipt in receipts),
        rows=sum(pair.targets.rows for pair in pairs),
        detail={
            "figures": {
                DecoderRef(**pair["decoder"]).label: {
                    **{
                        f"rho.{score}": _mean(by_target["importance"])
                        for score, by_target in pair["importance"]["scores"].items()
                    },
                    "alignment": _mean((pair["alignment"] or {}).get("learnt")),
                }
                for pair in found
            },
            "regimes": {DecoderRef(**pair["decoder"]).label: pair["choice"]["regime"] for pair in found},
        },
    )


def _averaged(summary: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a figure over images in the form of those over images and seeds; there was one seed."""
    if summary is None:
        return None
    return {
        **{name: summary[name] for name in ("mean", "images", "std")},
        "seeds": [summary["mean"]["value"]],
    }


def _mean(summary: Mapping[str, Any] | None) -> float | None:
    return None if summary is None else float(summary["mean"]["value"])
