"""Whether a local tracker holds a study already, read from its SQLite file in milliseconds.

Opening the tracker itself takes seconds of imports, which a study that was recorded before need not pay. The tables are the tracker's own: a
file that looks different than expected, or cannot be read, simply means "ask the tracker".
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tasks.tracking_record import StudyRecord

QUERY = """
select runs.run_uuid from runs
join experiments on experiments.experiment_id = runs.experiment_id
join tags kind on kind.run_uuid = runs.run_uuid and kind.key = 'vitgeom.kind' and kind.value = 'study'
join tags study on study.run_uuid = runs.run_uuid and study.key = 'vitgeom.key' and study.value = ?
join tags files on files.run_uuid = runs.run_uuid and files.key = 'vitgeom.artifacts' and files.value = ?
where experiments.name = ? and runs.status = 'FINISHED' and runs.lifecycle_stage = 'active'
order by runs.start_time desc limit 1
"""


def known_run(database: Path, record: StudyRecord) -> str | None:
    """Return the run of a study that was recorded completely, with the same artifacts; None if there is none or in doubt.

    Args:
        database: The SQLite file of a tracker; it is only read.
        record: The study.
    """
    if not database.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            found = connection.execute(
                QUERY, (record.key, record.artifacts_digest, record.experiment)
            ).fetchone()
    except sqlite3.Error:
        return None
    return None if found is None else str(found[0])
