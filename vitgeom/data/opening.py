"""From a reference to the thing that it names: its opener, called with options that were checked by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

from vitgeom.data.reference import DatasetRef
from vitgeom.errors import InvalidInput, UnknownName

Opened = TypeVar("Opened")


def open_by_name(
    ref: DatasetRef, *, openers: Mapping[str, Callable[..., Opened]], kind: str, hint: str = ""
) -> Opened:
    """Call the opener that a reference names with the options of the reference.

    Args:
        ref: Name and options.
        openers: Name -> function of keyword arguments; one that takes any others checks those itself.
        kind: What the name is of, for messages.
        hint: One more sentence for a name that is not known.

    Raises:
        UnknownName: No opener, or no option of it, has this name; the nearest one is suggested.
        InvalidInput: It is no reference, an option is missing, or has a value that the opener refuses.
    """
    require_reference(ref)
    if ref.name not in openers:
        raise UnknownName(kind, ref.name, openers, hint=hint)
    opener = openers[ref.name]
    parameters = inspect.signature(opener).parameters.values()
    known = [item.name for item in parameters if item.kind is not inspect.Parameter.VAR_KEYWORD]
    takes_more = len(known) < len(parameters)
    for key, _ in ref.options:
        if key not in known and not takes_more:
            raise UnknownName(f"option of {kind} {ref.name!r}", key, known)
    required = [item.name for item in parameters if item.default is item.empty and item.name in known]
    for key in required:
        if ref.option(key) is None:
            raise InvalidInput(
                f"option {key!r} of {kind} {ref.name!r} is missing. Give DatasetRef.from_options({ref.name!r}, {key}=...)."
            )
    return opener(**dict(ref.options))


def require_reference(ref: object) -> None:
    """Refuse what is no reference, and name the one that was probably meant.

    Args:
        ref: What the caller gave.

    Raises:
        InvalidInput: It is no ``DatasetRef``.
    """
    if isinstance(ref, DatasetRef):
        return
    name = ref if isinstance(ref, str) else "digits"
    raise InvalidInput(
        f"a dataset is opened by a DatasetRef, got {type(ref).__name__} {str(ref)[:80]!r}. "
        f"Give open_dataset(DatasetRef.from_options({name!r}))."
    )
