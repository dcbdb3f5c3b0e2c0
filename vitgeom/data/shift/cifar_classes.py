"""Names of the labels of CIFAR-10 and CIFAR-100 (fine), in the order of their numbers: both are alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_CIFAR100 = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle caterpillar cattle
chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house
kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange
orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal
shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger
tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""
CIFAR100 = tuple(_CIFAR100.split())
LABEL_NAMES: Mapping[str, tuple[str, ...]] = {"cifar10": CIFAR10, "cifar100": CIFAR100}


def label_names(option: str) -> tuple[str, ...]:
    """Return the names of labels 0, 1, ...

    Args:
        option: ``"cifar10"``, ``"cifar100"``, or the names themselves with commas between.
    """
    known = LABEL_NAMES.get(option)
    return known or tuple(name.strip() for name in option.split(","))
