"""Kinds of values in ``params.yaml``, and what all of its blocks share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=1)]
NonNegativeInt = Annotated[StrictInt, Field(ge=0)]


def _number(value: Any) -> Any:
    """Refuse text and booleans where a real number is meant; pydantic would read ``"1"`` and ``true`` as 1."""
    if isinstance(value, bool | str):
        raise ValueError("a finite number is needed, written without quotes, e.g. 1.0e-5")
    return value


def _scalar(value: Any) -> Any:
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError("an option is text, a number, true, false or null")
    return value


Scalar = Annotated[Any, BeforeValidator(_scalar)]
Real = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]


def once(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse a list that names something twice."""
    if len(set(value)) != len(value):
        raise ValueError("each one may be named once")
    return value


class Block(BaseModel):
    """Common ground of all blocks: frozen, and closed against keys that nobody reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


DatasetNames = Annotated[tuple[Text, ...], AfterValidator(once)]
Device = Annotated[StrictStr, Field(pattern=r"^(cpu|cuda(:[0-9]+)?)$")]
