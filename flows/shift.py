"""Sub-flow: fitted classifiers under distribution shift, for every cell that is fused.

The shifted test sets get features of their own; the classifiers are those of the fuse step, read from the store and only asked: about rows
as they are, and about the same rows with batch statistics. What is stored of either is not computed again; what is missing goes to the
engine together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows import console
from flows.cell import Cell
from flows.engine_scope import engine_for
from flows.extract import settings_from
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.shifted_cells import Shifted, shifted
from flows.steps import flow, task
from flows.study import Resolved, Study
from flows.together import CellWork
from tasks import evaluate_shift
from tasks.engine import Engine
from tasks.extract_dataset import extract as extract_dataset
from tasks.extract_together import extract_together
from tasks.receipt import Receipt
from tasks.shift_request import ShiftRequest
from tasks.shift_summary import summarise
from vitgeom.errors import InvalidInput, VitgeomError

FUSED = "vfusion"
"""Method that the line about a cell tells of."""


@flow(name="shift", run_name="evaluate under shift")
def shift(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Evaluate every fused cell on its shifted test sets and write one file per cell into the results folder.

    Args:
        study: Which cells, and how; the block ``shift`` of its parameters says which corruptions and severities.
        left_out: Names of cells that are not to be evaluated.

    Returns:
        One receipt per cell that has a shifted test set.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    cells = [cell for cell in wanted.cells if cell.name not in left_out]
    ready = _ready(cells, wanted, results)
    cells = [cell for cell in cells if cell.name not in ready or ready[cell.name].parts]
    if not cells:
        console.say("shift: nothing to do; no corruption is named, and no dataset has sub-populations")
        return []
    with engine_for(wanted.params.engine) as engine:
        parts = [part for one in ready.values() for part in one.parts]
        extracted = extract_parts(len(parts), parts, wanted=wanted, engine=engine)
        work = shift_work(ready, extracted, wanted)
        missing = work.missing(parts)
        evaluated = evaluate_parts(len(missing), missing, work=work, engine=engine) if missing else {}
        outcomes = attempt_each(
            cells,
            lambda cell: shift_cell(
                cell.name,
                ready[cell.name] if cell.name in ready else shifted(cell, wanted, results),
                wanted=wanted,
                engine=engine,
                results=results,
                extracted=extracted,
                evaluated=evaluated,
            ),
            on_failure=console.report_failure,
        )
    return require_all("shift", outcomes)


@task(name="extract shifted", run_name="extract {count} shifted test sets")
def extract_parts(
    count: int, parts: Sequence[Cell], *, wanted: Resolved, engine: Engine
) -> dict[str, Receipt]:
    """Store the features of all shifted test sets, by name; ``count`` is what Prefect shows."""
    return extract_together(
        {part.name: (part.dataset_ref, part.backbone_ref) for part in parts},
        store=wanted.store,
        settings=settings_from(wanted.params.extract),
        engine=engine,
        emit=console.say,
        label=f"{count} shifted test sets",
    )


@task(name="evaluate shifted", run_name="evaluate {count} shifted test sets")
def evaluate_parts(
    count: int, missing: Mapping[str, ShiftRequest], *, work: CellWork[ShiftRequest], engine: Engine
) -> dict[str, Receipt]:
    """Ask the classifiers about all shifted test sets that they were not asked about yet; ``count`` is what Prefect shows."""
    return work.map_together(missing, engine=engine)


@task(name="shift", run_name="shift {name}")
def shift_cell(
    name: str,
    one: Shifted,
    *,
    wanted: Resolved,
    engine: Engine,
    results: Results,
    extracted: Mapping[str, Receipt],
    evaluated: Mapping[str, Receipt],
) -> Receipt:
    """Gather a cell's evaluations, make what could not be made together, and write its file; ``name`` is what Prefect shows."""
    sealed = {part.name: extracted.get(part.name) or _extract(part, wanted, engine) for part in one.parts}
    work = shift_work({name: one}, sealed, wanted)

    def evaluation(part: Cell) -> Receipt:
        request = work.request(part)
        found = evaluated.get(request.key) or evaluate_shift.stored(request)
        return found or work.receipt(part, engine=engine, fitted={})

    summary = summarise(
        [evaluation(part) for part in one.parts],
        name=name,
        num_bootstrap=wanted.params.fusion.num_bootstrap,
        seed=wanted.params.seed,
    )
    results.write_shift(one.cell, summary.content)
    console.say(said(name, summary.receipt))
    return summary.receipt


def shift_work(
    ready: Mapping[str, Shifted], extracted: Mapping[str, Receipt], wanted: Resolved
) -> CellWork[ShiftRequest]:
    """Return how a shifted test set is evaluated.

    Args:
        ready: The cells that are fused, by name.
        extracted: Seals of the features of shifted test sets, by name.
        wanted: The study.
    """
    fused = {part.name: one.fused for one in ready.values() for part in one.parts}

    def request(part: Cell) -> ShiftRequest:
        if part.name not in extracted:
            raise InvalidInput(f"{part.name} has no features yet. Run the same command again.")
        sealed = extracted[part.name]
        return ShiftRequest(
            store=wanted.store,
            fused=fused[part.name].uri,
            fused_digest=fused[part.name].digest,
            address=sealed.detail["address"],
            manifest_digest=sealed.digest,
            dataset=part.dataset_ref.to_json(),
            num_bootstrap=wanted.params.fusion.num_bootstrap,
            seed=wanted.params.seed,
            threads=wanted.params.fusion.threads,
        )

    return CellWork(
        verb="shift",
        what="shifted test sets",
        request=request,
        stored=evaluate_shift.stored,
        rows=lambda part: extracted[part.name].rows,
        doing="evaluating",
        done="evaluated",
    )


def said(name: str, receipt: Receipt) -> str:
    """Return a line about one cell: how many test sets, and VFusion's accuracy on them both ways.

    Args:
        name: Of the cell.
        receipt: Of its evaluations.
    """
    count = receipt.detail["conditions"]
    told = f"shift {name}: {count} shifted test {'set' if count == 1 else 'sets'}{', cached' if receipt.cached else ''}"
    as_is, adapted = (receipt.detail[key].get(FUSED) for key in ("accuracy", "batch_statistics"))
    if as_is is None:
        return told
    with_them = (
        "no batch statistics of so few images" if adapted is None else f"{adapted:.1%} with batch statistics"
    )
    return f"{told}; VFusion {as_is:.1%}, {with_them}"


def _ready(cells: Sequence[Cell], wanted: Resolved, results: Results) -> dict[str, Shifted]:
    """Return the cells that can be evaluated; one that cannot fails by itself later, with its reason."""
    found = {}
    for cell in cells:
        try:
            found[cell.name] = shifted(cell, wanted, results)
        except VitgeomError:
            continue
    return found


def _extract(part: Cell, wanted: Resolved, engine: Engine) -> Receipt:
    return extract_dataset(
        part.dataset_ref,
        part.backbone_ref,
        store=wanted.store,
        settings=settings_from(wanted.params.extract),
        engine=engine,
        emit=console.say,
        label=part.name,
    )
