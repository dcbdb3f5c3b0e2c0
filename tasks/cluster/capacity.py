"""Whether any machine of the cluster can hold what one unit asks. Pure arithmetic.

Ray itself queues an impossible request forever; here it is refused with figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.task_spec import Ask

Node = Mapping[str, float]
"""Total resources of one machine under Ray's names: CPU, GPU, memory (bytes)."""


def fits(ask: Ask, node: Node) -> bool:
    """Whether one machine could hold one unit when it is otherwise idle."""
    return (
        ask.cpus <= node.get("CPU", 0.0)
        and ask.gpus <= node.get("GPU", 0.0)
        and ask.memory <= node.get("memory", 0.0)
    )


def shortage(ask: Ask, nodes: Sequence[Node]) -> str | None:
    """Say why no machine can hold one unit, or return None if one can.

    Args:
        ask: What the unit takes.
        nodes: All machines that are alive.
    """
    if any(fits(ask, node) for node in nodes):
        return None
    if not nodes:
        return f"one unit asks for {_amounts(ask.cpus, ask.gpus, ask.memory)}, but the cluster has no machine that is alive."
    have = "; ".join(
        _amounts(node.get("CPU", 0.0), node.get("GPU", 0.0), node.get("memory", 0.0)) for node in nodes[:4]
    )
    more = f" and {len(nodes) - 4} more" if len(nodes) > 4 else ""
    machines = "1 machine" if len(nodes) == 1 else f"{len(nodes)} machines"
    return (
        f"one unit asks for {_amounts(ask.cpus, ask.gpus, ask.memory)}; available on {machines}: {have}{more}. "
        "Ask for less (threads, batch_size, device) or give the cluster a machine that is large enough."
    )


def _amounts(cpus: float, gpus: float, memory: float) -> str:
    return f"{cpus:g} CPU, {gpus:g} GPU, {memory / 2**30:.1f} GiB memory"
