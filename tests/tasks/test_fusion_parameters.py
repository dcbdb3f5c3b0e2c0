"""Settings reach the methods that they are for, and not what defines a method."""

from __future__ import annotations

from pathlib import Path

from tasks.fusion_parameters import unfitted_method
from tasks.fusion_request import ConcatenationSettings, EncoderSettings, GateSettings
from tests.support.small_fusion import Sealed, fusion_request
from vitgeom.fusion.methods import METHODS

REQUEST = fusion_request(
    Sealed(Path("/s"), "features/digits/nano/00aa", "d" * 64),
    encoder=EncoderSettings(hidden_dim=7, orth_weight=0.5),
    gate=GateSettings(hidden_dim=5),
    concatenation=ConcatenationSettings(l2=(2.0,)),
    seed=3,
    device="cpu",
)


def test_each_kind_has_its_own_block() -> None:
    hidden = {
        name: unfitted_method(METHODS[name], REQUEST).get_params()["hidden_dim"]
        for name in ("vfusion", "hfusion", "best_layer_head", "mixture_of_experts")
    }
    assert hidden == {"vfusion": 7, "hfusion": 7, "best_layer_head": 7, "mixture_of_experts": 5}
    assert unfitted_method(METHODS["all_layer_concat"], REQUEST).get_params()["l2"] == (2.0,)


def test_what_defines_a_method_stays() -> None:
    ablation = unfitted_method(METHODS["vfusion_no_orth"], REQUEST).get_params()
    assert (ablation["orth_weight"], ablation["hidden_dim"]) == (0.0, 7)
    assert unfitted_method(METHODS["vfusion_last"], REQUEST).get_params()["selection"] == "last"


def test_a_method_without_settings_keeps_to_its_seed() -> None:
    assert unfitted_method(METHODS["last_layer"], REQUEST).get_params() == {"seed": 3}
