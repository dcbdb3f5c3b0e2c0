from __future__ import annotations

import pytest

from tests.vitgeom.metric.bottleneck.conftest import SMALL, small_joined
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import BottleneckVAE, bottleneck_for
from vitgeom.metric.bottleneck.fit_check import check_fits


def test_a_new_bottleneck_knows_its_head_and_its_tokens(joined):
    vae = bottleneck_for(joined, **SMALL)
    assert (vae.shape.token_width, vae.shape.num_prefix) == (36, 1)
    assert vae.config["trained_for"]["head"] == "smooth"
    check_fits(vae, joined)


def test_as_many_latents_as_token_numbers_are_refused(joined):
    bottleneck_for(joined, **{**SMALL, "registers": 1, "latent": 251})
    with pytest.raises(
        InvalidInput, match=r"= 252 is no bottleneck for the 252 token numbers.*Use fewer; 32 x 128 is usual"
    ):
        bottleneck_for(joined, **{**SMALL, "registers": 1, "latent": 252})


@pytest.mark.parametrize(("width", "prefix"), [(24, 1), (36, 0), (36, 2)])
def test_other_tokens_are_refused(joined, width, prefix):
    with pytest.raises(
        InvalidInput, match=rf"tokens of {width} numbers with {prefix} prefix.*36 numbers, 1 prefix"
    ):
        check_fits(BottleneckVAE(width, prefix, **SMALL), joined)


def test_another_head_on_the_same_tokens_is_refused(joined):
    vae = bottleneck_for(joined, **SMALL)
    with pytest.raises(InvalidInput, match="trained for head 'smooth'"):
        check_fits(vae, small_joined(seed=1))
