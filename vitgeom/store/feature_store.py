"""One store of layer features: rows of images, with layers and tokens."""

from __future__ import annotations

from vitgeom.errors import InvalidInput
from vitgeom.store.declaration import Declaration
from vitgeom.store.layout import FeatureLayout
from vitgeom.store.row_store import RowStore
from vitgeom.store.schema import ALL_TOKENS, ArraySpec, feature_spec
from vitgeom.store.uri import Root


class FeatureStore(RowStore):
    """One feature store. Make it with :func:`create_features` or :func:`open_features`.

    Attributes:
        layout: Shapes, chunks and ranges.
    """

    layout: FeatureLayout

    def __init__(self, root: Root, *, address_path: str, declaration: Declaration) -> None:
        assert isinstance(declaration.layout, FeatureLayout), "the declaration's loader checks this"
        super().__init__(root, address_path=address_path, declaration=declaration)

    @property
    def num_layers(self) -> int:
        """L."""
        return self.layout.num_layers

    @property
    def width(self) -> int:
        """D."""
        return self.layout.width

    @property
    def token_layers(self) -> tuple[int, ...]:
        """Layers, from 0, all of whose tokens are stored."""
        return self.layout.token_layers

    def _stored(self, name: str) -> ArraySpec:
        spec = feature_spec(name)
        if spec not in self.layout.specs:
            way_out = "token_layers" if spec.token == ALL_TOKENS else f"token {spec.token!r}"
            raise InvalidInput(
                f"array {name!r} is not in this store, which holds {', '.join(one.name for one in self.layout.specs)}: extract with"
                f" {way_out}."
            )
        return spec

    def _place(self, spec: ArraySpec, layer: int) -> int:
        """Return where a layer stands on an array's axis of layers."""
        if spec.has_layers and not 0 <= layer < self.num_layers:
            raise InvalidInput(f"layer must be 0..{self.num_layers - 1}, got {layer}.")
        return super()._place(spec, layer)
