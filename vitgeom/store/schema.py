"""The registry of stored arrays: name, dims, dtype, unit, meaning, source. Creating, checking and the README table derive from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from vitgeom.errors import UnknownName

# Part of every address: raise it when the meaning or the bytes of any array below change.
SCHEMA_VERSION = 1
# The same for what only stores of targets hold.
TARGET_VERSION = 2

STORAGE_DTYPES = ("float32", "float16")
TOKENS = ("cls", "mean")
ALL_TOKENS = "all"
LAYER_DIMS = ("L", "L_sel")
DIMS = MappingProxyType(
    {
        "n": "images of the split, in the order of the data set",
        "L": "blocks of the backbone, first to last",
        "L_sel": "the blocks named by `token_layers`, first to last",
        "N": "tokens of an image: class token, distillation token, registers, then patches row by row",
        "D": "width of the backbone",
        "R": "directions asked for; those that a Jacobian has not are zero",
        "W": "bytes of the longest sample id",
    }
)


@dataclass(frozen=True)
class ArraySpec:
    """One stored array.

    Attributes:
        name: Its key in the group of a split.
        dims: Letters of :data:`DIMS`; the first is always the row.
        dtype: NumPy name, or None for the storage dtype chosen at creation.
        unit: What the numbers count or measure.
        meaning: One sentence for the reader of a table.
        source: The function that computes it.
        token: The token whose features it holds, :data:`ALL_TOKENS` for all of them, or None when it is stored whatever the tokens.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str | None
    unit: str
    meaning: str
    source: str
    token: str | None = None

    @property
    def is_float(self) -> bool:
        """True for measured numbers, which must be finite; False for labels and names."""
        return self.dtype is None or self.dtype.startswith("float")

    @property
    def has_layers(self) -> bool:
        """True when its second axis counts layers, so that one layer can be read without the others."""
        return any(dim in LAYER_DIMS for dim in self.dims)

    def numpy_dtype(self, storage_dtype: str) -> np.dtype:
        """Return the dtype on disk, little-endian.

        Args:
            storage_dtype: One of :data:`STORAGE_DTYPES`.
        """
        return np.dtype(self.dtype or storage_dtype).newbyteorder("<")


_CAPTURE = "vitgeom.backbones.Backbone.capture"
_REGISTERED = (
    ArraySpec(
        "cls",
        ("n", "L", "D"),
        None,
        "activation",
        "CLS token after each block, before the final norm.",
        _CAPTURE,
        "cls",
    ),
    ArraySpec(
        "cls_normed",
        ("n", "D"),
        None,
        "activation",
        "CLS token after the last block and the final norm.",
        _CAPTURE,
        "cls",
    ),
    ArraySpec(
        "mean",
        ("n", "L", "D"),
        None,
        "activation",
        "Mean of the patch tokens after each block, before the final norm.",
        _CAPTURE,
        "mean",
    ),
    ArraySpec(
        "mean_normed",
        ("n", "D"),
        None,
        "activation",
        "Mean of the patch tokens after the last block and the final norm.",
        _CAPTURE,
        "mean",
    ),
    ArraySpec(
        "tokens",
        ("n", "L_sel", "N", "D"),
        None,
        "activation",
        "All tokens after each chosen block, before the final norm; only where `token_layers` names blocks.",
        _CAPTURE,
        ALL_TOKENS,
    ),
    ArraySpec(
        "label",
        ("n",),
        "int64",
        "class index",
        "Index into the data set's classes.",
        "vitgeom.data.Split.labels",
    ),
    ArraySpec(
        "group",
        ("n",),
        "int64",
        "group index",
        "Images that belong together; -1 where there are no groups.",
        "vitgeom.data.Split.groups",
    ),
    ArraySpec(
        "sample_id",
        ("n", "W"),
        "uint8",
        "UTF-8 byte",
        "Name of the image, padded with zero bytes.",
        "vitgeom.data.Split.sample_ids",
    ),
)
FEATURES = MappingProxyType({spec.name: spec for spec in _REGISTERED})


_DIAGNOSE = "vitgeom.spectra.diagnose"
_PER_IMAGE = ("n",)
_TARGETS = (
    ArraySpec(
        "features",
        ("n", "N", "D"),
        None,
        "activation",
        "The tokens at which the decoder was differentiated.",
        "vitgeom.decoders.BoundDecoder.features",
    ),
    ArraySpec(
        "right_vectors",
        ("n", "N", "D", "R"),
        None,
        "1",
        "Directions of the features to which the output reacts most, orthonormal over tokens and width, strongest first.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "singular_values",
        ("n", "R"),
        "float64",
        "output per feature",
        "How strongly the output reacts to each direction.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "num_found", _PER_IMAGE, "int64", "directions", "How many of the directions there are.", _DIAGNOSE
    ),
    ArraySpec(
        "token_energy",
        ("n", "N"),
        "float64",
        "1",
        "Energy of the directions at each token; sums to the directions found.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "importance",
        ("n", "N"),
        "float64",
        "output per feature",
        "Importance of each token from the directions found.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "block_norms",
        ("n", "N"),
        "float64",
        "output per feature",
        "Norm of each token's block of the Jacobian: importance without truncation.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "block_norms_stderr",
        ("n", "N"),
        "float64",
        "squared output per feature",
        "Standard error of the squared norms; 0 where they are exact.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "norm_squared",
        _PER_IMAGE,
        "float64",
        "squared output per feature",
        "Squared Frobenius norm of the Jacobian.",
        _DIAGNOSE,
    ),
    ArraySpec(
        "norm_squared_stderr",
        _PER_IMAGE,
        "float64",
        "squared output per feature",
        "Its standard error; 0 where it is exact.",
        _DIAGNOSE,
    ),
    *(spec for spec in _REGISTERED if spec.name in ("label", "sample_id")),
)
TARGETS = MappingProxyType({spec.name: spec for spec in _TARGETS})


def feature_spec(name: str) -> ArraySpec:
    """Return the registered array of that name.

    Raises:
        UnknownName: There is none; the nearest is suggested.
    """
    if name not in FEATURES:
        raise UnknownName("feature array", name, FEATURES)
    return FEATURES[name]


def specs_for(tokens: Sequence[str], *, all_tokens: bool = False) -> tuple[ArraySpec, ...]:
    """Return the arrays that a store with these tokens holds, in registry order.

    Args:
        tokens: Names of :data:`TOKENS`.
        all_tokens: Whether all tokens of some layers are stored, too.

    Raises:
        UnknownName: A token is not registered.
    """
    for token in tokens:
        if token not in TOKENS:
            raise UnknownName("token", token, TOKENS)
    held = {None, *tokens, *([ALL_TOKENS] if all_tokens else [])}
    return tuple(spec for spec in _REGISTERED if spec.token in held)


def schema_table(registered: Iterable[ArraySpec] = _REGISTERED) -> str:
    """Return a registry as a Markdown table.

    Args:
        registered: Its arrays; default those of features.
    """
    shown = tuple(registered)
    lines = [
        "| array | dims | dtype | unit | meaning | source |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{spec.name}` | `[{', '.join(spec.dims)}]` | {spec.dtype or 'float32 or float16'} | {spec.unit} | {spec.meaning} |"
        f" `{spec.source}` |"
        for spec in shown
    ]
    used = {dim for spec in shown for dim in spec.dims}
    legend = "; ".join(f"`{letter}` {text}" for letter, text in DIMS.items() if letter in used)
    return "\n".join([*lines, "", f"Dims: {legend}."])
