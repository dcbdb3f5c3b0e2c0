"""What was learnt from one set of targets: receipts, and what lies behind them, opened.   n = test images, N = tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tasks.receipt import Receipt
from tasks.target_examples import TargetExamples
from tasks.train_metric import TEST
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root

SPLIT = "test"
AT_ONCE = 8
"""Images whose directions are read together."""


@dataclass(frozen=True)
class Learnt:
    """Models and what they learnt from.

    Attributes:
        targets: Seal of the targets that were learnt.
        again: Seal of a second, independent estimate of the test targets.
        models: By name, one receipt per seed.
    """

    targets: Receipt
    again: Receipt
    models: Mapping[str, Sequence[Receipt]]

    @property
    def receipts(self) -> list[Receipt]:
        """Of targets and models."""
        return [self.targets, *(receipt for each in self.models.values() for receipt in each)]


class OpenedLearnt:
    """The same, read from the store.

    Attributes:
        targets: What was learnt.
        again: The second estimate.
        tests: What each model says of the test images: by name, one entry per seed.
    """

    def __init__(self, learnt: Learnt, root: Root) -> None:
        """Open targets and read what models say.

        Args:
            learnt: Which ones.
            root: Of the store.

        Raises:
            StoreError: Something is no longer there.
        """
        self._learnt, self._root = learnt, root
        self.targets = open_targets(root, learnt.targets.detail["address"])
        self.again = open_targets(root, learnt.again.detail["address"])
        self.tests: dict[str, list[dict[str, Any]]] = {
            name: [json.loads(Root(receipt.uri).read_bytes(TEST)) for receipt in receipts]
            for name, receipts in learnt.models.items()
        }

    def importance(self, name: str) -> list[Tensor]:
        """Return the importance [n, N] that a model gives to tokens, one entry per seed.

        Args:
            name: Of the model.
        """
        return [torch.tensor(test["importance"], dtype=torch.float64) for test in self.tests[name]]

    def figure(self, model: str, name: str) -> list[Tensor]:
        """Return a figure of a model [n], NaN where it is undefined, one entry per seed.

        Args:
            model: Its name.
            name: Of the figure.
        """
        return [
            torch.tensor(
                [float("nan") if value is None else value for value in test["figures"][name]],
                dtype=torch.float64,
            )
            for test in self.tests[model]
        ]

    def origin(self) -> dict[str, Any]:
        """Return where targets and models lie."""
        return {
            "address": self.targets.address_path,
            "digest": self._learnt.targets.digest,
            "models": {
                name: [receipt.uri.removeprefix(f"{self._root.uri}/") for receipt in receipts]
                for name, receipts in self._learnt.models.items()
            },
        }


def directions(store: TargetStore, split: str) -> Iterator[dict[str, Tensor]]:
    """Yield directions and how many there are, some images at a time.

    Args:
        store: Targets.
        split: Which split.
    """
    names = {"right_vectors": "right_vectors", "num_found": "num_found"}
    examples = TargetExamples(store, split, names=names, keep_bytes=0)
    for rows in torch.arange(examples.num_images).split(AT_ONCE):
        yield examples.batch(rows)
