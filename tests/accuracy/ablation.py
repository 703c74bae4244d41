# SPDX-License-Identifier: Apache-2.0
"""The matrix with all rules of the engine, and without one: side by side."""
import dataclasses

HEAD = ("without", "row", "in flight", "calls", "right", "without it", "wrong", "without it")
WIDTHS = (18, 20, 9, 6, 6, 10, 5, 10)


@dataclasses.dataclass(frozen=True)
class Pair:
    """The same cell twice: with all rules, and without one."""
    rule: str
    every: object  # Cell
    without: object

    def columns(self):
        scores = self.every.score, self.without.score
        right = [f"{score.part('right'):.1f}" for score in scores]
        wrong = [str(score.wrongs()) for score in scores]
        return [self.rule, self.every.row, str(self.every.in_flight), str(scores[1].calls), *right, *wrong]


def pairs(rule, every, without):
    """Pairs of two lists of cells, of the same rows in the same order."""
    return [Pair(rule, *both) for both in zip(every, without, strict=True)]


def line(columns):
    return "  ".join(text.ljust(width) if i < 2 else text.rjust(width)
                     for i, (text, width) in enumerate(zip(columns, WIDTHS))).rstrip()


def markdown(found):
    """The table as it stands in docs/engine.md."""
    lines = [HEAD, ("---",) * len(HEAD), *[pair.columns() for pair in found]]
    return "\n".join(f"| {' | '.join(columns)} |" for columns in lines)
