"""Randomised linear algebra on operators that are known by their products: one method per file, named after it."""

from vitgeom.randnla.block_golub_kahan import BlockGolubKahan, block_golub_kahan
from vitgeom.randnla.block_krylov import BlockKrylov, block_krylov
from vitgeom.randnla.deflated_probes import DeflatedProbes, deflated_probes
from vitgeom.randnla.estimate import Estimate
from vitgeom.randnla.exact import ExactDecomposition, exact_decomposition, materialise
from vitgeom.randnla.gram import GramOperator
from vitgeom.randnla.hutchinson import frobenius_squared, hutchinson_trace
from vitgeom.randnla.hutchpp import hutchpp_trace
from vitgeom.randnla.lanczos import Lanczos, lanczos
from vitgeom.randnla.power_iteration import PowerIteration, power_iteration
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import gaussian, signs, sphere
from vitgeom.randnla.residual import Residuals, triplet_residuals
from vitgeom.randnla.row_block_norms import BlockNorms, deflated_block_norms, row_block_norms
from vitgeom.randnla.slq import spectral_density
from vitgeom.randnla.spectral_density import SpectralDensity
from vitgeom.randnla.xtrace import xtrace

__all__ = [
    "BlockGolubKahan",
    "BlockKrylov",
    "BlockNorms",
    "DeflatedProbes",
    "Estimate",
    "ExactDecomposition",
    "GramOperator",
    "Lanczos",
    "PowerIteration",
    "Products",
    "Residuals",
    "SpectralDensity",
    "block_golub_kahan",
    "block_krylov",
    "deflated_block_norms",
    "deflated_probes",
    "exact_decomposition",
    "frobenius_squared",
    "gaussian",
    "hutchinson_trace",
    "hutchpp_trace",
    "lanczos",
    "materialise",
    "power_iteration",
    "row_block_norms",
    "signs",
    "spectral_density",
    "sphere",
    "triplet_residuals",
    "xtrace",
]
