# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of what is shipped: CycloneDX 1.5, as JSON. Packages are those of which the
programs load libraries, or have code in them; the same inputs give the same bytes."""
import hashlib
import json
import os
import uuid
from pathlib import Path

import closure

LICENCE = "Apache-2.0 AND GPL-2.0-only"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cyclonedx.org/schema/bom-1.5")


def os_release():
    """What /etc/os-release says, by key."""
    rows = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return {key: value.strip('"') for key, _, value in (row.partition("=") for row in rows)}


def purl(package):
    """The package URL of a Debian package of this release."""
    release, version = os_release(), package.version.replace(":", "%3A").replace("+", "%2B")
    return (f"pkg:deb/{release['ID']}/{package.name.replace('+', '%2B')}@{version}?arch={package.architecture}"
            f"&distro={release['ID']}-{release['VERSION_ID']}")


def digest(file):
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def file_component(path, file):
    """A file of the product, as the component of a package."""
    return {"type": "file", "bom-ref": f"file:{path}", "name": path, "hashes": [{"alg": "SHA-256", "content": digest(file)}]}


def package_component(package, files, kind="library"):
    """A Debian package; files: {path: file} of it that are shipped, or are linked into a program."""
    component = {"type": kind, "bom-ref": purl(package), "name": package.name, "version": package.version,
                 "purl": purl(package),
                 "properties": [{"name": "debian:source", "value": f"{package.source} {package.source_version}"}]}
    if files:
        component["components"] = [file_component(path, file) for path, file in sorted(files.items())]
    return component


def dependencies(product, programs, libraries, built_in):
    """Who loads whom: an entry for the product and for each package of a library."""
    package = {library.name: closure.package_of(library.path) for library in libraries}
    edges = {product: {purl(package[name]) for file in programs for name in closure.needs(file)}
                      | {purl(entry) for entry in built_in}}
    for entry in built_in:
        edges.setdefault(purl(entry), set())
    for library in libraries:
        own = purl(package[library.name])
        edges.setdefault(own, set()).update(purl(package[name]) for name in closure.needs(library.file))
        edges[own].discard(own)
    return [{"ref": ref, "dependsOn": sorted(on)} for ref, on in sorted(edges.items())]


def components(libraries, place, built_in, data):
    """Each package, with those files of it that are shipped."""
    files = {}
    for library in libraries:
        entry = files.setdefault(closure.package_of(library.path), {})
        if place:
            entry[place(library)] = library.file
    for package in built_in:
        files.setdefault(package, {})
    rows = [package_component(package, of) for package, of in files.items()]
    rows += [package_component(closure.package_of(owned), {path: path}, "data") for path, owned in data.items()]
    return sorted(rows, key=lambda row: row["bom-ref"])


def bill(version, time, programs, libraries, *, place=None, built_in=(), data=None):
    """The text of the bill. time: of SOURCE_DATE_EPOCH, as ISO 8601. programs: {path: file}.
    libraries: those that they load. place: gives the path at which one comes with the programs; None:
    they are the host's. built_in: paths of this machine whose packages are compiled in. data: {path: a
    file of its package} of other files that are shipped."""
    built_in = sorted({closure.package_of(os.path.realpath(path)) for path in built_in})
    product = f"ctxprop@{version}"
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
           "metadata": {"timestamp": time, "component": {
               "type": "application", "bom-ref": product, "name": "ctxprop", "version": version,
               "licenses": [{"expression": LICENCE}],
               "components": [file_component(path, file) for path, file in sorted(programs.items())]}},
           "components": components(libraries, place, built_in, data or {}),
           "dependencies": dependencies(product, programs.values(), libraries, built_in)}
    serial = uuid.uuid5(NAMESPACE, json.dumps(bom, sort_keys=True))
    return json.dumps({"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "serialNumber": f"urn:uuid:{serial}",
                       **bom}, indent=1) + "\n"
