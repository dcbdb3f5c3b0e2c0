"""Peak memory of fitting fused methods: does it depend on the number of rows?

2,000 and 200,000 training rows of [12, 384], 10 classes, come from a function that makes them block by block; VFusion and the methods on
logits are fitted on shared evidence in a fresh process each, two threads, at the default byte budget. Linear models on concatenated
layers are left out: their statistics are W x W, which 2,000 rows do not fill; probes are
solved to a loose tolerance, which changes how often rows are read and not how many are held. Measured is the largest resident set of each process.
"""

from __future__ import annotations

from tests.benchmarks.made_rows import MadeRows, command, memory_row
from tests.benchmarks.rows import Row

STRENGTHS, FOLDS, COMPONENTS, EPOCHS = (1e-2,), 2, 64, 2


def fit(train: MadeRows, val: MadeRows) -> None:
    """Fit VFusion and the methods on logits, on shared evidence."""
    from vitgeom.fusion import EvidenceSettings, VFusionClassifier, gather_evidence
    from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
    from vitgeom.fusion.probability_average import ProbabilityAverageClassifier
    from vitgeom.fusion.stacking import LogisticStackingClassifier
    from vitgeom.fusion.super_learner import SuperLearnerClassifier

    settings = EvidenceSettings(l2=STRENGTHS, num_folds=FOLDS, tol=1e-2, fold_tol=3e-2)
    with gather_evidence(train, train.labels(), val, val.labels(), settings=settings) as evidence:
        for method in (
            VFusionClassifier(layer_scaling="none", components=COMPONENTS, max_epochs=EPOCHS),
            MixtureOfExpertsClassifier(max_epochs=EPOCHS),
            ProbabilityAverageClassifier(),
            SuperLearnerClassifier(),
            LogisticStackingClassifier(),
        ):
            method.fit_evidence(evidence)


def measure() -> list[Row]:
    """Return the one row of this benchmark; it takes long."""
    return [
        memory_row(
            "tests.benchmarks.bench_fusion_memory",
            what="VFusion and four other fused methods",
            how=f"{len(STRENGTHS)} strength, {FOLDS} folds, {COMPONENTS} components, {EPOCHS} epochs",
        )
    ]


if __name__ == "__main__":
    command(fit, measure)
