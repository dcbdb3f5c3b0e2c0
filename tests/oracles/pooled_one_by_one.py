"""Means over pairs, resampled with loops: slow and obvious."""

from __future__ import annotations

import torch


def pooled_means(
    pairs: list[tuple[str, torch.Tensor]], draws: dict[str, torch.Tensor]
) -> tuple[list[float], list[list[float]]]:
    """Return mean accuracies ``[M]`` and, per resample, the same ``[B][M]``.

    Args:
        pairs: Dataset and who was right ``[n, M]``.
        draws: Per dataset, which samples each resample holds ``[B, n]``.
    """

    def mean_of(samples: dict[str, torch.Tensor]) -> list[float]:
        count, methods = len(pairs), pairs[0][1].shape[1]
        means = []
        for method in range(methods):
            total = 0.0
            for dataset, right in pairs:
                chosen = samples[dataset]
                total += sum(float(right[int(sample), method]) for sample in chosen) / len(chosen)
            means.append(total / count)
        return means

    whole = mean_of({dataset: torch.arange(len(right)) for dataset, right in pairs})
    number = len(next(iter(draws.values())))
    return whole, [
        mean_of({dataset: drawn[one] for dataset, drawn in draws.items()}) for one in range(number)
    ]
