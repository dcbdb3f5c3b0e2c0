"""What each rank of the network captures, and how many weights it takes."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from vitgeom.report import palette
from vitgeom.report.directions_figures import style
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_ranks import RankSweep
from vitgeom.report.numbers import percent


def captured_by_rank(one: LearntDecoder, *, where: str, name: str) -> Drawing:
    """Draw captured sensitivity over rank by width, with kappa_cap as ceiling and the best width of each rank ringed; below it, parameters over rank.

    Args:
        one: A decoder at a layer whose sweep has a trial with a result.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """
    sweep = one.ranks
    assert sweep is not None, "only a decoder with a sweep over ranks is drawn"

    def paint(figure: Figure) -> None:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.7, 1))
        _shares(above, sweep)
        _weights(below, sweep)
        below.set_xlabel("rank r of the network")
        below.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
        figure.legend(*above.get_legend_handles_labels(), loc="outside upper left", ncols=2)

    told = "; ".join(
        f"rank {trial.rank}, width {trial.hidden}: {percent(trial.captured)} of at most {percent(trial.ceiling, missing='undefined')}, "
        f"{'unknown' if trial.parameters is None else f'{trial.parameters:,}'} parameters, {trial.state}"
        for trial in sweep.measured
    )
    return draw(
        paint,
        name=name,
        title=f"Which rank is worth its weights: {one.label}, {where}",
        description=f"Mean share of the sensitivity captured on n = {one.images.get('val', 0):,} validation images, and parameters. {told}.",
        height=4.9,
    )


def _shares(axes: Axes, sweep: RankSweep) -> None:
    for place, (width, trials) in enumerate(sweep.by_hidden().items()):
        role, marker, dashes = style(place)
        shares = [100 * trial.captured for trial in trials if trial.captured is not None]
        axes.plot(
            [trial.rank for trial in trials], shares,
            color=role.light, marker=marker, markersize=5.5, linestyle=dashes, label=f"width {width}",
        )  # fmt: skip
        early = [
            (trial.rank, share)
            for trial, share in zip(trials, shares, strict=True)
            if trial.state == "stopped"
        ]
        for rank, share in early:
            axes.plot(
                [rank], [share], color=role.light, marker=marker, markersize=5.5, markerfacecolor=palette.SURFACE.light, linestyle="none"
            )  # fmt: skip
    ceilings = sweep.ceilings()
    if ceilings:
        ranks, most = zip(*ceilings, strict=True)
        axes.plot(
            ranks, [100 * share for share in most], color=palette.UNIFORM.light, marker="_", markersize=10,
            linestyle=(0, (1, 1.5)), label="kappa_cap(r): the most",
        )  # fmt: skip
    if sweep.winners:
        axes.plot(
            [trial.rank for trial in sweep.winners],
            [100 * trial.captured for trial in sweep.winners if trial.captured is not None],
            linestyle="none", marker="o", markersize=13, markerfacecolor="none",
            markeredgecolor=palette.INK.light, markeredgewidth=1.2, label="best width",
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_ylabel("captured (%)")


def _weights(axes: Axes, sweep: RankSweep) -> None:
    for place, trials in enumerate(sweep.by_hidden().values()):
        role, marker, dashes = style(place)
        known = [(trial.rank, trial.parameters) for trial in trials if trial.parameters is not None]
        if known:
            ranks, weights = zip(*known, strict=True)
            axes.plot(ranks, weights, color=role.light, marker=marker, markersize=5.5, linestyle=dashes)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("parameters")


def _short(count: float) -> str:
    """Return a count in thousands or millions."""
    for unit, words in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= unit:
            return f"{count / unit:g}{words}"
    return f"{count:g}"
