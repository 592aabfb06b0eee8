"""A rotation learned without a dictionary: every step as the paper writes it, computed plainly."""

import math

import numpy as np
import pytest

from paragloss.lab.solving.maps import learn_rotation, make_unit_rows, measure_mean_cosine

torch = pytest.importorskip("torch")

from paragloss.lab.descent import adversarial as adversarial_module  # noqa: E402


def make_spaces(words):
    rng = np.random.default_rng(0)
    return [make_unit_rows(rng.standard_normal((words, 3)).astype(np.float32)) for _ in range(2)]


def learn_as_in_the_paper(source, target, *, seed, epochs, steps, batch_size, hidden, rate):
    """Conneau et al., section 2.1 and 3.1: a smoothing of .1, a dropout of .1, five turns of the discriminator for one
    of the map, beta .01, the rate shrunk by .98 and halved when the mean cosine falls."""
    generator = torch.Generator().manual_seed(seed)
    dim = source.shape[1]
    shapes = [(hidden, dim), (hidden, hidden), (1, hidden)]
    # Uniform within 1 / sqrt(inputs).
    layers = [(torch.rand(shape, generator=generator) * 2 - 1) / math.sqrt(shape[1]) for shape in shapes]
    layers += [torch.zeros(shape[0]) for shape in shapes]
    P = torch.eye(dim)

    def loss(layers, P, smoothed_label):
        drawn = [
            torch.from_numpy(rows)[torch.randint(len(rows), (batch_size,), generator=generator)]
            for rows in (source, target)
        ]
        x = torch.cat([drawn[0] @ P, drawn[1]])
        x = torch.where(torch.rand(x.shape, generator=generator) < 0.1, 0.0, x / 0.9)
        for weight, bias in zip(layers[:2], layers[3:5], strict=True):
            x = x @ weight.T + bias
            x = torch.where(x > 0, x, 0.2 * x)
        likely = 1 / (1 + torch.exp(-(x @ layers[2].T + layers[5])[:, 0]))
        goal = torch.tensor([smoothed_label] * batch_size + [1 - smoothed_label] * batch_size)
        return -(goal * likely.log() + (1 - goal) * (1 - likely).log()).mean()

    def take_step(parameters, value):
        slopes = torch.autograd.grad(value, parameters)
        return [(p - rate * slope).detach().requires_grad_() for p, slope in zip(parameters, slopes, strict=True)]

    best_map, best_score = None, -math.inf
    for _ in range(epochs):
        for _ in range(steps):
            for _ in range(5):
                layers = [part.requires_grad_() for part in layers]
                layers = take_step(layers, loss(layers, P.detach(), 0.9))
            (P,) = take_step([P.requires_grad_()], loss([part.detach() for part in layers], P, 0.1))
            P = (1.01 * P - 0.01 * P @ P.T @ P).detach()
        score = measure_mean_cosine(make_unit_rows(source @ P.numpy()), target)
        rate *= 0.98 if score >= best_score else 0.5
        if score > best_score:
            best_map, best_score = P.numpy(), score
    return learn_rotation(np.eye(dim, dtype=np.float32), best_map)


@pytest.mark.parametrize("seed", [1, 2])
def test_learning_equals_the_steps_of_the_paper(seed):
    source, target = make_spaces(12)
    sizes = {"epochs": 4, "steps": 3, "batch_size": 5, "hidden": 4}
    # A rate this high makes the measure_mean_cosine fall now and then.
    learned = adversarial_module.learn_adversarial_rotation(source, target, seed=seed, learning_rate=2.0, **sizes)
    np.testing.assert_allclose(learned, learn_as_in_the_paper(source, target, seed=seed, rate=2.0, **sizes), atol=1e-4)
