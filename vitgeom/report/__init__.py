"""Results as one self-contained HTML page: the answer in words, pictures with intervals, tables, provenance."""

from vitgeom.report.gallery import Gallery, paint_gallery
from vitgeom.report.material import Material
from vitgeom.report.metrics import metrics_csv, summary
from vitgeom.report.page import render_page
from vitgeom.report.parsing import parse_combination

__all__ = [
    "Gallery",
    "Material",
    "metrics_csv",
    "paint_gallery",
    "parse_combination",
    "render_page",
    "summary",
]
