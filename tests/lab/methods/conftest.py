import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def learn_calls(monkeypatch):
    """What XCNN and S2Net ask `contrast.learn` for; nothing is learned."""
    from paragloss.lab.descent import contrast

    calls = []

    def note(parameters, term_vectors, pairs, compute_loss, training, *, batch_size):
        shapes = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
        call = {"shapes": shapes, "pairs": pairs, "loss": compute_loss.keywords, "training": training}
        calls.append(SimpleNamespace(**call, batch_size=batch_size))

    monkeypatch.setattr(contrast, "learn", note)
    return calls
