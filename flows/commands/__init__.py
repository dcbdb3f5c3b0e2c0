"""One file per command of ``vitgeom``: its arguments, and a ``run`` that imports what it needs only when it is called."""
