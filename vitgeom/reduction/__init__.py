"""Fewer tokens: scores that say which ones matter."""

from vitgeom.reduction.token_scores import cls_attention, feature_norm, random_scores

__all__ = ["cls_attention", "feature_norm", "random_scores"]
