from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.seeding import check_generator, checked_seed, derive_seed, generator_for


def test_the_same_names_give_the_same_stream() -> None:
    first = torch.rand(8, generator=generator_for(3, "bootstrap", "digits"))
    assert torch.equal(first, torch.rand(8, generator=generator_for(3, "bootstrap", "digits")))


def test_every_part_of_the_name_matters() -> None:
    seeds = {
        derive_seed(0, "a", "b"),
        derive_seed(1, "a", "b"),
        derive_seed(0, "b", "a"),
        derive_seed(0, "ab"),
        derive_seed(0, "a", 1),
        derive_seed(0, "a", "1"),
    }
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_the_global_stream_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    torch.rand(4, generator=generator_for(0, "x"))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("given", [None, 0, "seed"])
def test_only_a_generator_passes(given: object) -> None:
    check_generator(torch.Generator())
    with pytest.raises(
        InvalidInput, match=r"generator must be a torch\.Generator, got .*: results must be reproducible"
    ):
        check_generator(given)


def test_a_negative_seed_is_one_of_its_own() -> None:
    assert checked_seed(np.int64(-1)) == -1
    assert derive_seed(-1, "a") != derive_seed(1, "a")


@pytest.mark.parametrize("seed", [None, 0.0, "0", False])
def test_what_is_no_whole_number_is_no_seed(seed: object) -> None:
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        checked_seed(seed)
