"""Convolution of one channel, pixel by pixel; beyond the border the nearest pixel counts."""

from __future__ import annotations

import numpy as np


def convolve(channel: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    height, width = channel.shape
    reach = kernel.shape[0] // 2
    result = np.zeros_like(channel)
    for row in range(height):
        for column in range(width):
            for down in range(-reach, reach + 1):
                for right in range(-reach, reach + 1):
                    source = channel[
                        min(max(row - down, 0), height - 1), min(max(column - right, 0), width - 1)
                    ]
                    result[row, column] += kernel[reach + down, reach + right] * source
    return result
