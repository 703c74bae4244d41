#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `ctxpropd --profile` does where its windows cannot be written: a file system that is full, or read-only, a
folder that goes away, a file in its place. It is said once and counted, nothing is left half, the newest windows are
there, and when all is well again they are written again.

    continuous_disk.py [--build DIR]
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from disk import PAGE, fill, small_disk  # noqa: E402
from lab import Lab, sh  # noqa: E402
from recording import Recording, complaints_of_quick  # noqa: E402
from sampling import tell  # noqa: E402
from waiting import wait_until  # noqa: E402

HZ, WINDOW, DISK_KIB = 19, 5, 512
OLD, OLD_BYTES, OLD_SECONDS = 4, 2 * PAGE, 600  # windows that were there before
CROWDED, FAILED, AGAIN = "[profile-crowded]", "[profile-not-written]", "[profile-recovered]"
OTHERS = ("notes", "more")


def fill_disk(path):
    """With old windows, which are returned, and what is somebody else's."""
    begin = int(time.time()) - OLD_SECONDS
    old = [path / f"{begin + 60 * i}-{begin + 60 * i + 60}.pb.gz" for i in range(OLD)]
    for file in old:
        file.write_bytes(os.urandom(OLD_BYTES))
    fill(path / OTHERS[0])
    return old


def check_crowded(recording, old):
    """Old windows go for new ones, the oldest first, and nothing else goes."""
    seen, found, notes = {}, [], (recording.folder.path / OTHERS[0]).stat().st_size
    end = time.time() + 8 * WINDOW
    while time.time() < end and (any(path.exists() for path in old) or recording.counts()["removed"] <= OLD):
        there = recording.windows()
        seen.update(there)
        gone = set(seen) - set(there)
        found += [f"{gone} have gone, and {there} have not"] * (bool(gone) and max(gone) > min(there, default=(0,)))
        time.sleep(0.2)
    counts = recording.counts()
    print(f"# crowded: {counts}, {len(seen)} windows were seen", flush=True)
    newest = max(recording.windows(), default=(0, 0))
    found += [f"{counts}"] * (counts["removed"] < 1 or counts["failed"] > 0 or old[0].exists())
    found += [f"the newest window is {newest}"] * (time.time() - newest[1] > 3 * WINDOW)
    found += [f"it is said {recording.said().count(CROWDED)} times"] * (recording.said().count(CROWDED) != 1)
    found += ["what is somebody else's was touched"] * \
        ((recording.folder.path / OTHERS[0]).stat().st_size != notes)
    found += [f"left: {half}" for half in recording.halves(*OTHERS)]
    return found + complaints_of_quick(recording.wait_window())


def check_no_room(recording):
    """Where nothing can make room: said once, counted each time; with room windows are written again."""
    def takes_all():
        for path in recording.windows().values():
            path.unlink(missing_ok=True)
        fill(recording.folder.path / OTHERS[1])
    wait_until(lambda: (takes_all(), recording.counts()["failed"] >= 3)[1], recording.said)
    found = [f"left: {half}" for half in recording.halves(*OTHERS)]
    found += [f"it is said {recording.said().count(FAILED)} times"] * (recording.said().count(FAILED) != 1)
    found += ["the reason is not told"] * (f"{recording.folder.path}: No space left on device" not in recording.said())
    for name in OTHERS:
        (recording.folder.path / name).unlink()
    recording.wait_said(AGAIN)
    return found + complaints_of_quick(recording.wait_window())


def check_read_only(recording):
    """The same where nothing may be written."""
    failed, said = recording.counts()["failed"], recording.said().count(AGAIN)
    wait_until(lambda: sh("mount", "-o", "remount,ro", recording.folder.path, check=False) == "" and
               not os.access(recording.folder.path, os.W_OK), "it does not become read-only")
    recording.wait_counts(lambda counts: counts["failed"] >= failed + 3)
    found = [f"it is said {recording.said().count(FAILED)} times"] * (recording.said().count(FAILED) != 2)
    found += ["the reason is not told"] * (f"{recording.folder.path}: Read-only file system" not in recording.said())
    sh("mount", "-o", "remount,rw", recording.folder.path)
    recording.wait_said(AGAIN, said + 1)
    return found + complaints_of_quick(recording.wait_window())


def check_gone(recording):
    """A folder that goes away is made again, and nothing is wrong with that."""
    path, failed = recording.folder.path, recording.counts()["failed"]
    sh("umount", "-l", path)
    found = complaints_of_quick(recording.wait_window())
    shutil.rmtree(path)
    found += complaints_of_quick(recording.wait_window())
    found += [f"the folder has {path.stat().st_mode:o}"] * (path.stat().st_mode & 0o777 != 0o700)
    counts = recording.counts()
    return found + [f"{counts}"] * (counts["failed"] > failed)


def put_file(path):
    """In place of the folder; the recorder may be quicker."""
    os.rename(path, f"{path}.{time.monotonic_ns()}")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def check_file(recording):
    """A file in its place is left alone."""
    path, said, failed = recording.folder.path, recording.said().count(AGAIN), recording.counts()["failed"]
    wait_until(lambda: put_file(path), "the recorder is always quicker")
    recording.wait_counts(lambda counts: counts["failed"] >= failed + 2)
    found = ["the reason is not told"] * (f"{path}: Not a directory" not in recording.said())
    found += ["the file is gone"] * (not path.is_file())
    path.unlink()
    recording.wait_said(AGAIN, said + 1)
    return found + complaints_of_quick(recording.wait_window())


def check_end(recording):
    """The daemon has not noticed any of it."""
    recording.client.stop()
    starts, status = recording.counts()["starts"], recording.agent.stop()
    return [f"status {status}, {starts} starts: {recording.said()}"] * (status != 0 or starts != 1) + \
        [f"left: {half}" for half in recording.halves()]


def run(build):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ctxprop-disk-") as temporary, Lab("recording") as lab, \
            small_disk(Path(temporary) / "profiles", DISK_KIB) as disk:
        old = fill_disk(disk)
        recording = Recording(lab, build, temporary, f"{HZ},window={WINDOW}")
        failed += tell("a full disk: the oldest windows go", check_crowded(recording, old))
        failed += tell("a full disk without anything that could go", check_no_room(recording))
        failed += tell("a read-only file system", check_read_only(recording))
        failed += tell("a folder that goes away", check_gone(recording))
        failed += tell("a file in place of the folder", check_file(recording))
        failed += tell("the end", check_end(recording))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    return int(run(os.path.abspath(args.build)) > 0)


if __name__ == "__main__":
    sys.exit(main())
