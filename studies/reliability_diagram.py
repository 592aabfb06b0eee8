"""Draw the table of reliability in docs/understand/fusion.md as a diagram.

    python studies/reliability_diagram.py docs/understand/fusion.md docs/understand/reliability.svg

A point for each bin of the table: the mean probability across, the share of right documents upwards; its area is
proportional to the logarithm of the number of candidates. On the diagonal both are equal.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import NamedTuple

SIZE, MARGIN = 320, 40  # of the plotting area, and around it, in pixels
ROW = re.compile(r"^\| [\d.]+ to [\d.]+ \| ([\d,]+) \| (\d*\.\d+) \| (\d*\.\d+) \|$", re.MULTILINE)


class Bin(NamedTuple):
    """A row of the table."""

    n_candidates: int
    mean_probability: float
    share_right: float


def main() -> None:
    """Read the command line and write the diagram."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("diagram", type=Path)
    arguments = parser.parse_args()
    arguments.diagram.write_text(draw_diagram(read_bins(arguments.page.read_text("utf-8"))), "utf-8")


def read_bins(page: str) -> list[Bin]:
    """Read the rows of the table of reliability."""
    return [Bin(int(n.replace(",", "")), float(mean), float(right)) for n, mean, right in ROW.findall(page)]


def draw_diagram(bins: list[Bin]) -> str:
    """Return the diagram as SVG."""
    width = SIZE + 2 * MARGIN
    points = [(place_x(row.mean_probability), place_y(row.share_right), row.n_candidates) for row in bins]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {width}" '
        'font-family="sans-serif" font-size="12">',
        "<title>Share of right documents by the probability shown</title>",
        f'<path d="M{place_x(0)} {place_y(1)}V{place_y(0)}H{place_x(1)}" fill="none" stroke="#666"/>',
        f'<path d="M{place_x(0)} {place_y(0)}L{place_x(1)} {place_y(1)}" stroke="#999" stroke-dasharray="4"/>',
        *draw_labels(),
        f'<polyline points="{" ".join(f"{x:.0f},{y:.0f}" for x, y, _ in points)}" fill="none" stroke="#1565c0"/>',
    ]
    lines += [
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{math.sqrt(2 * math.log(n)):.1f}" fill="#1565c0"/>' for x, y, n in points
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def draw_labels() -> list[str]:
    """Return the numbers and names of the axes."""
    labels = [
        f'<text x="{place_x(value):.0f}" y="{place_y(0) + 16:.0f}" text-anchor="middle">{value:g}</text>'
        f'<text x="{place_x(0) - 6:.0f}" y="{place_y(value) + 4:.0f}" text-anchor="end">{value:g}</text>'
        for value in (0, 0.25, 0.5, 0.75, 1)
    ]
    middle = MARGIN + SIZE / 2
    labels.append(f'<text x="{middle}" y="{SIZE + 2 * MARGIN - 8}" text-anchor="middle">probability shown</text>')
    return [*labels, f'<text x="{MARGIN + 6}" y="{MARGIN - 10}">share of right documents</text>']


def place_x(value: float) -> float:
    """Return the horizontal position of a probability."""
    return MARGIN + SIZE * value


def place_y(value: float) -> float:
    """Return the vertical position of a share."""
    return MARGIN + SIZE * (1 - value)


if __name__ == "__main__":
    main()
