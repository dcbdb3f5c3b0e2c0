from __future__ import annotations

import pytest
import torch

from vitgeom.backbones import check_device
from vitgeom.errors import InvalidInput


@pytest.fixture
def gpus(monkeypatch):
    def pretend(count: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return pretend


def test_devices_that_are_there_pass(gpus):
    gpus(0)
    assert check_device("cpu") == check_device(torch.device("cpu")) == torch.device("cpu")
    gpus(2)
    assert check_device("cuda") == torch.device("cuda")
    assert check_device("cuda:1") == torch.device("cuda:1")


def test_a_gpu_that_is_not_there_is_refused(gpus, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    gpus(0)
    with pytest.raises(
        InvalidInput, match=r"device='cuda' is not there: PyTorch finds no GPU\. .* are: cpu\."
    ):
        check_device("cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    gpus(2)
    with pytest.raises(
        InvalidInput, match=r"'cuda:2'.*2 GPUs \(CUDA_VISIBLE_DEVICES='0,1'\).*cpu, cuda:0, cuda:1\."
    ):
        check_device(torch.device("cuda:2"))


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("xx", "device='xx' is no device that PyTorch knows"),
        ("", "device='' is no device"),
        ("cuda:-1", "device='cuda:-1' is no device"),
        ("meta", "device='meta' cannot compute here"),
        (None, "device=None must be the name of a device"),
        (0, "device=0 must be the name of a device"),
    ],
)
def test_what_is_no_device_is_refused(gpus, device, message):
    gpus(0)
    with pytest.raises(InvalidInput, match=message):
        check_device(device)
