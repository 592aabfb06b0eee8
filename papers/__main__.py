"""List and run the reproductions, get their data sets, and record what was measured.

python -m papers list | run NAME... | record FOLDER | data list | data get NAME
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from papers import data_sets, invented_data, reporting, runner
from papers.corpora import DEVICE_VARIABLE
from papers.recipes import load_recipe, recipe_names
from papers.verdicts import describe_verdicts
from paragloss.errors import ParaglossError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return 1 if a recipe fails or its results differ from the recorded ones."""
    options = _parse_arguments(arguments)
    try:
        if options.command == "list":
            return list_recipes()
        if options.command == "data":
            return list_or_get_data(options)
        if options.command == "record":
            reporting.record_results(options.folder, smoke=options.smoke)
            return 0
        names = options.names or recipe_names()
        return max(run_and_check(name, options) for name in names)
    except ParaglossError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 1


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m papers", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list all recipes, with minutes of one core and missing data")
    run = commands.add_parser("run", help="measure recipes (all without a name) and compare with the recorded results")
    run.add_argument("names", nargs="*", metavar="NAME")
    run.add_argument("--smoke", action="store_true", help="run on a little data, in seconds")
    run.add_argument("--out", default="results", help="folder for results; an interrupted run continues there")
    run.add_argument("--seeds", type=int, nargs="+", help="random seeds, such as 0 1 2")
    run.add_argument("--processes", type=int, default=1, metavar="N", help="measure N parts and seeds at a time")
    run.add_argument("--device", default="cpu", help="train the networks of smooth ordinal learning on it: cpu or cuda")
    run.add_argument("--part", action="append", default=[], help="run this part only; repeatable")
    data = commands.add_parser("data", help="list the data sets that recipes read, or get one")
    actions = data.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="list all data sets: size, licence, source, and whether they are present")
    get = actions.add_parser("get", help="download a data set, or convert downloaded files, into PARAGLOSS_DATA")
    get.add_argument("name", metavar="NAME")
    get.add_argument("--from", dest="raw_folder", type=Path, metavar="FOLDER", help="folder of downloaded files")
    get.add_argument("--langs", nargs="+", metavar="XX", help="only these languages")
    record = commands.add_parser("record", help="record what was measured, for later checks and the pages of results")
    record.add_argument("folder", type=Path, help="the folder that was given to run --out")
    record.add_argument("--smoke", action="store_true", help="record the values of smoke runs")
    return parser.parse_args(arguments)


def list_recipes() -> int:
    """Print each recipe with its minutes, the first missing file and its title."""
    results = reporting.read_results()
    tables = results["tables"] | {"results": results}
    for name in recipe_names():
        recipe = load_recipe(name)
        missing = recipe.list_missing_data()
        state = f"no {missing[0]}" if missing else "ready"
        minutes = f"{tables[name]['seconds'] / 60:.0f}" if name in tables else "?"
        print(f"{name:22} {minutes:>4} min  {state:28} {recipe.title}")
    return 0


def list_or_get_data(options: argparse.Namespace) -> int:
    """List the data sets, or download or convert one."""
    if options.action == "list":
        print(*data_sets.describe_data_sets(), sep="\n")
    else:
        data_sets.get_data_set(options.name, raw_folder=options.raw_folder, langs=options.langs)
        print(f"{options.name}: written to {data_sets.find_data_set(options.name).folder}")
    return 0


def run_and_check(name: str, options: argparse.Namespace) -> int:
    """Run a recipe, print its table and verdicts, and OK or FAIL against the recorded results.

    A smoke run without the recipe's data uses invented data, and nothing is compared.
    """
    os.environ[DEVICE_VARIABLE] = options.device
    recipe = load_recipe(name)
    is_invented = options.smoke and bool(recipe.list_missing_data())
    out = Path(options.out, f"{name}-invented" if is_invented else name)
    with invented_data.use_invented_data() if is_invented else nullcontext():
        results = runner.run_recipe(
            name,
            out,
            smoke=options.smoke,
            seeds=options.seeds,
            parts=options.part,
            processes=options.processes,
        )
    print(reporting.format_table(results))
    if is_invented:
        print(f"OK   {name}: runs on invented data; values mean nothing and are not compared")
        return 0
    if not options.smoke:
        for line in describe_verdicts(recipe, results.values):
            print(line)
    return print_checks(name, results)


def print_checks(name: str, results: runner.Results) -> int:
    """Print OK or FAIL against the recorded results; return 1 if a value differs or a model did not converge."""
    checks = list(runner.check_results(results, runner.read_recorded(smoke=results.smoke).get(name, {})))
    failures = [check for check in checks if not check.is_ok]
    for check in failures:
        recorded = f"recorded {check.recorded:.4f} ± {check.tolerance:.4f}"
        print(f"FAIL {name}, {check.place}: {check.measured:.4f}, {recorded}")
    problems = runner.list_unconverged_rows(results)
    for problem in problems:
        print(f"FAIL {name}: {problem}")
    is_ok = not failures and not problems
    print(f"{'OK' if is_ok else 'FAIL'}   {name}: {len(checks) - len(failures)} of {len(checks)} values as recorded")
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
