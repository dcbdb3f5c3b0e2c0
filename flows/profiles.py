"""Read ``params.yaml``, choose a profile, apply overrides, and say exactly what is wrong with a value.

A refused value is named by its full dotted key, with the value, the rule, and the nearest good key where a key is unknown. All faults of a
profile are reported together.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from flows.params import Profile
from vitgeom.errors import InvalidInput, UnknownName, nearest

_LARGEST_INTEGER = 2**1023
"""What still fits into a float; no parameter needs more, and Python refuses to print integers of thousands of digits."""
_TOO_LONG = "an integer may have 300 digits"


class _Loader(yaml.SafeLoader):
    """YAML that reads ``1e-4`` as a number, as DVC does, and refuses a key that is given twice.

    It also refuses what PyYAML takes for a date or a number and then fails to convert.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
        except InvalidInput:
            raise
        except (ValueError, LookupError, AttributeError, OverflowError) as error:
            raise _unreadable(node, _TOO_LONG if len(node.value) > 300 else str(error)) from None
        if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
            raise _unreadable(node, _TOO_LONG)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        if isinstance(node, yaml.MappingNode):
            _refuse_twice([self.construct_object(key) for key, _ in node.value if key.value != "<<"], node)
        return super().construct_mapping(node, deep)


def _refuse_twice(keys: list[Any], node: yaml.Node) -> None:
    """Refuse the first key that stands twice in a mapping; keys that cannot be looked up are left to PyYAML."""
    for key in keys:
        if isinstance(key, Hashable) and keys.count(key) > 1:
            raise InvalidInput(f"key {key!r} is given twice{_where(node.start_mark)}. Keep one of them.")


def _unreadable(node: yaml.Node, reason: str) -> InvalidInput:
    """Return the error for a value that looks like a date or a number to YAML, and is none."""
    text, kind = _shown(node.value), str(node.tag).rpartition(":")[2]
    return InvalidInput(
        f"the value {text}{_where(node.start_mark)} cannot be read as {kind} ({reason}). Correct it; if it is a text, put it in quotes."
    )


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
    default, profiles = _profiles(path)
    chosen = default if name is None else name
    if chosen not in profiles:
        raise UnknownName("profile", chosen, profiles, hint=f"Profiles are defined in {path}.")
    prefix, tree = f"profiles.{chosen}", profiles[chosen]
    blamed = dict.fromkeys(_faults(tree, prefix=prefix), str(path))
    sources = [str(path), *(f"--set {_shown(override)}" for override in overrides)]
    for override, source in zip(overrides, sources[1:], strict=True):
        tree = _apply(tree, override)
        # A fault that was not there before this override is its own; one that it cured is gone.
        blamed = {fault: blamed.get(fault, source) for fault in _faults(tree, prefix=prefix)}
    if blamed:
        raise InvalidInput("\n".join(_by_source(blamed, sources)))
    return chosen, Profile.model_validate(tree)


def profile_names(path: Path) -> list[str]:
    """Return the names of all profiles in the file, in its order.

    Args:
        path: A ``params.yaml``.

    Raises:
        InvalidInput: The file cannot be read.
    """
    return list(_profiles(path)[1])


def _by_source(blamed: Mapping[str, str], sources: Sequence[str]) -> Iterator[str]:
    """Yield the faults below what they are due to: the file, or one ``--set``."""
    for source in dict.fromkeys(sources):
        if faults := [fault for fault, due_to in blamed.items() if due_to == source]:
            yield "\n  ".join([f"{source} cannot be used:", *faults])


def _profiles(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the name of the default profile, and all profiles by name."""
    content = _read(path)
    profiles = content.get("profiles")
    if not isinstance(profiles, dict) or not profiles or set(content) != {"profile", "profiles"}:
        raise InvalidInput(
            f"{path} has the keys {sorted(content, key=str)}; it needs exactly 'profile' and 'profiles' (a mapping)."
        )
    return str(content["profile"]), {str(name): tree for name, tree in profiles.items()}


def _read(path: Path) -> dict[Any, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        way_out = "Run in the project folder, or name the file with --params."
        raise InvalidInput(f"parameters {str(path)!r} cannot be read ({error.strerror}). {way_out}") from None
    except UnicodeDecodeError as error:
        byte, line = error.object[error.start], error.object.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"{path} must be text in UTF-8, got the byte {byte:#04x} in line {line}. Save the file as UTF-8, "
            "or name another one with --params."
        ) from None
    content = _parse(text, source=str(path), way_out="Correct that line.")
    if not isinstance(content, dict):
        raise InvalidInput(
            f"{path} holds {type(content).__name__}; it needs the keys 'profile' and 'profiles'."
        )
    return content


def _parse(text: str, *, source: str, way_out: str) -> Any:
    """Read YAML; whatever is wrong with it is said of its source, a file or a ``--set``."""
    try:
        return yaml.load(text, Loader=_Loader)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error}") from None
    except RecursionError:
        raise InvalidInput(
            f"{source} is nested too deeply to be read; no parameter needs more than a few brackets. Close or remove the rest."
        ) from None
    except yaml.YAMLError as error:
        where = _where(getattr(error, "problem_mark", None))
        problem = getattr(error, "problem", None) or error
        raise InvalidInput(f"{source} is not valid YAML{where}: {problem}. {way_out}") from None


def _shown(value: Any) -> str:
    """Return a value as Python writes it, cut where it fills more than a few lines."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _where(mark: yaml.Mark | None) -> str:
    return f" in line {mark.line + 1}" if mark is not None else ""


def _apply(tree: Any, override: str) -> Any:
    """Return a copy of ``tree`` with one ``dotted.key=value`` replaced; whether the key may exist is validated later."""
    key, sign, text = override.partition("=")
    if not sign or not key.strip():
        raise InvalidInput(f"--set {_shown(override)} must look like extract.batch_size=32.")
    value = _parse(text, source=f"--set {_shown(override)}", way_out="Quote the value.")
    return _replaced(tree, key.strip().split("."), value, override)


def _replaced(tree: Any, keys: list[str], value: Any, override: str) -> Any:
    if not keys:
        return value
    if not isinstance(tree, dict):
        raise InvalidInput(
            f"--set {_shown(override)}: {keys[0]!r} cannot stand below a plain value ({tree!r})."
        )
    return {**tree, keys[0]: _replaced(tree.get(keys[0], {}), keys[1:], value, override)}


def _faults(tree: Any, *, prefix: str) -> list[str]:
    """Return a sentence on each fault of a profile, none if it is allowed."""
    try:
        Profile.model_validate(tree)
    except ValidationError as error:
        return list(_sentences(error, prefix=prefix))
    return []


def _sentences(error: ValidationError, *, prefix: str) -> Iterator[str]:
    faults = error.errors(include_url=False)
    for fault in faults:
        path, value = fault["loc"], fault["input"]
        if fault["type"] == "too_short" and any(
            len(other["loc"]) > len(path) == _shared(other["loc"], path) for other in faults
        ):
            continue  # only too short because an entry of it was refused, which is reported by itself
        dotted = ".".join([prefix, *map(str, path)])
        if fault["type"] == "extra_forbidden":
            known = sorted(_block_at(path[:-1]).model_fields)
            hint = nearest(str(path[-1]), known)
            yield f"unknown key {dotted!r} (value {_shown(value)}).{hint} Known here: {', '.join(known)}."
        elif fault["type"] == "missing":
            yield f"missing key {dotted!r}: every key of a profile is written down."
        else:
            yield f"{dotted!r} is {_shown(value)}: {_rule(fault).rstrip('.')}."


def _rule(fault: ErrorDetails) -> str:
    """Return what a value must be, as a writer of YAML would say it."""
    value = fault["input"]
    if fault["type"] == "tuple_type":
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        return f"must be a list, e.g. [{value if plain else 'first, second'}]"
    if fault["type"] == "model_type":
        return f"must be a mapping with the keys {', '.join(_block_at(fault['loc']).model_fields)}"
    rule = re.sub(r"^(Input|Value|Tuple|List|Dictionary|String) should ", "must ", fault["msg"])
    return rule.removeprefix("Value error, ")


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
