"""The laboratory's commands: they add themselves to the command line through the entry point `paragloss.commands`."""

from paragloss.lab.commands import advice, click_logs_commands, training

__all__ = ["advice", "click_logs_commands", "training"]
