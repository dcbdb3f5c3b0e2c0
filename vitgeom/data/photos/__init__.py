"""Crops of the photographs that ship with scikit-image and scikit-learn."""

from vitgeom.data.photos.opener import open_photos

__all__ = ["open_photos"]
