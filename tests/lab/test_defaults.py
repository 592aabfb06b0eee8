"""What is done unless told otherwise, below the methods (their own settings are on a page that is held to them): every
measured figure was made with these, so another one here would be another figure everywhere."""

import inspect
from importlib import import_module

import pytest

DEFAULTS = {
    "lab.learning.collocations": {"collocations": {"npmi": 0.5}},
    "lab.learning.counting": {"count": {"stem": True, "max_terms": 200_000, "min_df": 2, "min_langs": 2}},
    "lab.learning.ibm_model1": {"learn": {"iterations": 5, "diagonal": 4.0, "null": 0.08, "candidates": 100}},
    "lab.learning.monolingual": {
        "train": {"dim": 300, "seed": 0, "window": 5},
        "cooccurrences": {"window": 5, "contexts": 30_000},
        "ppmi_vectors": {"seed": 0, "smoothing": 0.75},
    },
    "lab.learning.relevance": {"best_matches": {"budget": 1_000_000_000}},
    "lab.learning.sampling": {"source": {"difference": 1}},
    "lab.learning.smoothness": {"stability": {"bound": 1.0}, "generalisation": {"delta": 0.05}},
    "lab.solving.lists": {"weigh_lists": {"penalty": 0.01}},
    "lab.solving.maps": {
        "both_rotated": {"keep": 1.0},
        "canonical": {"keep": 1.0, "ridge": 1e-6},
        "mutual": {"k": 10},
        "refined": {"rounds": 5, "words": 10_000},
        "agreement": {"seed": 0, "words": 2000},
    },
    "lab.solving.oriented": {
        "oriented": {"seed": 0, "tolerance": 0.01},
        "conjugate_gradients": {"tolerance": 0.1, "most": 200},
    },
    "lab.solving.ridge": {"Regression.solve": {"most": 200}, "Regression.solve_plainly": {"most": 200}},
    "lab.solving.spectral": {"top_eigen": {"seed": 0, "tolerance": 0.01}, "singular": {"seed": 0, "tolerance": 0.01}},
    "lab.solving.spectrum": {
        "reduced_rank": {"seed": 0},
        "leading": {"solver": "converged", "seed": 0, "tolerance": 0.005, "checkpoint_every": 30.0},
    },
    "lab.descent.adversarial": {
        "adversarial": {
            "seed": 0, "epochs": 5, "steps": 1000, "batch": 32, "hidden": 512, "learning_rate": 0.1, "words": 50_000,
        }
    },
    "lab.descent.batches": {"by_length": {"window": 50}},
    "lab.descent.conjugate": {
        "minimise": {"iterations": 3, "searches": 3},
        "stepping": {"iterations": 3, "searches": 3},
    },
    "lab.descent.contrast": {"learn": {"reach": 0.1}, "contrast": {"scale": 10.0, "negatives": 1}},
    "lab.descent.graded": {"train": {"pool": 0, "decay": 1.0}, "pairs": {"pool": 0}, "ndcg": {"k": 5}},
    "lab.descent.loop": {"descend": {"optimizer": "adam", "epsilon": 1e-8, "decay": 1.0, "clip": None}},
    "lab.methods.alignment": {
        "seed_dictionary": {"words": 10_000, "fewest": 2},
        "health": {"seed": 0, "words": 2000},
    },
    "lab.methods.cr5": {
        "_pose": {"dim": 300, "stem": True, "max_terms": 200_000, "min_df": 2},
        "tune": {"folds": 3, "held_out": 1000, "seed": 0},
        "add_language": {"lambda_": 1.0, "max_terms": 200_000, "min_df": 2},
    },
    "lab.methods.knrm": {
        "fit_judged": {"dim": 300, "per_positive": 4, "difference": 1, "shared": False, "max_terms": 200_000},
        "_learn": {"epochs": 20, "batch": 64, "learning_rate": 0.001, "epsilon": 1e-5},
    },
    "lab.methods.ordinal": {
        "tune": {
            "thresholds": ((0.0, 0.5), (0.1, 0.6), (0.2, 0.7)), "epsilons": (0.25, 0.5, 1.0),
            "folds": 3, "negatives": 40,
        },
        "fit_judged": {"dim": 64, "epsilon": 1.0, "negatives": 40, "batch": 32, "epochs": 30, "max_terms": 100_000},
    },
    "lab.methods.subwords": {"extend": {"lambda_": 1.0, "max_grams": 200_000}},
    "lab.recipes.runner": {"run": {"smoke": False}, "collected": {"smoke": False}, "cells_of": {"smoke": False}},
    "lab.recipes.tables.smooth_figure_1": {"steepest": {"angles": 721}},
    "lab.recipes.tables.smooth_table_2": {"divided": {"smoke": False, "negatives": 40}},
    "evaluation.significance": {"compare": {"rounds": 100_000, "seed": 0}},
}  # fmt: skip


@pytest.mark.parametrize("module", DEFAULTS, ids=lambda module: module.rpartition(".")[2])
def test_what_is_done_unless_told(module):
    if ".descent." in module:
        pytest.importorskip("torch")
    loaded = import_module(f"paragloss.{module}")
    for function, expected in DEFAULTS[module].items():
        found = loaded
        for name in function.split("."):
            found = getattr(found, name)
        known = inspect.signature(found).parameters
        assert {name: known[name].default for name in expected} == expected, function
