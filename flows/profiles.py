"""Read ``params.yaml``, choose a profile, apply overrides, and say exactly what is wrong with a value.

A refused value is named by its full dotted key, with the value, the rule, and the nearest good key where a key is unknown. All faults of a
profile are reported together.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from flows.params import Profile
from vitgeom.errors import InvalidInput, UnknownName, nearest


class _Loader(yaml.SafeLoader):
    """YAML that reads ``1e-4`` as a number, as DVC does, and refuses a key that is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key) for key, _ in node.value if key.value != "<<"]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise InvalidInput(
                f"key {sorted(twice)[0]!r} is given twice{_where(node.start_mark)}. Keep one of them."
            )
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def load_profile(
    path: Path, name: str | None = None, *, overrides: Sequence[str] = ()
) -> tuple[str, Profile]:
    """Return the name and the parameters of one profile.

    Args:
        path: A ``params.yaml``.
        name: The profile; the file's own ``profile`` when ``None``.
        overrides: ``key=value`` pairs below the profile, such as ``extract.batch_size=32``; the value is YAML.

    Raises:
        UnknownName: No profile has this name.
        InvalidInput: The file cannot be read, or a key or value is not allowed.
    """
    content = _read(path)
    profiles = content.get("profiles")
    if not isinstance(profiles, dict) or not profiles or set(content) != {"profile", "profiles"}:
        raise InvalidInput(
            f"{path} has the keys {sorted(content)}; it needs exactly 'profile' and 'profiles' (a mapping)."
        )
    chosen = str(name if name is not None else content["profile"])
    if chosen not in profiles:
        raise UnknownName("profile", chosen, profiles, hint=f"Profiles are defined in {path}.")
    tree = profiles[chosen]
    for override in overrides:
        tree = _apply(tree, override)
    try:
        return chosen, Profile.model_validate(tree)
    except ValidationError as error:
        faults = "\n  ".join(_faults(error, prefix=f"profiles.{chosen}"))
        raise InvalidInput(f"{path} cannot be used:\n  {faults}") from None


def profile_names(path: Path) -> list[str]:
    """Return the names of all profiles in the file, in its order."""
    return list(_read(path).get("profiles") or {})


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        way_out = "Run in the project folder, or name the file with --params."
        raise InvalidInput(f"parameters {str(path)!r} cannot be read ({error.strerror}). {way_out}") from None
    except yaml.YAMLError as error:
        raise InvalidInput(
            f"{path} is not valid YAML{_where(getattr(error, 'problem_mark', None))}: {error}"
        ) from None
    if not isinstance(content, dict):
        raise InvalidInput(
            f"{path} holds {type(content).__name__}; it needs the keys 'profile' and 'profiles'."
        )
    return content


def _where(mark: yaml.Mark | None) -> str:
    return f" in line {mark.line + 1}" if mark is not None else ""


def _apply(tree: Any, override: str) -> Any:
    """Return a copy of ``tree`` with one ``dotted.key=value`` replaced; whether the key may exist is validated later."""
    key, sign, text = override.partition("=")
    if not sign or not key.strip():
        raise InvalidInput(f"--set {override!r} must look like extract.batch_size=32.")
    try:
        value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError:
        raise InvalidInput(f"--set {override!r}: the value {text!r} is not valid YAML; quote it.") from None
    return _replaced(tree, key.strip().split("."), value, override)


def _replaced(tree: Any, keys: list[str], value: Any, override: str) -> Any:
    if not keys:
        return value
    if not isinstance(tree, dict):
        raise InvalidInput(f"--set {override!r}: {keys[0]!r} cannot stand below a plain value ({tree!r}).")
    return {**tree, keys[0]: _replaced(tree.get(keys[0], {}), keys[1:], value, override)}


def _faults(error: ValidationError, *, prefix: str) -> Iterator[str]:
    faults = error.errors(include_url=False)
    for fault in faults:
        path = fault["loc"]
        if fault["type"] == "too_short" and any(
            len(other["loc"]) > len(path) == _shared(other["loc"], path) for other in faults
        ):
            continue  # only too short because an entry of it was refused, which is reported by itself
        dotted = ".".join([prefix, *map(str, path)])
        if fault["type"] == "extra_forbidden":
            known = sorted(_block_at(path[:-1]).model_fields)
            hint = nearest(str(path[-1]), known)
            yield f"unknown key {dotted!r} (value {fault['input']!r}).{hint} Known here: {', '.join(known)}."
        elif fault["type"] == "missing":
            yield f"missing key {dotted!r}: every key of a profile is written down."
        else:
            rule = re.sub(r"^(Input|Value|Tuple|List|Dictionary|String) should ", "must ", fault["msg"])
            rule = rule.removeprefix("Value error, ")
            yield f"{dotted!r} is {fault['input']!r}: {rule}."


def _shared(one: Sequence[str | int], other: Sequence[str | int]) -> int:
    """Return how many leading parts two places have in common."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _block_at(path: Sequence[str | int]) -> type[BaseModel]:
    """Return the model that stands at a path below the profile."""
    block: type[BaseModel] = Profile
    for part in path:
        if isinstance(part, int):
            continue
        block = next(_models(block.model_fields[part].annotation))
    return block


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
