"""The laboratory's commands: they add themselves to the command line through the entry point `paragloss.commands`."""

from paragloss.lab.commands import click_logs_commands, training

__all__ = ["click_logs_commands", "training"]
