"""The command line itself: one line and an exit code for anything that goes wrong, and the options commands share."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections import Counter
from typing import Annotated

import typer

from paragloss import __version__, hosts
from paragloss.cli.help_layout import GroupedCommands, Program
from paragloss.cli.terminal_text import plain, plain_lines
from paragloss.errors import InputError, LineSyntaxError, MissingExtraError, ParaglossError

#: What is installed with which extra; what else is missing is a fault of ours.
_EXTRAS = {"matplotlib": "lab", "torch": "train"}
#: How many warnings of one kind are shown.
_ENOUGH = 5
_warned: Counter[str] = Counter()

app = Program(
    name="paragloss",
    cls=GroupedCommands,
    help="Search documents in languages you don't read, and see why each one matched.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Location = Annotated[str, typer.Argument(metavar="COLLECTION", help="A folder, or qdrant+http://host:port/name.")]
In = Annotated[
    str,
    typer.Option(
        "--in", metavar="COLLECTION", help="The collection to search: a folder, or qdrant+http://host:port/name."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def main() -> None:
    """Run a command; one line and an exit code for anything that goes wrong."""
    debug = "--debug" in sys.argv or bool(os.environ.get("PARAGLOSS_DEBUG"))
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    warnings.showwarning = _warn
    _prepare_streams()
    try:
        _allow_named_hosts()
        app()
    except ParaglossError as error:
        if debug:
            raise
        # A line of the user's with the place of the mistake stays as it is; any other message is one line.
        message = plain_lines(str(error)) if isinstance(error, LineSyntaxError) else plain(" ".join(str(error).split()))
        print(f"paragloss: error: {message}", file=sys.stderr)
        sys.exit(1)
    except SystemExit as ended:
        if ended.code == 130:  # what typer makes of Ctrl-C
            print(f"paragloss: stopped; {_kept(ended) or 'what was reported as done is kept'}", file=sys.stderr)
        raise
    except MemoryError as error:
        print(f"paragloss: error: not enough memory ({error}); give less at once, or smaller settings", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        if debug:
            raise
        _discard_output()
        print(f"paragloss: error: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
            print(f"paragloss: error: {MissingExtraError(error.name, _EXTRAS[error.name])}", file=sys.stderr)
            sys.exit(1)
        print(f"paragloss: internal error: {plain(repr(error))} (--debug shows where)", file=sys.stderr)
        sys.exit(70)


def _prepare_streams() -> None:
    """Make printing possible wherever the command runs: with a closed standard output, and in a locale that has no
    letters beyond ASCII, which are then written as escapes."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the descriptor is closed; the next file opened would take its number
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Give up on standard output, which may be what failed: flushing it again at the end would fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _allow_named_hosts() -> None:
    """Take every `--allow-host HOST` out of the arguments and allow these hosts, now and later."""
    arguments = sys.argv
    while "--allow-host" in arguments:
        position = arguments.index("--allow-host")
        if position + 1 == len(arguments):
            raise InputError("--allow-host needs a host, such as `--allow-host api.example.org`")
        hosts.allow_host(arguments[position + 1])
        arguments = arguments[:position] + arguments[position + 2 :]
    sys.argv = arguments


def _kept(ended: BaseException) -> str:
    """What was said of the work when it was stopped."""
    cause: BaseException | None = ended
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return plain(cause) if cause is not None else ""


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Warnings are lines too. Of one kind, such as a guessed encoding for each of many files, a few will do."""
    text = plain(message)
    kind = text.split(": ")[-1]
    _warned[kind] += 1
    if _warned[kind] <= _ENOUGH:
        more = " (and more of the same)" if _warned[kind] == _ENOUGH else ""
        print(f"paragloss: warning: {text}{more}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"paragloss {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Search documents in languages you don't read, and see why each one matched. --debug shows tracebacks;
    --allow-host HOST lets models and translation engines of collections contact a host."""
