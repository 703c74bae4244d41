#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of ctxpropd and the words of ctxprop, in network namespaces of their own. Needs root.

    run.py [--build DIR] [NAME...]      names of cases; all without any

Prints "ok", "not ok" or "skip" per check; exits 1 when one is not ok.
"""
import argparse
import os
import pathlib
import signal
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))

import cases_bundle  # noqa: E402
import cases_config  # noqa: E402
import cases_devices  # noqa: E402
import cases_flows  # noqa: E402
import cases_journal  # noqa: E402
import cases_life  # noqa: E402
import cases_pods  # noqa: E402
import cases_start  # noqa: E402
import cases_store  # noqa: E402
import cases_words  # noqa: E402
import hooks  # noqa: E402
from bench import Bench, Report  # noqa: E402
from tried import may_be_late  # noqa: E402

CASES = {name[5:]: f for module in (cases_bundle, cases_config, cases_devices, cases_journal, cases_life, cases_pods, cases_start, cases_flows,
                                        cases_store, cases_words)
         for name, f in vars(module).items() if name.startswith("case_")}
ONCE = ("auto", "stale", "force", "words", "frugal", "collect", "translated",
        "starts", "preloaded", "descriptors", "store_bounds", "store_full", "store_reader",
        "pods", "pods_failing", "pods_plain", "metrics", "bundle", "config", "config_check", "config_default", "journal", "journal_away", "store_locked", "store_flood", "store_killed", "store_damaged", "store_heads")  # not once more with clsact


def run_case(report, build, name, way):
    """A case whose checks report themselves; once more if something that it waited for was late."""
    try:
        with Bench(report, build, way) as bench:
            CASES[name](bench)
            if bench.agent.process:
                text = bench.agent.log()
                bench.check("Sanitizer" not in text and "runtime error" not in text,
                            f"{name}: no complaint of a sanitizer", text)
    except Exception as error:  # noqa: BLE001
        if may_be_late(f"{way}: {name}", error):
            run_case(report, build, name, way)
            return
        report.check(False, f"{way}: {name}", traceback.format_exc())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("names", nargs="*", choices=[[], *CASES], metavar="NAME")
    given = parser.parse_args()
    report = Report()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    if os.geteuid():
        print("skip - everything: needs root")
        return 0
    for way in ("tcx", "clsact"):
        if way == "tcx" and not hooks.has_tcx():
            report.skip("tcx", "this kernel has none")
            continue
        for name in given.names or CASES:
            if way == "clsact" and name in ONCE and hooks.has_tcx():
                continue
            run_case(report, given.build, name, way)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
