# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels, fetched as packages and unpacked into a cache.

    kernel = kernels.get("6.12")
    kernel.vmlinux, kernel.release, kernel.modules

The system's apt configuration is only read: lists and packages go to a private directory, whose
sources are the system's Debian ones with other suites.
"""
import contextlib
import fcntl
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections import namedtuple
from pathlib import Path

# What is tested.
SERIES = ("6.1", "6.12")
# Where they are found, and newer ones to try by hand, by kind of the system's stanza: a mirror
# serves all suites of a kind.
SUITES = "bookworm trixie trixie-backports"
SECURITY_SUITES = "bookworm-security trixie-security"
SYSTEM_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
OLD_SOURCES = Path("/etc/apt/sources.list")

# vmlinux: file to boot; release: as `uname -r` says; modules: the folder that holds `lib/modules`.
Kernel = namedtuple("Kernel", "series package release vmlinux modules")


class FetchError(Exception):
    """A kernel cannot be had; the text says why and what would help."""


def cache_dir():
    """CTXPROP_VM_CACHE, else XDG_CACHE_HOME/ctxprop-vm, else ~/.cache/ctxprop-vm."""
    chosen = os.environ.get("CTXPROP_VM_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-vm"


def get(series):
    """The kernel of a series, fetched when the cache does not hold one."""
    return cached(series) or fetch(series)


def cached(series):
    """The kernel that the cache holds, or None."""
    root = cache_dir() / series
    marker = root / "package"
    if not marker.exists():
        return None
    release = next((root / "lib/modules").iterdir()).name
    return Kernel(series, marker.read_text().strip(), release, root / "vmlinux", root)


def fetch(series):
    """Look for the newest kernel of a series and put it in the cache; returns it."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    with lock(), tempfile.TemporaryDirectory(dir=cache_dir()) as scratch:
        apt = PrivateApt(Path(scratch))
        package = newest(apt.names(f"linux-image-{series}."), series)
        held = cached(series)
        if held and held.package == package:
            return held
        tree = Path(scratch) / "tree"
        for deb in apt.download(apt.with_parts(package)):
            sh("dpkg-deb", "-x", deb, tree)
        install(tree, cache_dir() / series, package)
    return cached(series)


@contextlib.contextmanager
def lock():
    """One fetch at a time on this machine."""
    with open(cache_dir() / "lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def newest(names, series):
    """The package of the highest version among `names`, without cloud, rt and unsigned flavours."""
    plain = re.compile(rf"linux-image-{re.escape(series)}\.[0-9.]+(\+deb\d+)?(-\d+)?-amd64")
    found = [name for name in names if plain.fullmatch(name)]
    if not found:
        raise FetchError(f"no package linux-image-{series}.*-amd64 in the suites of "
                         f"{SUITES} {SECURITY_SUITES}: is it a series that Debian ships?")
    return max(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])


def install(tree, target, package):
    """Turn an unpacked package into a cache entry; `target` is replaced."""
    lib = tree / "usr/lib" if (tree / "usr/lib/modules").exists() else tree / "lib"
    release = next((lib / "modules").iterdir()).name
    # The newer, split packages have the image beside the modules.
    places = tree / f"boot/vmlinuz-{release}", lib / f"modules/{release}/vmlinuz"
    image = next(path for path in places if path.exists())
    entry = tree.with_name("entry")
    (entry / "lib").mkdir(parents=True)
    (entry / "vmlinux").write_bytes(unpack(image.read_bytes()))
    (lib / "modules").rename(entry / "lib/modules")
    sh("depmod", "-b", entry, release)
    (entry / "package").write_text(package + "\n")
    shutil.rmtree(target, ignore_errors=True)
    entry.rename(target)


def unpack(image):
    """The ELF kernel inside a bzImage: done once here, it need not be done at each emulated boot.

    Offsets: "The Linux/x86 Boot Protocol", setup_sects, payload_offset and payload_length.
    """
    setup_sectors, = struct.unpack_from("<B", image, 0x1F1)
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = image[start:start + length - 4]  # the last four bytes are the unpacked size
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return subprocess.run(["zstd", "-dcq"], input=payload, stdout=subprocess.PIPE,
                              check=True).stdout
    raise FetchError(f"kernel packed in an unknown way (starts {payload[:4].hex()}); "
                     "known: xz, zstd")


class PrivateApt:
    """apt with its sources, lists and cache in a directory of its own."""

    def __init__(self, root):
        self.root = root
        for folder in ("lists/partial", "cache/archives/partial", "debs"):
            (root / folder).mkdir(parents=True)
        (root / "debian.sources").write_text(other_suites(system_sources()))
        settings = {
            "Dir::Etc::sourcelist": root / "debian.sources", "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": root / "lists", "Dir::Cache": root / "cache",
            "APT::Sandbox::User": "root", "Acquire::Retries": "3",
        }
        self.options = [f"-o{key}={value}" for key, value in settings.items()]
        self.run("apt-get", "-qq", "update")

    def run(self, program, *argv):
        return sh(program, *self.options, *argv, cwd=self.root / "debs")

    def names(self, prefix):
        return self.run("apt-cache", "pkgnames", prefix).split()

    def with_parts(self, package):
        """The package and the parts that newer ones are split into."""
        depends = self.run("apt-cache", "depends", package)
        return [package] + re.findall(r"Depends: (linux-(?:base|binary|modules)-\S+)", depends)

    def download(self, packages):
        self.run("apt-get", "-q", "download", *packages)
        return sorted((self.root / "debs").glob("*.deb"))


def system_sources():
    """The system's sources as deb822 text, whichever of apt's two formats they are in."""
    if SYSTEM_SOURCES.exists():
        return SYSTEM_SOURCES.read_text()
    lines = OLD_SOURCES.read_text() if OLD_SOURCES.exists() else ""
    found = re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S*debian\S*)\s+(\S+)", lines, re.MULTILINE)
    if not found:
        raise FetchError(f"neither {SYSTEM_SOURCES} nor {OLD_SOURCES} names a Debian mirror, where "
                         f"kernels come from. Run this on Debian, or fill {cache_dir()} on one "
                         "and copy it")
    return "\n".join(f"Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n"
                     for uri, suite in dict.fromkeys(found))


def other_suites(sources):
    """deb822 text with the suites of each stanza replaced by SUITES or SECURITY_SUITES."""
    def rename(match):
        return "Suites: " + (SECURITY_SUITES if "-security" in match[1] else SUITES)
    return re.sub(r"^Suites:(.*)$", rename, sources, flags=re.MULTILINE)


def sh(*argv, **kw):
    """Run a command; its text output, or FetchError with what it said."""
    done = subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, check=False,
                          **kw)
    if done.returncode:
        raise FetchError(f"{' '.join(map(str, argv))}: exit {done.returncode}\n"
                         f"{done.stdout}{done.stderr}".rstrip())
    return done.stdout
