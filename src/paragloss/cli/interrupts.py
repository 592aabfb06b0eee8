"""Ctrl-C: the first one lets a command stop in order, the second one ends the process. Neither prints a traceback."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from paragloss_command import INTERRUPTED, end_before_import  # Typer, too, exits with INTERRUPTED after Ctrl-C

#: Handlers of SIGINT that this module may replace.
_REPLACED_HANDLERS = (signal.default_int_handler, end_before_import)
#: Seconds until an interrupt is raised again that came where Python discards exceptions, such as in a destructor.
_SECONDS_UNTIL_RETRY = 0.05


@contextmanager
def report_interrupts() -> Iterator[None]:
    """Let Ctrl-C within the block end the process with one line and exit code 130.

    The first Ctrl-C raises KeyboardInterrupt, whose message is printed, so that a command writes what it has prepared.
    The second ends the process at once. What was acknowledged is on disk in both cases.
    """
    handler = InterruptHandler()
    handler.install()
    try:
        yield
    except KeyboardInterrupt as interrupt:
        handler.exit(str(interrupt))
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code == INTERRUPTED:  # how Typer ends after Ctrl-C
            handler.exit(_find_interrupt_message(error))
        handler.uninstall()
        raise
    handler.uninstall()


class InterruptHandler:
    """What SIGINT does in the command line's process."""

    def __init__(self) -> None:
        self._is_installed = self._is_stopping = self._is_reported = False
        self._earlier_hook = sys.unraisablehook

    def install(self) -> None:
        """Handle SIGINT, unless it is ignored, as it is for commands in the background of a shell."""
        is_main_thread = threading.current_thread() is threading.main_thread()
        if is_main_thread and signal.getsignal(signal.SIGINT) in _REPLACED_HANDLERS:
            signal.signal(signal.SIGINT, self)
            sys.unraisablehook = self._retry
            # Python gives up handlers at its end, and SIGINT would kill it. Called after all that is registered later.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
            self._is_installed = True

    def uninstall(self) -> None:
        """Handle interrupts as Python does again."""
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._earlier_hook

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt for a first signal, and end the process at once for a second one."""
        if self._is_stopping:
            self._report_stop("")
            os._exit(INTERRUPTED)
        self._is_stopping = True
        raise KeyboardInterrupt

    def exit(self, message: str) -> NoReturn:
        """Print why the command ends and exit; a further SIGINT ends the process at once."""
        self._is_stopping = True
        self._report_stop(message)
        sys.exit(INTERRUPTED)

    def _report_stop(self, message: str) -> None:
        """Print once in the life of the process that it was stopped.

        A signal may come while Python prints something, so the line is written to the descriptor of standard error.

        :param message: what was finished; "" for a general remark.
        """
        if self._is_reported:
            return
        self._is_reported = True
        from paragloss.cli.terminal_text import plain  # not above: until it is loaded, Ctrl-C prints a traceback

        line = f"paragloss: stopped; {plain(message) or 'what was reported as done is kept'}\n"
        with suppress(OSError):
            os.write(2, line.encode(errors="backslashreplace"))

    def _retry(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Raise an interrupt again that came where Python discards exceptions."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._earlier_hook(unraisable)
        elif not self._is_reported:
            self._is_stopping = False
            retry = threading.Timer(_SECONDS_UNTIL_RETRY, signal.raise_signal, [signal.SIGINT])
            retry.daemon = True
            retry.start()


def _find_interrupt_message(ending: BaseException) -> str:
    """Return the message of the KeyboardInterrupt that caused an exit, "" if there is none."""
    cause: BaseException | None = ending
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return str(cause) if cause is not None else ""
