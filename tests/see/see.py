#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What can be seen of requests by HTTP: metrics as Prometheus reads them, the API, and the page in a
real browser. Traffic of the demo (tests/demo), whose every request is known.

    see.py [--build DIR] [NAME...]
"""
import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ("lab", "demo", "profile")]

import cases_api  # noqa: E402
import cases_dashboard  # noqa: E402
import cases_http  # noqa: E402
import cases_metrics  # noqa: E402
import cases_page  # noqa: E402
import cases_profile  # noqa: E402
import cases_profile_page  # noqa: E402
from lab import Lab  # noqa: E402
from tried import tried  # noqa: E402
from world import World  # noqa: E402

# In this order: the last ones begin the agent again.
CASES = {name[5:]: case for module in (cases_metrics, cases_dashboard, cases_api, cases_page, cases_profile,
                                                   cases_profile_page, cases_http)
         for name, case in vars(module).items() if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (build)")
    parser.add_argument("names", nargs="*", choices=[[], *CASES], metavar="NAME")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is cleaned up
    with tempfile.TemporaryDirectory(prefix="ctxprop-see-", ignore_cleanup_errors=True) as folder, \
            Lab("see") as lab:
        world = World(lab, os.path.abspath(args.build), Path(folder))
        good = [tried(name, CASES[name], world) for name in args.names or CASES]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
