from __future__ import annotations

import pytest
import torch

from tests.support.small_extraction import BACKBONE
from vitgeom.backbones import Backbone, open_backbone
from vitgeom.decoders import cls_decoder, jacobian_of, load_decoder, probe_decoder
from vitgeom.errors import InvalidInput, UnknownName


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return open_backbone(BACKBONE)


@pytest.fixture(scope="module")
def image(backbone: Backbone) -> torch.Tensor:
    return torch.randn(3, *backbone.spec.image_size, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("name", "path"), [("cls", "written out"), ("patch_mean", "written out"), ("pooled", "vmap(jvp)")]
)
def test_it_is_the_dense_jacobian_by_the_best_path(
    backbone: Backbone, image: torch.Tensor, name: str, path: str
) -> None:
    bound = load_decoder(name, backbone, layer=11).at(image)
    operator = jacobian_of(bound, backbone)
    assert operator.jvp_path == path
    layout = backbone.spec.layout
    assert (operator.num_tokens, operator.num_prefix) == (layout.num_tokens, layout.num_prefix)
    dense = torch.autograd.functional.jacobian(bound, bound.features).reshape(operator.shape)
    v = torch.randn(operator.shape[1], 2, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(
        operator.matmat(v), dense @ v, rtol=1e-3, atol=1e-4 * float((dense @ v).abs().max())
    )


def test_a_metric_that_does_not_fit_or_is_not_there_is_refused(
    backbone: Backbone, image: torch.Tensor
) -> None:
    bound = cls_decoder(backbone, layer=11).at(image)
    with pytest.raises(InvalidInput, match="9"):
        jacobian_of(bound, backbone, metric="so3")
    with pytest.raises(UnknownName, match="output metric"):
        jacobian_of(bound, backbone, metric="so4")


def test_what_a_decoder_is_called_says_nothing_of_what_it_is(backbone: Backbone, image: torch.Tensor) -> None:
    head = torch.nn.Linear(backbone.spec.width, backbone.spec.width)
    bound = probe_decoder(backbone, layer=11, head=head, name="cls").at(image)
    operator = jacobian_of(bound, backbone)
    dense = torch.autograd.functional.jacobian(bound, bound.features).reshape(operator.shape)
    v = torch.randn(operator.shape[1], 2, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(
        operator.matmat(v), dense @ v, rtol=1e-3, atol=1e-4 * float((dense @ v).abs().max())
    )


def test_blocks_of_another_backbone_are_not_written_out(image: torch.Tensor) -> None:
    one, other = open_backbone(BACKBONE), open_backbone(BACKBONE)
    assert jacobian_of(cls_decoder(one, layer=11).at(image), other).jvp_path != "written out"
