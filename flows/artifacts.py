"""What a flow run shows on its Prefect page: the summary with a link to the report, and the table of accuracies."""

from __future__ import annotations

from flows.steps import inside_flow_run
from flows.summary import HEADINGS, Summary


def publish(summary: Summary, *, page: str) -> None:
    """Attach the summary to the current flow run; without one there is nothing to attach it to.

    Args:
        summary: What to show.
        page: Path or URI of the report, which the summary links to.
    """
    if not inside_flow_run():
        return
    from prefect.artifacts import create_markdown_artifact, create_table_artifact

    create_markdown_artifact(
        key="benchmark-summary",
        markdown=summary.markdown(page=page),
        description=f"Results of {summary.subject or summary.profile}",
    )
    table = [dict(zip(HEADINGS, row, strict=True)) for row in summary.rows()]
    create_table_artifact(
        key="accuracies", table=table, description="Test accuracies and what earlier layers recover"
    )
