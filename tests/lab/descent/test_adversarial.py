"""A rotation learned without a dictionary: every step as the paper writes it, computed plainly."""

import math

import numpy as np
import pytest

from paragloss.lab.solving.maps import criterion, procrustes, unit

torch = pytest.importorskip("torch")

from paragloss.lab.descent import adversarial as learning  # noqa: E402


def spaces(words):
    rng = np.random.default_rng(0)
    return [unit(rng.standard_normal((words, 3)).astype(np.float32)) for _ in range(2)]


def by_the_paper(source, target, *, seed, epochs, steps, batch, hidden, rate):
    """Conneau et al., section 2.1 and 3.1: a smoothing of .1, a dropout of .1, five turns of the discriminator for one
    of the map, beta .01, the rate shrunk by .98 and halved when the criterion falls."""
    chance = torch.Generator().manual_seed(seed)
    dim = source.shape[1]
    shapes = [(hidden, dim), (hidden, hidden), (1, hidden)]
    # Uniform within 1 / sqrt(inputs).
    layers = [(torch.rand(shape, generator=chance) * 2 - 1) / math.sqrt(shape[1]) for shape in shapes]
    layers += [torch.zeros(shape[0]) for shape in shapes]
    P = torch.eye(dim)

    def loss(layers, P, said):
        drawn = [
            torch.from_numpy(rows)[torch.randint(len(rows), (batch,), generator=chance)] for rows in (source, target)
        ]
        x = torch.cat([drawn[0] @ P, drawn[1]])
        x = torch.where(torch.rand(x.shape, generator=chance) < 0.1, 0.0, x / 0.9)
        for weight, bias in zip(layers[:2], layers[3:5], strict=True):
            x = x @ weight.T + bias
            x = torch.where(x > 0, x, 0.2 * x)
        likely = 1 / (1 + torch.exp(-(x @ layers[2].T + layers[5])[:, 0]))
        goal = torch.tensor([said] * batch + [1 - said] * batch)
        return -(goal * likely.log() + (1 - goal) * (1 - likely).log()).mean()

    def stepped(parameters, value):
        slopes = torch.autograd.grad(value, parameters)
        return [(p - rate * slope).detach().requires_grad_() for p, slope in zip(parameters, slopes, strict=True)]

    best, highest = None, -math.inf
    for _ in range(epochs):
        for _ in range(steps):
            for _ in range(5):
                layers = [part.requires_grad_() for part in layers]
                layers = stepped(layers, loss(layers, P.detach(), 0.9))
            (P,) = stepped([P.requires_grad_()], loss([part.detach() for part in layers], P, 0.1))
            P = (1.01 * P - 0.01 * P @ P.T @ P).detach()
        score = criterion(unit(source @ P.numpy()), target)
        rate *= 0.98 if score >= highest else 0.5
        if score > highest:
            best, highest = P.numpy(), score
    return procrustes(np.eye(dim, dtype=np.float32), best)[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_learning_is_that_of_the_paper_step_by_step(seed):
    source, target = spaces(12)
    sizes = {"epochs": 4, "steps": 3, "batch": 5, "hidden": 4}
    # A rate this high makes the criterion fall now and then.
    found = learning.adversarial(source, target, seed=seed, learning_rate=2.0, **sizes)
    np.testing.assert_allclose(found, by_the_paper(source, target, seed=seed, rate=2.0, **sizes), atol=1e-4)


def test_the_rate_shrinks_while_the_criterion_holds_and_halves_when_it_falls(monkeypatch):
    rates, scores = [], iter([0.5, 0.5, 0.4, 0.6])
    plain = learning._step
    monkeypatch.setattr(
        learning, "_step", lambda parameters, loss, rate: rates.append(rate) or plain(parameters, loss, rate)
    )
    monkeypatch.setattr(learning, "criterion", lambda mapped, target: next(scores))
    learning.adversarial(*spaces(12), epochs=4, steps=1, batch=5, hidden=4, learning_rate=1.0)
    assert rates[::6] == pytest.approx([1.0, 0.98, 0.98**2, 0.98**2 / 2])


def test_the_commonest_words_teach_and_the_commonest_five_thousand_judge(monkeypatch):
    judged = []
    monkeypatch.setattr(learning, "criterion", lambda mapped, target: judged.append((len(mapped), len(target))) or 0.0)
    source, target = spaces(5002)
    source[3:], target[3:] = np.nan, np.nan  # whoever learns from others has no rotation
    with np.errstate(invalid="ignore"):
        found = learning.adversarial(source, target, epochs=1, steps=40, batch=5, hidden=4, words=3)
    assert judged == [(5000, 5000)]
    assert np.isfinite(found).all()
