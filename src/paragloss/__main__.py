"""`python -m paragloss` is the command line."""

from paragloss.cli import main

if __name__ == "__main__":
    main()
