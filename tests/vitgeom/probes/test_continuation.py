from __future__ import annotations

import torch

from vitgeom.probes.continuation import CREEPING, Continuation
from vitgeom.probes.layer_fit import fit_layer


def flags(*values: bool) -> torch.Tensor:
    return torch.tensor(values)


def test_a_creeping_problem_waits_for_the_next_stronger_penalty():
    bench = Continuation(torch.tensor([0.01, 1.0, 0.1, 10.0], dtype=torch.float64))
    place = torch.arange(4)
    assert bench.should_wait(place, torch.full((4,), CREEPING, dtype=torch.float64)).tolist() == [
        True,
        True,
        True,
        False,
    ]
    assert not bench.should_wait(place, torch.full((4,), 0.5, dtype=torch.float64)).any()
    bench.wait(torch.tensor([0, 2]))
    assert bench.release(flags(False, False, False, True))[0].tolist() == []
    freed, source = bench.release(flags(False, True, False, True))
    assert (freed.tolist(), source.tolist()) == ([2], [1])
    freed, source = bench.release(flags(False, True, True, True))
    assert (freed.tolist(), source.tolist()) == ([0], [2])
    assert bench.release(flags(True, True, True, True))[0].tolist() == []


def test_nobody_waits_twice_or_for_an_equal():
    bench = Continuation(torch.tensor([0.1, 0.1, 1.0], dtype=torch.float64))
    creep = torch.zeros(3, dtype=torch.float64)
    assert bench.should_wait(torch.arange(3), creep).tolist() == [True, True, False]
    bench.wait(torch.tensor([0]))
    assert bench.should_wait(torch.arange(3), creep).tolist() == [False, True, False]
    equal = Continuation(torch.full((3,), 0.1, dtype=torch.float64))
    assert not equal.should_wait(torch.arange(3), creep).any()


def test_weak_penalties_on_many_columns_take_few_steps_to_the_same_optimum():
    """Alone, the weakest overshoots and creeps back; in the batch it starts from its neighbour."""
    g = torch.Generator().manual_seed(0)
    y = torch.arange(300) % 30
    x = torch.randn(300, 500, generator=g) + 0.2 * torch.randn(30, 500, generator=g)[y]
    l2 = torch.logspace(-5, 1, 9, dtype=torch.float64)
    batch = fit_layer(x, y, num_classes=30, l2=l2, tol=1e-8)
    alone = fit_layer(x, y, num_classes=30, l2=l2[:1], tol=1e-8)
    assert batch.converged.all()
    torch.testing.assert_close(batch.objective[0], alone.objective[0], rtol=1e-9, atol=0)
    assert batch.iterations[0] < alone.iterations[0]
