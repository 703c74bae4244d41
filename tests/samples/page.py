# SPDX-License-Identifier: Apache-2.0
"""Tables in docs/profile.md, each between two comments with its name."""
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/profile.md"


def write(name, text):
    """Put a table in place of the one that is there."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    PAGE.write_text(before + begin + text + "\n" + end + rest.split(end)[1], encoding="utf-8")
