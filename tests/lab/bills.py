# SPDX-License-Identifier: Apache-2.0
"""Judges bills of material by the schema of CycloneDX, which npm fetches once."""
import os
import subprocess
from pathlib import Path

LIBRARY = "@cyclonedx/cyclonedx-library"
PACKAGES = (f"{LIBRARY}@6.13.1", "ajv@8.17.1", "ajv-formats@3.0.1", "ajv-formats-draft2019@1.6.1")
JUDGE = f"""
const {{ Validation, Spec }} = require("{LIBRARY}");
const text = require("fs").readFileSync(0, "utf8");
new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text).then(wrong => {{
	console.log(JSON.stringify(wrong));
}});
"""


def folder():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"
    return cache / "cyclonedx-6.13.1"


def fetch():
    """The library, fetched once. It is whole when this was written."""
    whole = folder() / "whole"
    if not whole.exists():
        folder().mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", folder(), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund",
                        "--silent", *PACKAGES], check=True, timeout=300)
        whole.touch()


def complaints(text):
    """What is wrong with a bill; "null" if nothing is."""
    fetch()
    return subprocess.run(["node", "-e", JUDGE], input=text, check=True, capture_output=True, text=True, cwd=folder()).stdout.strip()
