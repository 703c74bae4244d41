#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of an installation whose libraries are the host's, as a package's are."""
import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import closure  # noqa: E402
import product  # noqa: E402
import sbom  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="where it was compiled")
    parser.add_argument("--installed", type=Path, required=True, help="the folder (DESTDIR) of the installation")
    parser.add_argument("--out", type=Path, required=True, help="the file")
    args = parser.parse_args()
    build, programs = product.Build(args.build), product.programs(args.installed)
    text = sbom.bill(build.version, product.iso(int(os.environ["SOURCE_DATE_EPOCH"])), programs,
                     closure.libraries(programs.values()), built_in=build.compiled_in)
    args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
