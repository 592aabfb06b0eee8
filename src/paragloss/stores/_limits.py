"""Limits and search settings that both engines share.

Modules read them as attributes of this module, so that tests can change them in one place.
"""

from __future__ import annotations

#: Documents written to the engine with one request.
WRITE_BATCH = 1000
#: Records read with one request when all are read.
READ_BATCH = 1000
#: Documents written between two flushes of all files of the embedded engine; a long document counts as several.
FLUSH_INTERVAL = 10_000

#: Candidates that a walk through the HNSW graph keeps, without and with a filter, which thins the graph out. Recall@10
#: on 36,000 documents of 300 dimensions: 1.0 at 1.5 ms and, for a filter that keeps a third, 0.998 at 1.3 ms. With the
#: engine's default of 100 it was 0.99 and 0.86.
HNSW_EF = 256
HNSW_EF_FILTERED = 512
#: A search through quantized vectors rescores this many times as many candidates as are asked for.
OVERSAMPLING = 2.0
#: Documents with equal scores at the end of a ranking that are read, at most, to order them by id.
MAX_TIES = 10_000

#: From this many documents on, metadata fields are indexed; scanning fewer takes a few milliseconds.
MIN_DOCS_FOR_FIELD_INDEX = 1000
#: Metadata fields of a collection that are indexed, at most. An index takes ten files and five megabytes.
MAX_FIELD_INDEXES = 24

#: Bytes that must be free for a write: the engine writes through memory maps, and a full disk then crashes the process.
FREE_BYTES_TO_WRITE = 300_000_000
#: Bytes that must be free to open a folder for writing and to delete documents: opening writes to sparse files, too.
FREE_BYTES_TO_OPEN = 64_000_000
