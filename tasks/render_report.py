"""Render the report of a benchmark: result files in; one HTML page, its figures, a table and a summary out.

What the caller hands over (all small JSON; URIs are anything that ``vitgeom.store.uri.Root`` opens)::

    RenderRequest(
        profile="embedded",
        title="Do earlier layers know what the last one gets wrong?",
        combinations=(
            # a finished pair: the three result files of that pair
            CombinationSource(dataset="digits", backbone="nano_supervised",
                              manifest=".../features/.../manifest.json",
                              probes=".../probes/.../probes.json",
                              recoverability=".../probes/.../recoverability.json"),
            # a pair that did not finish: the reason, in words
            CombinationSource(dataset="photos", backbone="nano_selfsup", failed="StoreError: disk full"),
        ),
        datasets=(DatasetNote(name="digits", source="scikit-learn digits, 1,797 images", quarantine=(
            QuarantineNote(path="a/b.png", reason="truncated"),)),),
        costs=(StageCost(stage="extract", dataset="digits", backbone="nano_supervised", seconds=3.2,
                         bytes=1048576, peak_bytes=500000000, rows=1797, cached=False),),
        provenance={"git": {"commit": "abc"}, "versions": {"torch": "2.13"}, "params": {...}, "machine": {...},
                    "engine": {"kind": "ray"}, "orchestrator": "prefect"},   # any nesting of plain JSON
        out="results/embedded",
    )

``dataset`` and ``backbone`` are the labels that a reader sees. ``datasets``, ``costs`` and ``provenance`` may be empty.

Written under ``out``: ``report.html``, ``figures/*.svg``, ``metrics.csv``, ``summary.json``.
"""
