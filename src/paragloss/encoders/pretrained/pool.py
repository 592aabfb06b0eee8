"""Encode many texts with a deferred encoder in several processes, one thread each; results come in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from paragloss.encoders.pretrained import EncoderSettings, Pretrained, open_encoder
from paragloss.errors import ModelError
from paragloss.types import Floats

#: Texts of one language, and that language.
Job: TypeAlias = tuple[Sequence[str], str]

_worker_model: Pretrained | None = None


def encode_jobs(model: Pretrained, jobs: Iterable[Job], *, processes: int | None = None) -> Iterator[Floats]:
    """Yield the rows of each job in order. A few jobs are read ahead; `processes` is by default one per processor."""
    from paragloss.processes import processors, run_in_order  # not needed to encode a query

    process_count = processes or processors()
    if model.multithreaded or process_count == 1:
        for texts, lang in jobs:
            yield model.passages.encode(texts, lang)
        return
    died = ModelError(f"a process encoding with {model.settings.source} died: is there memory for {process_count}?")
    yield from run_in_order(process_count, _open_in_worker, model.settings, _encode_in_worker, jobs, died)


def _open_in_worker(settings: EncoderSettings) -> None:
    global _worker_model
    _worker_model = open_encoder(settings)


def _encode_in_worker(job: Job) -> Floats:
    assert _worker_model is not None
    return _worker_model.passages.encode(*job)
