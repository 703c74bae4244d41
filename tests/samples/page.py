# SPDX-License-Identifier: Apache-2.0
"""Tables in docs/profile.md, each between two comments with its name."""
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/profile.md"


def read(name):
    """The rows of a table, each a list of cells, as they are now."""
    table = PAGE.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")[1].split(f"<!-- /{name} -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def write(name, text):
    """Put a table in place of the one that is there."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    PAGE.write_text(before + begin + text + "\n" + end + rest.split(end)[1], encoding="utf-8")
