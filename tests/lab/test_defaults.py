"""What is done unless told otherwise, below the methods (their own settings are on a page that is held to them): every
measured figure was made with these, so another one here would be another figure everywhere."""

import inspect
from importlib import import_module

import pytest

DEFAULTS = {
    "lab.learning.parallel_terms": {"collocations": {"npmi": 0.5}},
    "lab.learning.counting": {"count": {"stem": True, "max_terms": 200_000, "min_df": 2, "min_langs": 2}},
    "lab.learning.ibm_model1": {"learn": {"iterations": 5, "diagonal": 4.0, "null": 0.08, "candidates": 100}},
    "lab.learning.monolingual": {
        "train": {"seed": 0, "window": 5},
        "cooccurrences": {"window": 5, "contexts": 30_000},
        "ppmi_vectors": {"seed": 0, "smoothing": 0.75},
    },
    "lab.learning.relevance": {"best_matches": {"budget": 1_000_000_000}},
    "lab.learning.sampling": {"source": {"difference": 1}},
    "lab.learning.smoothness": {"stability": {"bound": 1.0}, "generalisation": {"delta": 0.05}},
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
    "lab.descent.conjugate": {
        "minimise": {"iterations": 3, "searches": 3},
        "stepping": {"iterations": 3, "searches": 3},
    },
    "lab.descent.contrast": {"learn": {"reach": 0.1}, "contrast": {"scale": 10.0, "negatives": 1}},
    "lab.descent.graded": {"train": {"pool": 0}, "pairs": {"pool": 0}, "ndcg": {"k": 5}},
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


#: What recipes vary and how much they take, and the numbers that papers or measurements gave methods.
CONSTANTS = {
    "lab.recipes.adhoc": {"DEPTH": 100},
    "lab.recipes.bilingual": {"EPOCHS": 4, "DIM": 100},
    "lab.recipes.originals": {"WMT14": 100_000},
    "lab.recipes.searchlog": {"SHOWN": 10, "SHARES": (0.4, 0.2, 0.1)},
    "lab.recipes.tables.cr5_figure_2": {"CUTS": (1, 2, 3, 5, 10, 20, 50, 100)},
    "lab.recipes.tables.cr5_table_3": {"TAUGHT": 10_000},
    "lab.recipes.tables.knrm_stages": {"MOST": 2000},
    "lab.recipes.tables.smooth_figure_1": {
        "LENGTHS": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0), "EPSILONS": (0.0, 0.1, 0.25, 0.5, 1.0, 2.0),
    },
    "lab.recipes.tables.smooth_figure_2": {"SCORES": tuple(n / 10 for n in range(-10, 11))},
    "lab.recipes.tables.smooth_figure_3": {"EDGES": tuple(n / 20 for n in range(-20, 21))},
    "lab.recipes.tables.smooth_figure_4": {
        "EPSILONS": {"0": 1e-6, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "1.5": 1.5, "2": 2.0},
        "THETAS": ((0.2, 0.7), (0.1, 0.4), (0.05, 0.25), (0.3, 0.85)),
    },
    "lab.recipes.tables.smooth_figure_5": {"NUMBERS": (20, 40, 60, 80, 100)},
    "lab.recipes.tables.smooth_table_2": {
        "THETAS": {"three-part": ((0.2, 0.55, 0.9), (0.2, 0.5, 0.75))}, "TWO": ((0.2, 0.7), (0.1, 0.6)),
        "EPSILONS": (1.0, 0.5, 2.0), "FEW": 6,
    },
    "lab.recipes.tables.thesis_head_and_tail": {"TAIL": 50, "COMMONEST": 5000},
    "lab.recipes.tables.thesis_table_5_3": {"TAUGHT": 10_000, "TOPS": (1, 3, 5)},
    "lab.recipes.tables.thesis_table_6_2": {"DIFFERENCE": 100},
    "lab.recipes.tables.thesis_table_6_9": {"BOUNDS": {"low": 20, "middle": 50, "high": 100}},
    "lab.recipes.tables.thesis_table_6_10": {"SHARES": (5.8, 11.7, 17.5, 23.4, 46.8, 70.2, 93.5, 100.0)},
    "lab.recipes.tables.thesis_table_6_12": {"FEWEST": 10},
    "lab.recipes.tables.xcnn_modes": {
        "PAPER": {
            "optimizer": "cg", "hub_loss": "difference", "negatives": 1, "hub_bias": -1.0, "bias": -1.5, "patience": 5,
        },
    },
    "lab.recipes.tables.xcnn_table_1": {"ALIKE": {"dim": 128, "max_terms": 10_000}, "LEAST": 3},
    "lab.recipes.tasks": {"FULL": (3000, 1200, 150, 400)},
    "lab.learning.counting": {"_DOCUMENTS_PER_DF": 500},
    "lab.learning.parallel_terms": {"SENTENCE": 64, "LEAST": 10},
    "lab.learning.relevance": {"_K1": 1.2, "_B": 0.75, "_CANDIDATES": 8},
    "lab.learning.sampling": {"NEAREST": 20},
    "lab.solving.arrays": {"PANEL": 64},
    "lab.solving.oriented": {"GAMMA": 0.3},
    "lab.solving.spectrum": {
        "_BASIS": {"early": 1.5, "one-pass": 2.6}, "_STEPS": 5, "_PASSES": 3, "SMALL": 1500, "MOST_DENSE": 20_000,
    },
    "lab.descent.adversarial": {"_SMOOTHING": 0.1, "_DROPOUT": 0.1, "_BETA": 0.01, "_TURNS": 5},
    "lab.descent.autoencoder": {"SPREAD": 0.01, "_MOST_HELD_OUT": 1000},
    "lab.descent.batches": {"_HELD_OUT": 0.05, "_FEWEST_HELD_OUT": 20, "_STEPS": 20},
    "lab.descent.conjugate": {"_SUFFICIENT": 0.0001, "_LEAP": 3.0, "_BACK": 0.1},
    "lab.descent.contrast": {"_MOST_HELD_OUT": 2000},
    "lab.descent.loop": {"BETAS": (0.9, 0.999)},
    "lab.descent.towers": {"WINDOW": 3, "FILTERS": 300, "UNITS": 64, "DROPOUT": 0.4, "LONGEST": 200},
    "lab.methods.alignment": {"_ALARM": 0.25},
    "lab.methods.cr5": {"LAMBDAS": (0.1, 0.3, 1.0, 3.0)},
    "lab.methods.knrm": {"_STANDING": 3, "_SURER": 3},
    "lab.methods.neighbours": {"TRUST": 0.25},
    "lab.methods.ordinal": {"ENOUGH": 200, "POOL": 128, "SOSL": (0.2, 0.7), "THREE_PART": (0.2, 0.55, 0.9)},
    "lab.methods.s2net": {"SPREAD": 0.1},
    "lab.methods.xcnn": {"SPREAD": 0.1},
}  # fmt: skip


@pytest.mark.parametrize("module", CONSTANTS, ids=lambda module: module.rpartition(".")[2])
def test_what_figures_were_measured_with(module):
    if ".descent." in module:
        pytest.importorskip("torch")
    loaded = import_module(f"paragloss.{module}")
    assert {name: getattr(loaded, name) for name in CONSTANTS[module]} == CONSTANTS[module]
