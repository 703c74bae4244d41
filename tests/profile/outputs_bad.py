# SPDX-License-Identifier: Apache-2.0
"""Files that lie, and places that cannot be written."""
import contextlib
import gzip
import os
import random
import resource
import signal
import subprocess
import sys

import made
from disk import fill, small_disk
from outputs_tools import Windows, equal

NAMES = ("x.pb.gz", "x.svg", "x.folded", "x.otlp")


def case_endings(world):
    """the ending decides, and --format insists"""
    error = world.refused("show", world.made, "-o", world.folder / "x.txt")
    assert "its ending tells no format" in error, error
    world.profile("show", world.made, "-o", world.folder / "x.txt", "--format", "svg")
    assert (world.folder / "x.txt").read_text().startswith("<?xml")
    world.profile("show", world.made, "-o", world.folder / "x.svg", "--format", "folded")
    assert (world.folder / "x.svg").read_text().startswith("(no request);")
    error = world.refused("show", world.made, "--format", "tiff", "-o", world.folder / "y")
    assert "--format tiff: expected pprof" in error, error


def limit_files():
    """As on a disk that is full: files may have this many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


def case_full(world):
    """a full disk leaves the file that was there, and nothing beside it"""
    for name in NAMES:
        (world.folder / name).write_text("before")
        before = sorted(os.listdir(world.folder))
        error = world.refused("show", world.made, "-o", world.folder / name, preexec_fn=limit_files)
        assert f"{name}: File too large" in error, error
        equal((world.folder / name).read_text(), "before", "the file")
        equal(sorted(os.listdir(world.folder)), before, "files of the folder")
    error = world.refused("show", world.made, "-o", "/dev/full", "--format", "svg")
    assert "/dev/full: No space left" in error, error
    assert not os.path.isfile("/dev/full"), "the device was replaced by a file"


@contextlib.contextmanager
def burning():
    """Something to sample: where nothing runs, folded stacks are an empty file, which fits on a full disk."""
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        burner.kill()
        burner.wait()


def full_disk_refuses(world, disk, name, *words):
    """A file that cannot be written there is not written, with status 1, the reason, and nothing left behind."""
    before = sorted(os.listdir(disk))
    done = world.profile(*words, "-o", disk / name, check=False)
    equal(done.returncode, 1, f"status of {words} into {name}")
    assert f"--output {disk / name}: No space left on device" in done.stderr, done.stderr
    equal((disk / name).read_text(), "before", "the file")
    equal(sorted(os.listdir(disk)), before, "files of the disk")


def case_full_disk(world):
    """a file system that is full, in all formats: of files that are read, compared, and of samples"""
    with small_disk(world.folder / "disk", 64) as disk, burning():
        for name in NAMES:
            (disk / name).write_text("before")
        fill(disk / "notes")
        for name in NAMES:
            full_disk_refuses(world, disk, name, "show", world.made)
            full_disk_refuses(world, disk, name, "-d", "1s")
        full_disk_refuses(world, disk, "x.svg", "diff", world.made, world.made)


def case_unwritable(world):
    """what cannot be written is said before anything is sampled"""
    for name, said in ((f"{world.folder}/none/x.svg", "No such file"), (f"{world.folder}", "Is a directory"),
                       ("/proc/x.svg", "")):
        for words in (("show", world.made), ("-d", "1h")):
            error = world.refused(*words, "--format", "svg", "-o", name)
            assert f"--output {name}: {said}" in error, error
    pipe = world.folder / "pipe.svg"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    world.profile("show", world.made, "-o", pipe)
    assert os.read(reader, 5) == b"<?xml"
    os.close(reader)


def case_not_profiles(world):
    """files that are no profiles, or half of one, are refused with a reason"""
    whole = made.message_of()
    bad = world.folder / "bad"
    text, negative = made.field(6, b"x"), made.message_of(scale=-1)
    for data, said in ((b"", "first string is not empty"), (b"<svg/>", "it is not a pprof profile"),
                       (gzip.compress(whole)[:-9], "not a gzip file, or cut off"),
                       (gzip.compress(whole) + b"x", "not a gzip file"),
                       (whole[:-3], "it is not a pprof profile"), (text + whole, "first string is not empty"),
                       (whole + made.field(2, made.field(1, made.varint(7)) + made.field(2, b"\1\1")),
                        "there is no location 7"),
                       (whole + made.field(2, made.field(2, b"\1")), "a sample has 1 values instead of 2"),
                       (whole + made.field(5, made.field(1, 70)), "function 70 occurs twice"),
                       (whole + made.field(14, 999), "default value type refers to a missing string"),
                       (negative, "its values are negative"),
                       (gzip.compress(bytes(300 << 20), 1), "it is larger than 256 MiB")):
        bad.write_bytes(data)
        error = world.refused("show", bad)
        assert said in error, (said, error)
    assert "No such file" in world.refused("show", world.folder / "none")
    assert "expected one file" in world.refused("show")
    assert "expected show or diff" in world.refused("take")


def case_changed_bytes(world):
    """a file in which any bytes were changed is read or refused, alone or merged, but nothing breaks"""
    whole, chance = made.message_of(comments=made.COMMENTS), random.Random(27)
    windows = Windows(world)
    windows.add(2, stacks=made.STACKS[:2])
    bad = windows.path(1)
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        bad.write_bytes(data)
        done = world.profile("show", bad, "-o", world.folder / chance.choice(NAMES), check=False)
        assert done.returncode in (0, 1), (done.returncode, bytes(data))
        windows.profile("--last", "1h", "-o", world.folder / chance.choice(NAMES))
