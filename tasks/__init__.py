"""Units of work: one file each, a plain ``run(request) -> Receipt`` that is idempotent and needs no Ray."""

from tasks import environment

environment.apply()
