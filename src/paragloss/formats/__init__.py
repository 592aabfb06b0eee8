"""One file per format: `read_*` are iterators, `write_*` write.

The front doors choose by name and content: `documents.read_documents`, `queries.read_queries`.
"""
