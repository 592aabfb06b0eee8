"""Reproductions of the papers' tables and figures on public data. Run from a clone: `python -m papers list`.

`recipes.toml` declares them: a recipe's data, columns, parts and the paper's own figures. `tables/` has the functions
that measure. Our results are in `results.json`, those of smoke runs in `smoke.json`.
"""
