from __future__ import annotations

import pytest
import torch

from vitgeom.backbones import TokenLayout
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop.readout import choose_readout

LAYOUT = TokenLayout(num_cls=1, num_registers=2, num_distill=0, grid=(2, 2))
TOKENS = torch.arange(7 * 3, dtype=torch.float64).reshape(7, 3)


def test_each_reads_what_it_is_named_after() -> None:
    read = {
        kind: choose_readout(kind, layout=LAYOUT, num_tokens=7).read(TOKENS)
        for kind in ("cls", "patch_mean", "tokens")
    }
    assert torch.equal(read["cls"], TOKENS[0])
    assert torch.equal(read["patch_mean"], TOKENS[3:].mean(dim=0))
    assert torch.equal(read["tokens"], TOKENS.flatten())


@pytest.mark.parametrize("kind", ["cls", "patch_mean", "tokens"])
def test_spreading_is_the_transpose_of_reading(kind: str) -> None:
    readout = choose_readout(kind, layout=LAYOUT, num_tokens=7)
    rows = readout.rows(7)
    assert rows == (1 if kind == "cls" else 7)
    tokens = torch.randn(rows, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    outputs = torch.randn(
        1, readout.read(tokens).numel(), generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    spread = readout.spread(outputs, rows=rows, width=3)
    torch.testing.assert_close((readout.read(tokens) * outputs[0]).sum(), (tokens * spread[0]).sum())


def test_a_model_without_class_token_has_none_to_read() -> None:
    headless = TokenLayout(num_cls=0, num_registers=0, num_distill=0, grid=(2, 2))
    with pytest.raises(InvalidInput, match=r"needs a class token.* Use 'patch_mean'"):
        choose_readout("cls", layout=headless, num_tokens=4)


def test_prefix_tokens_alone_have_no_patch_mean() -> None:
    with pytest.raises(InvalidInput, match="features have 3 tokens, of which the first 3 are none"):
        choose_readout("patch_mean", layout=LAYOUT, num_tokens=3)


def test_another_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown readout 'mean'"):
        choose_readout("mean", layout=LAYOUT, num_tokens=7)
