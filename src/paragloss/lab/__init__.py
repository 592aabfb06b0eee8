"""The laboratory: how methods learn, what the papers' tables say, what clicks and judgments teach.

It stands on the search wing and plugs into it by entry points (`paragloss.methods`, `paragloss.commands`); searching,
serving and evaluating do without this folder.
"""
