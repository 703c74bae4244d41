#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""message_seeds.py FOLDER: profiles of pprof to begin with, compressed and not."""
import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "profile"))

import made  # noqa: E402

WAITS = (("cpu", "nanoseconds"), ("offcpu", "nanoseconds"))
folder = Path(sys.argv[1])
for name, data in (("made", made.message_of()), ("one", made.message_of(made.STACKS[:1])),
                   ("waits", made.message_of(made.STACKS[:2], WAITS)), ("none", made.message_of(()))):
    (folder / f"seed-{name}").write_bytes(data)
    (folder / f"seed-{name}.gz").write_bytes(gzip.compress(data))
