"""Linear probes of every layer: batched multinomial logistic regression, certified converged."""

from vitgeom.probes.fit import L2_GRID, fit_probes
from vitgeom.probes.labels import UNKNOWN_CLASS, Labels
from vitgeom.probes.layer_fit import LayerFit, fit_layer
from vitgeom.probes.layer_probes import LayerProbes
from vitgeom.probes.layers import FunctionLayers, LayerSource, RowSource, TensorLayers
from vitgeom.probes.row_access import as_rows

__all__ = [
    "L2_GRID",
    "UNKNOWN_CLASS",
    "FunctionLayers",
    "Labels",
    "LayerFit",
    "LayerProbes",
    "LayerSource",
    "RowSource",
    "TensorLayers",
    "as_rows",
    "fit_layer",
    "fit_probes",
]
