"""What the words of the page mean."""

from __future__ import annotations

from vitgeom.report.markup import Markup, element

TERMS = (
    ("layer", "The residual stream after a block of the backbone, counted from 1; the last one also goes through the backbone's final norm, unless the parameter probe.last_layer says raw."),
    ("probe", "A linear classifier (multinomial logistic regression with L2) on one layer's feature; its L2 strength is chosen on the validation split."),
    ("errors", "Test images that the probe of the last layer gets wrong."),
    ("R_l, R_any", "Share of the errors that layer l, or at least one earlier layer, gets right."),
    ("guessing", "What R_any would be if each earlier layer guessed uniformly among the classes."),
    ("permuted", "What R_any is when each earlier layer's predictions are shuffled inside the errors: same layers, same preferences, no knowledge of the image."),
    ("refits", "R_any of as many new probes of the last layer, each fitted to a bootstrap resample: many tries without any depth."),
    ("oracle", "Share of test images that at least one layer gets right: no method that picks a layer per image can do better."),
    ("correction entropy", "How evenly the corrections of the errors are spread over the earlier layers: 1 = evenly, 0 = one layer makes them all."),
    ("geometric disagreement", "Mean of 1 − cosine between an earlier layer's class scores and the last layer's over the errors, each without its mean over classes: 0 = same direction, 1 = unrelated, 2 = opposite."),
    ("pairwise disagreement, double fault", "Shares of test images that exactly one, or neither, of two layers gets right, mean over all pairs."),
    ("Q statistic", "Yule's Q of two layers' successes, mean over all pairs: 1 = right and wrong on the same images, 0 = independent."),
    ("VFusion", "Vertical fusion: all layers, standardised and weighed by the quality of their probes, go through one small encoder into one token, on which a linear classifier is trained together with the encoder."),
    ("Super Learner, stacking", "Combinations of the layers' own answers, fitted on training images that each answer had not seen."),
    ("HFusion", "Horizontal fusion: the same encoder on the last layers of several backbones; every image passes through all of them."),
    ("damage, severity", "A corruption of the test images in one of five strengths, 1 (mild) to 5 (strong). Probes and methods are those that were fitted on clean images."),
    ("mean corruption accuracy", "Mean of the test accuracies over all corruptions and severities that were evaluated; its interval draws images, each with all of its damaged forms."),
    ("batch statistics", "Each coordinate of each layer is moved and scaled so that all test images of one condition together have its mean and deviation of training. The answer on one image then depends on the others: it takes many images of one condition with roughly the classes of training, but no label."),
    ("worst group", "The sub-population in which a method is right least often; every sub-population counts alike in the mean over groups."),
    ("sensitivity, J", "How fast a decoder's output changes when the features of a layer do: the derivative J, one row per output, one column per token and coordinate. ‖J‖² is the sum of its squared entries."),
    ("directions, kappa_cap(R)", "Changes of all tokens at once to which the output reacts most (right singular vectors of J). kappa_cap(R) is the share of ‖J‖² that the best R of them hold: no metric of rank R can capture more. A flat spectrum would give R over the smaller side of J."),
    ("CV over patches", "Standard deviation over mean, over tokens, of the energy that the R directions have in each token: near 0, every patch counts alike and no score per token can help; random directions have about sqrt(2 / (width × R))."),
    ("regime, border", "Fixed by construction: no more outputs than R. Else, some tokens far above others: CV over patches of 0.5 or more. Else, few directions: kappa_cap(R) of 0.8 or more. Else, many. A figure within 0.05 of its border is called close to it."),
    ("effective ranks", "How many directions count. Participation ratio: (Σσ²)² / Σσ⁴. Entropy rank: exp of the entropy of the shares σ². Stable rank: ‖J‖² / σ₁². Directions for 90 %: the least R with kappa_cap(R) ≥ 0.9."),
    ("importance of a token", "sqrt(Σ σ² × energy of that direction in the token), over the R directions found."),
    ("ρ over patches", "Spearman's rank correlation, over the patches of one image, between a score and the exact importance (from R directions) or the exact block norms ‖J^(t)‖ (the derivative's columns of one token; nothing left out): 1 = same order, 0 = chance. Means over images."),
    ("two estimates, ceiling", "Exact targets are estimated with random vectors. What a second, independent estimate agrees with the first one is the most that can be asked of a model."),
    ("importance head", "A small network that gives every token one number from the features alone, trained to have the exact importance."),
    ("Spectral Pullback Network (SPN)", "A network that gives R directions with energies from the features alone: a metric that needs no derivative. V1 is the share of the exact subspace that its directions span, (1/R)‖UᵀV‖²; a random subspace has R over all features."),
    ("one subspace for all images", "The R directions that fit the exact ones of all training images best, used for every image alike."),
    ("bottleneck", "A few register tokens through which the features are rebuilt before the decoder sees them, so that no more directions than their numbers can count. Rebuild error: squared error of the rebuilt tokens, as a share of their variance."),
    ("gap closed", "(accuracy of a method − accuracy of the best layer) / (oracle − accuracy of the best layer); the best layer is chosen on validation."),
    ("beyond chance", "The lower end of the 95 % interval of R_any lies above guessing and above the upper ends of permuted and refits."),
    ("95 % interval", "Percentile bootstrap over test images; which of them are errors is drawn anew each time. For permuted: the spread over the shuffles."),
)  # fmt: skip


def glossary() -> Markup:
    """Return the terms with their meanings."""
    return element(
        "dl", *(part for term, words in TERMS for part in (element("dt", term), element("dd", words)))
    )
