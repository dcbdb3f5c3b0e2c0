"""Render the report of a benchmark: result files in; one HTML page, its figures, a table and a summary out.

Written under ``out``: ``report.html``, ``figures/*.svg``, ``metrics.csv``, ``summary.json``.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from tasks.footprint import peak_bytes
from tasks.receipt import Receipt
from tasks.report_request import CombinationSource, FusionSource, RenderRequest
from tasks.report_stamp import finished_report, stamp_of, write_stamp
from vitgeom.report.combination import Combination, Failure
from vitgeom.report.directed_pair import parse_directed_pair
from vitgeom.report.fused_pair import FusedPair, parse_fused_pair
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.joined_pair import joined
from vitgeom.report.learnt_pair import parse_learnt_pair
from vitgeom.report.material import Cost, DatasetFacts, Material
from vitgeom.report.metrics import metrics_csv, summary
from vitgeom.report.page import headline, render_page
from vitgeom.report.parsing import parse_combination
from vitgeom.report.shifted_pair import parse_shifted_pair
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

REPORT, METRICS, SUMMARY, FIGURES = "report.html", "metrics.csv", "summary.json", "figures"
RESULTS = ("manifest", "probes", "recoverability")


def run(request: RenderRequest) -> Receipt:
    """Read the results, write page, figures, table and summary; the same results give the same bytes and are drawn once.

    Figures that an earlier, larger report left behind are removed.

    Args:
        request: What to show, and where to write it.

    Raises:
        InvalidInput: A result file lacks something, or files do not belong together; the file is named.
        StoreError: A result file cannot be read, or the place cannot be written.
    """
    out = Root(request.out)
    stamp = _stamp(request)
    finished = finished_report(out, stamp, key=request.key, uri=f"{out.uri}/{REPORT}")
    if finished is not None:
        return finished
    receipt = _render(request, out)
    write_stamp(out, stamp, receipt)
    return receipt


def _render(request: RenderRequest, out: Root) -> Receipt:
    started = time.perf_counter()
    material = _material(request)
    gallery = paint_gallery(material)
    files = {
        REPORT: render_page(material, gallery=gallery),
        METRICS: metrics_csv(material.finished),
        SUMMARY: json.dumps(summary(material), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        **{f"{FIGURES}/{drawing.name}.svg": drawing.standalone() for drawing in gallery.drawings()},
    }
    written = {name: text.encode("utf-8") for name, text in files.items()}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in written.items()}
    _publish(out, written)
    return Receipt(
        task=request.task,
        key=request.key,
        uri=f"{out.uri}/{REPORT}",
        digest=fingerprint(digests),
        seconds=time.perf_counter() - started,
        peak_bytes=peak_bytes(),
        cached=False,
        rows=sum(pair.num_test for pair in material.finished),
        detail={
            "headline": headline(material),
            "finished": len(material.finished),
            "failed": len(material.failed),
            "files": digests,
        },
    )


def _stamp(request: RenderRequest) -> str:
    addresses: Any = {
        "out": True,
        "combinations": {"__all__": set(RESULTS)},
        "fusion": {"__all__": {"comparison", "predictions"}},
        "shift": {"__all__": {"evaluation"}},
        "directions": {"__all__": {"figures"}},
        "metrics": {"__all__": {"figures"}},
    }
    sources = [source for source in request.combinations if source.failed is None]
    results = [_read(getattr(source, name)) for source in sources for name in RESULTS]
    made = [source for source in request.fusion if source.failed is None]
    results += [_read(source.comparison) for source in made]
    results += [hashlib.sha256(_read_bytes(source.predictions)).hexdigest() for source in made]
    results += [_read(source.evaluation) for source in request.shift if source.failed is None]
    results += [_read(source.figures) for source in request.directions if source.failed is None]
    results += [_read(source.figures) for source in request.metrics if source.failed is None]
    return stamp_of(request.model_dump(mode="json", exclude=addresses), results)


def _publish(out: Root, files: Mapping[str, bytes]) -> None:
    """Write the page last, so that it never shows figures or numbers that are not there yet."""
    for name in sorted(files, key=lambda name: name == REPORT):
        if out.get(name) != files[name]:
            out.write_bytes(name, files[name])
    for name in out.list(FIGURES):
        if f"{FIGURES}/{name}" not in files:
            out.remove(f"{FIGURES}/{name}")


def _material(request: RenderRequest) -> Material:
    made = [source for source in request.fusion if source.failed is None]
    across = tuple(_fused(source) for source in made if source.horizontal)
    return Material(
        title=request.title,
        subject=request.subject,
        profile=request.profile,
        finished=tuple(_combination(source) for source in request.combinations if source.failed is None),
        failed=tuple(
            Failure(source.dataset, source.backbone, source.failed)
            for source in request.combinations
            if source.failed is not None
        ),
        datasets=tuple(
            DatasetFacts(note.name, note.source, tuple((file.path, file.reason) for file in note.quarantine))
            for note in request.datasets
        ),
        costs=tuple(
            Cost(
                cost.stage,
                cost.dataset,
                cost.backbone,
                cost.seconds,
                num_bytes=cost.bytes,
                peak_bytes=cost.peak_bytes,
                rows=cost.rows,
            )
            for cost in request.costs
        ),
        provenance=request.provenance,
        fused=tuple(joined(_fused(source), across) for source in made if not source.horizontal),
        across=across,
        unfused=tuple(
            Failure(source.dataset, source.backbone, source.failed)
            for source in request.fusion
            if source.failed is not None
        ),
        shifted=tuple(
            parse_shifted_pair(
                dataset=source.dataset, backbone=source.backbone, content=_read(source.evaluation)
            )
            for source in request.shift
            if source.failed is None
        ),
        unshifted=tuple(
            Failure(source.dataset, source.backbone, source.failed)
            for source in request.shift
            if source.failed is not None
        ),
        directed=tuple(
            parse_directed_pair(
                dataset=source.dataset, backbone=source.backbone, content=_read(source.figures)
            )
            for source in request.directions
            if source.failed is None
        ),
        undirected=tuple(
            Failure(source.dataset, source.backbone, source.failed)
            for source in request.directions
            if source.failed is not None
        ),
        learnt=tuple(
            parse_learnt_pair(
                dataset=source.dataset,
                backbone=source.backbone,
                content=_read(source.figures),
                seconds=source.seconds_per_image,
            )
            for source in request.metrics
            if source.failed is None
        ),
        unlearnt=tuple(
            Failure(source.dataset, source.backbone, source.failed)
            for source in request.metrics
            if source.failed is not None
        ),
    )


def _fused(source: FusionSource) -> FusedPair:
    return parse_fused_pair(
        dataset=source.dataset,
        backbone=source.backbone,
        table=_read(source.comparison),
        predictions=_read_bytes(source.predictions),
        seconds_per_image=source.seconds_per_image,
    )


def _combination(source: CombinationSource) -> Combination:
    return parse_combination(
        dataset=source.dataset,
        backbone=source.backbone,
        manifest=_read(source.manifest),
        probes=_read(source.probes),
        recoverability=_read(source.recoverability),
    )


def _read(uri: str | None) -> Any:
    root, name = _place(uri)
    return root.read_json(name)


def _read_bytes(uri: str | None) -> bytes:
    root, name = _place(uri)
    return root.read_bytes(name)


def _place(uri: str | None) -> tuple[Root, str]:
    assert uri is not None, "the request refuses a finished pair without its files"
    folder, _, name = uri.rpartition("/")
    return Root(folder or "."), name
