"""The command `paragloss`, outside the package: Ctrl-C has a handler before anything of the package is imported."""

import os
import signal

#: What shells report of a process that SIGINT has ended.
INTERRUPTED = 130
_MESSAGE = b"paragloss: stopped; nothing was done yet\n"


def main() -> None:
    """Run the command that the arguments name; Ctrl-C ends the process with one line while the package is imported."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else the shell or a program has set another
        signal.signal(signal.SIGINT, end_before_import)
    from paragloss.cli import main as run

    run()


def end_before_import(number: int, frame: object) -> None:
    """End the process; `paragloss.cli` replaces this handler."""
    os.write(2, _MESSAGE)
    os._exit(INTERRUPTED)
