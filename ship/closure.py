# SPDX-License-Identifier: Apache-2.0
"""What programs need of this machine: the shared libraries that the loader finds for them, and the
Debian packages that these are from."""
import functools
import os
import re
import subprocess
from collections import namedtuple

# path: where the loader looks for it, below /usr; file: what stands there, links followed.
Library = namedtuple("Library", "name path file")
Package = namedtuple("Package", "name version architecture source source_version")

RESOLVED = re.compile(r"^\t(?:(?P<name>\S+) => )?(?P<path>/\S+) \(0x[0-9a-f]+\)$", re.M)
MISSING = re.compile(r"^\t(\S+) => not found$", re.M)
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]$", re.M)
FORMAT = "\t".join(f"${{{name}}}" for name in
                   ("Package", "Version", "Architecture", "source:Package", "source:Version")) + "\n"

owners = {}  # of files, once they were asked for: dpkg takes long for each question


def output(*argv):
    """What a program writes; CalledProcessError if it fails."""
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def below_usr(path):
    """The path with its links to folders below /usr followed: /lib is /usr/lib."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def libraries(programs):
    """All libraries that these programs load, the loader among them, by path."""
    found = {}
    for program in programs:
        said = output("ldd", program)
        if missing := MISSING.findall(said):
            raise FileNotFoundError(f"{program} needs {', '.join(missing)}")
        for match in RESOLVED.finditer(said):
            path = below_usr(match["path"])
            found[path] = Library(os.path.basename(path), path, os.path.realpath(path))
    find_owners(found)
    return [found[path] for path in sorted(found)]


def needs(file):
    """The names of the libraries that a program or library names itself."""
    return NEEDED.findall(output("readelf", "--dynamic", "--wide", file))


def find_owners(paths):
    """Puts down which packages files are from. dpkg knows files by the paths that their packages have."""
    names = {name: path for path in paths for name in (path, path.removeprefix("/usr"))}
    said = subprocess.run(["dpkg-query", "--search", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for line in said.splitlines():
        package, _, name = line.partition(": ")
        owners.setdefault(names.get(name), package)


def owner(path):
    """The package that a file is from."""
    if path not in owners:
        find_owners([path])
    if path not in owners:
        raise FileNotFoundError(f"{path} is of no package")
    return owners[path]


@functools.cache
def package_of(path):
    """The Package that a file is from."""
    return Package(*output("dpkg-query", "--show", "--showformat", FORMAT, owner(path)).strip("\n").split("\t"))


def terms(package):
    """The file with the terms under which a package is."""
    return os.path.realpath(f"/usr/share/doc/{package.name}/copyright")


def licences():
    """{name: file} of the texts that these terms refer to, /usr/share/common-licenses."""
    return {entry.name: os.path.realpath(entry) for entry in os.scandir("/usr/share/common-licenses")}
