"""Which architecture a name or path stands for, and where its weights come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vitgeom.backbones import checkpoint, embedded, hub, timm_models
from vitgeom.errors import InvalidInput


@dataclass(frozen=True)
class WeightSource:
    """A resolved backbone.

    Attributes:
        name: How reports call it.
        architecture: Embedded or timm name (with its weights tag, if one was given).
        family: timm module of the architecture, see ``timm_models.FAMILIES``.
        file: Local weights; None: random weights, or fetched ones.
        fetch: The weights come from the Hub.
        note: One line for reports.
    """

    name: str
    architecture: str
    family: str
    file: Path | None
    fetch: bool
    note: str


def resolve(name_or_path: str | Path, *, architecture: str | None, pretrained: bool) -> WeightSource:
    """Find out what to build and where its weights are; nothing is built or read yet.

    Args:
        name_or_path: Embedded name, timm name, or checkpoint file.
        architecture: What a checkpoint file holds.
        pretrained: False: random weights.

    Raises:
        UnknownName: No such backbone.
        InvalidInput: Unsupported model, a file whose architecture is not known, or published weights that cannot be had.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, Path) or checkpoint.looks_like_file(name):
        return _from_file(Path(name_or_path), architecture=architecture, pretrained=pretrained)
    if architecture is not None:
        raise InvalidInput(
            f"architecture={architecture!r} belongs to a checkpoint file, but {name!r} is the name of a model. Leave it out."
        )
    family = _family(name)
    if not pretrained:
        return WeightSource(name, name, family, None, False, "random weights")
    if name in embedded.EMBEDDED:
        return WeightSource(name, name, family, embedded.weights_file(name), False, "embedded in vitgeom")
    return _published(name, family)


def _family(architecture: str) -> str:
    if architecture in embedded.EMBEDDED:
        return "vision_transformer"
    return timm_models.family_of(architecture, embedded=embedded.EMBEDDED)


def _from_file(path: Path, *, architecture: str | None, pretrained: bool) -> WeightSource:
    if not pretrained:
        raise InvalidInput(
            f"pretrained=False draws random weights, but {str(path)!r} is a checkpoint file. Give an architecture's name instead."
        )
    if not path.is_file():
        raise InvalidInput(
            f"there is no checkpoint file {str(path)!r}. Give the path of a {', '.join(checkpoint.SUFFIXES)} file, or a model's name."
        )
    named = architecture or checkpoint.read_architecture(path)
    if named is None:
        raise InvalidInput(
            f"checkpoint {str(path)!r} does not say which architecture it holds. Name it: "
            f"load_backbone({str(path)!r}, architecture='vit_small_patch16_224')."
        )
    return WeightSource(path.stem, named, _family(named), path, False, f"file {path}")


def _published(name: str, family: str) -> WeightSource:
    """Prefer a copy on this disk; otherwise make sure, quickly, that the Hub can be asked."""
    published = timm_models.published_at(name)
    if not published:
        raise InvalidInput(
            f"no weights are published for backbone {name!r}. Use pretrained=False for random ones, or a checkpoint file."
        )
    file = hub.cached_file(published)
    if file is not None:
        return WeightSource(
            name,
            name,
            family,
            file,
            False,
            f"downloaded earlier from {published.get('hub_id', published.get('url'))}",
        )
    reason = hub.why_offline()
    if reason is not None:
        raise hub.unavailable(name, published, reason)
    return WeightSource(
        name, name, family, None, True, f"downloaded from {published.get('hub_id', published.get('url'))}"
    )
