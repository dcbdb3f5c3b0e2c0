"""How the embedded backbones were trained: ``python -m vitgeom.backbones.pretraining [supervised|masked|all]``."""
