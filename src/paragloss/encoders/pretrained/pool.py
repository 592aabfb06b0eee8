"""Many texts through a slow encoder: processes side by side, one thread each, results in order as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from paragloss.encoders.pretrained import Pretrained, Settings, build
from paragloss.errors import ModelError
from paragloss.types import Floats

#: Texts of one language, and that language.
Job: TypeAlias = tuple[Sequence[str], str]
_model: Pretrained | None = None


def encode(model: Pretrained, jobs: Iterable[Job], *, processes: int | None = None) -> Iterator[Floats]:
    """The rows of each job, in order; a few jobs ahead are read. `processes` is by default one a processor."""
    from paragloss.processes import in_order, processors  # which a query does not need

    number = processes or processors()
    if model.alone or number == 1:
        for texts, lang in jobs:
            yield model.passages.encode(texts, lang)
        return
    died = ModelError(f"a process encoding with {model.settings.source} died: is there memory for {number}?")
    yield from in_order(number, _open, model.settings, _encode, jobs, died)


def _open(settings: Settings) -> None:
    global _model
    _model = build(settings)


def _encode(job: Job) -> Floats:
    assert _model is not None
    return _model.passages.encode(*job)
