from __future__ import annotations

from tests.support.report_results import combination, material, no_errors, one_layer
from vitgeom.report.combination import Failure
from vitgeom.report.gallery import paint_gallery


def test_each_pair_has_its_drawings_under_safe_names() -> None:
    gallery = paint_gallery(material(combination(dataset="../<x>"), no_errors()))
    assert [drawing.name for drawing in gallery.drawings()] == [
        "overview",
        "accuracy-1",
        "accuracy-2",
        "recoverability-1",
        "corrections-1",
        "agreement-1",
        "agreement-2",
    ]


def test_without_errors_or_earlier_layers_there_is_no_overview() -> None:
    gallery = paint_gallery(material(no_errors(), one_layer()))
    assert gallery.overview is None
    assert not gallery.recoverability
    assert not gallery.corrections
    assert list(gallery.agreement) == ["photos × nano_supervised"], "one layer has nobody to agree with"


def test_failed_pairs_alone_give_an_empty_gallery() -> None:
    assert paint_gallery(material(failed=[Failure("a", "b", "why")])).drawings() == ()
