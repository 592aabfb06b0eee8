"""Adapters: a collection for LangChain, LlamaIndex and PyTerrier, a model for MTEB.

Each needs its package (`paragloss[langchain]`, ...), and nothing else imports them.
"""
