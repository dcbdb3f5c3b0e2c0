"""Switches of the process that decide whether a function can be differentiated, set for as long as a block lasts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

# PyTorch's own first use of forward derivatives, and its note that an operation is multiplied column by column.
KNOWN_WARNINGS = (".*torch.jit.script.*", ".*performance drop.*")


@contextmanager
def differentiable(device: torch.device, *, forwards: bool) -> Iterator[None]:
    """Leave inference mode, autocast, compiled code and fused encoder layers; forwards also fused attention.

    Fused attention has no forward derivative (its reverse derivative is right and cheaper, so it stays for that), and neither has the
    fused path of ``nn.MultiheadAttention`` and ``nn.TransformerEncoderLayer``. Compiled functions drop tangents, so they run as written.

    Args:
        device: Where the decoder runs.
        forwards: Whether forward derivatives, or derivatives of derivatives, are taken.
    """
    fastpath = torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        for message in KNOWN_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        stack.callback(torch.backends.mha.set_fastpath_enabled, fastpath)
        torch.backends.mha.set_fastpath_enabled(False)
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.autocast(device.type, enabled=False))
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        if forwards:
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield
