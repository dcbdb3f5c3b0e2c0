"""Stored arrays and objects: one layout for a laptop folder, an S3 bucket and memory.

Import the module that holds what you need; none is imported here, so that ``import vitgeom.store`` stays light:
``uri`` (bytes at a place), ``fingerprint``, ``schema`` (the registry of arrays), ``address``, ``features`` (create, write, read),
``integrity`` (verify, repair) and ``lease`` (one driver per address).
"""
