"""The program: its main function, one line and an exit code for every error, and options that commands share."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections import Counter
from typing import Annotated, NoReturn

import typer

from paragloss import __version__, hosts
from paragloss.cli.help_layout import GroupedCommands, Program
from paragloss.cli.terminal_text import plain, plain_lines
from paragloss.errors import InputError, LineSyntaxError, MissingExtraError, ParaglossError

#: Package -> the extra that installs it; any other missing package is our fault.
_EXTRAS = {"matplotlib": "lab", "torch": "train"}
#: Exit codes: of internal errors, and of a command whose output nobody reads any more, as shells have it.
_INTERNAL_ERROR, _BROKEN_PIPE = 70, 141
#: How many warnings of one kind are printed.
_MAX_WARNINGS_PER_KIND = 5
_warning_counts: Counter[str] = Counter()

app = Program(
    name="paragloss",
    cls=GroupedCommands,
    help="Search documents in languages you don't read, and see why each one matched.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Location = Annotated[str, typer.Argument(metavar="COLLECTION", help="A folder, or qdrant+http://host:port/name.")]
#: Commands about a collection take it as their argument; `--in` is understood as well.
OptionalLocation = Annotated[
    str, typer.Argument(metavar="COLLECTION", help="A folder, or qdrant+http://host:port/name.")
]
HiddenIn = Annotated[str, typer.Option("--in", metavar="COLLECTION", hidden=True, help="The same as COLLECTION.")]
#: Commands that take something else as their argument, such as a query, take the collection as an option.
In = Annotated[
    str, typer.Option("--in", metavar="COLLECTION", help="The collection: a folder, or qdrant+http://host:port/name.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def choose_collection(argument: str, option: str) -> str:
    """Return the collection that a command was given, as its argument or by --in."""
    if bool(argument) == bool(option):
        raise InputError("give one collection: a folder, or qdrant+http://host:port/name")
    return argument or option


def split_codes(codes: str) -> list[str] | None:
    """Split languages such as `da,it`; None, which stands for all languages, if there are none."""
    return codes.split(",") if codes else None


def get_reader_language() -> str:
    """Return the code of the language of the user's locale, "" if that is not set."""
    return os.environ.get("LANG", "")[:2]


def main() -> None:
    """Run a command; print any error as one line and exit with a code."""
    is_debugging = "--debug" in sys.argv or bool(os.environ.get("PARAGLOSS_DEBUG"))
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    warnings.showwarning = _warn
    _prepare_streams()
    try:
        _allow_named_hosts()
        app()
    except MemoryError as error:
        _fail(f"not enough memory ({error}); give less at once, or smaller settings")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_BROKEN_PIPE)
    except Exception as error:
        if is_debugging:
            raise
        _exit_with_error(error)


def _exit_with_error(error: Exception) -> NoReturn:
    """Print an error as one line and exit.

    The exit code is 1 for what a user can repair (input, files, a missing package), and that of an internal error
    for anything else.
    """
    if isinstance(error, LineSyntaxError):  # a line of the user's with the place of the mistake stays as it is
        _fail(plain_lines(str(error)))
    if isinstance(error, ParaglossError):
        _fail(plain(" ".join(str(error).split())))
    if isinstance(error, OSError):
        _discard_output()
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
        _fail(str(MissingExtraError(error.name, _EXTRAS[error.name])))
    print(f"paragloss: internal error: {plain(repr(error))} (--debug shows where)", file=sys.stderr)
    sys.exit(_INTERNAL_ERROR)


def _fail(message: str) -> NoReturn:
    """Print an error as one line, and exit with code 1."""
    print(f"paragloss: error: {message}", file=sys.stderr)
    sys.exit(1)


def _prepare_streams() -> None:
    """Make printing possible wherever the command runs: with a closed standard output, and in any locale.

    In a locale without letters beyond ASCII these are written as escapes.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the descriptor is closed; the next file opened would take its number
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Give up standard output, which may be what failed: flushing it again at the end would fail again."""
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


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line; of one kind, such as guessed encodings of files, only the first few."""
    text = plain(message)
    kind = text.split(": ")[-1]
    _warning_counts[kind] += 1
    if _warning_counts[kind] <= _MAX_WARNINGS_PER_KIND:
        ending = " (and more of the same)" if _warning_counts[kind] == _MAX_WARNINGS_PER_KIND else ""
        print(f"paragloss: warning: {text}{ending}", file=sys.stderr)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"paragloss {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Search documents in languages you don't read, and see why each one matched.

    --debug shows tracebacks; --allow-host HOST lets models and translation engines of collections contact a host.
    """
