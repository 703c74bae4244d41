# SPDX-License-Identifier: Apache-2.0
"""What cases of outputs.py have in common: the command, and the tools of others."""
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import made
from tried import Skip


def equal(got, wanted, what):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


class World:
    """The command, a folder, and in it a profile that is known."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.made = made.write(folder / "made.pb.gz")

    def profile(self, *words, check=True, **options):
        done = subprocess.run([f"{self.build}/ctxprop", "profile", *map(str, words)], text=True,
                              errors="replace", capture_output=True, timeout=60, **options)
        assert done.returncode == 0 or not check, f"{words}: {done.returncode} {done.stderr}"
        return done

    def refused(self, *words, **options):
        """What a command that has to fail says."""
        done = self.profile(*words, check=False, **options)
        assert done.returncode in (1, 2), f"{words}: {done.returncode} {done.stderr}"
        return done.stderr

    def said(self, *words):
        return json.loads(self.profile(*words, "-j").stdout)

    def written(self, name, *words):
        """A file that `show` writes of the profile that is known."""
        self.profile("show", self.made, "-o", self.folder / name, *words)
        return self.folder / name

    def rules(self, text):
        path = self.folder / "rules"
        path.write_text(text)
        return path


class Windows:
    """Windows of a continuous profile, in the folder beside a store (which need not be there)."""

    def __init__(self, world):
        self.world, self.store, self.folder = world, world.folder / "store.db", world.folder / "profiles"
        self.end_s = int(time.time())
        self.folder.mkdir()

    def path(self, number):
        """Of window number 0, which has just ended, 1, which ended when that began, and so on."""
        end = self.end_s - 60 * number
        return self.folder / f"{end - 60}-{end}.pb.gz"

    def add(self, number, **options):
        return made.write(self.path(number), **options)

    def profile(self, *words, **options):
        return self.world.profile(*words, "--store", self.store, **options)

    def refused(self, *words):
        return self.world.refused(*words, "--store", self.store)

    def said(self, *words):
        return json.loads(self.profile(*words, "-j").stdout)


def pprof(file, *words):
    """What `go tool pprof` prints."""
    if not shutil.which("go"):
        raise Skip("go is not installed")
    done = subprocess.run(["go", "tool", "pprof", *words, str(file)], text=True, capture_output=True,
                          timeout=60, env={**os.environ, "PPROF_TMPDIR": str(Path(file).parent)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def top(text):
    """{function: (flat, cum)} in ms of pprof's -top."""
    rows = [line.split(None, 5) for line in text.splitlines()]
    first = next(i for i, row in enumerate(rows) if row[:2] == ["flat", "flat%"])
    return {row[5]: (ms(row[0]), ms(row[3])) for row in rows[first + 1:]}


def ms(text):
    """Of "0", "30ms" or "1.20s"."""
    if text.endswith("ms"):
        return float(text[:-2])
    return 1000 * float(text[:-1]) if text.endswith("s") else float(text)
