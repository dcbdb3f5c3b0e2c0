"""How the heads for the built-in scenes were trained: ``python -m vitgeom.decoders.training``."""
