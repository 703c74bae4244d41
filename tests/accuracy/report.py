# SPDX-License-Identifier: Apache-2.0
"""Scores to a table, and the table to a verdict."""
import dataclasses
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEAD = ("row", "in flight", "calls", "right", "unknown", "wrong", "own", "bar", "", "by rule")


@dataclasses.dataclass(frozen=True)
class Way:
    """How the matrix is run."""
    short: bool = False
    cold: bool = False  # programs that have just been started


@dataclasses.dataclass(frozen=True)
class Bar:
    """Least per cent of right calls of a row, by requests in flight, and why it is that."""
    right: dict
    short: float  # in any cell of a short run, where what must be learned first weighs more
    note: str
    cold: float  # with programs that have just been started

    def least(self, in_flight, way):
        """The bar of a cell; 0 at numbers in flight that have none."""
        least = self.right.get(in_flight, 0)
        least = min(least, self.cold) if way.cold else least
        return min(least, self.short) if way.short else least


def read_cold():
    """{row: least per cent} of cold.tsv."""
    lines = (HERE / "cold.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {name: float(least) for name, least, _ in rows}


def read_bars():
    """{row: Bar} of bars.tsv and cold.tsv."""
    bars, columns, cold = {}, [], read_cold()
    for line in (HERE / "bars.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("# row\t"):
            columns = [int(word) for word in line.split("\t")[1:-2]]
        if not line.startswith("#"):
            name, *least, short, note = line.split("\t")
            bars[name] = Bar(dict(zip(columns, map(float, least))), float(short), note,
                             cold.get(name, 100))
    return bars


def rules(before, after):
    """What `ctxprop stats` counted meanwhile, of the rules: "loop 12; veto: spent 3"."""
    def grown(which):
        return [f"{name.removeprefix('by-').removeprefix('veto-')} {n - before.get(group, {}).get(name, 0)}"
                for group, counts in after.items() if which in group
                for name, n in counts.items() if n > before.get(group, {}).get(name, 0)]
    evidence, veto = grown("evidence"), grown("veto")
    return ", ".join(evidence) + ("; veto: " + ", ".join(veto) if veto else "")


@dataclasses.dataclass
class Cell:
    """A row at one number of requests in flight."""
    row: str
    in_flight: int
    score: object
    rules: str
    bar: float
    failed: list  # requests that went wrong, in words

    def broken(self):
        """What may not be in any cell, in words."""
        score = self.score
        found = self.failed + score.faults
        if score.wrongs():
            found.append(f"{score.wrongs()} calls carry another request's trace id")
        return found if score.calls else [*found, "no call arrived"]

    def missed(self):
        """The cell is not as it has to be."""
        low = self.score.part("right") < self.bar
        return low or bool(self.broken())

    def columns(self):
        score = self.score
        own = f"{score.own} ({score.own_wrong} wrong)" if score.own else ""
        return [self.row, str(self.in_flight), str(score.calls),
                *[f"{score.part(name):.1f}" for name in ("right", "unknown", "wrong")], own,
                f"{self.bar:g}", "MISSED" if self.missed() else "met", self.rules]


WIDTHS = (20, 9, 6, 6, 7, 6, 15, 5, 6, 0)


def line(columns):
    """One line of the table; rows are printed as they come, so widths are fixed."""
    return "  ".join(text.ljust(width) if i in (0, 6, 8, 9) else text.rjust(width)
                     for i, (text, width) in enumerate(zip(columns, WIDTHS))).rstrip()
