"""Where people already are: a collection as LangChain, LlamaIndex or PyTerrier want it, a model as MTEB wants it.

Each is thin and needs its package (`paragloss[langchain]`, ...); nothing here is imported by anything else.
"""
