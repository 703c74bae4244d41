#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the image of the node agent of what `cmake --install` has put into a folder: an OCI layout and
a tar file of it. In it are the programs, the libraries that they load here, and no shell."""
import argparse
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import closure  # noqa: E402
import product  # noqa: E402
import sbom  # noqa: E402
from archive import Entry, Link, read  # noqa: E402
from oci import Layout  # noqa: E402

TITLE = "ctxprop"
# For receivers of OTLP by https; made by a program of the package.
CERTIFICATES, CERTIFICATES_OF = "/etc/ssl/certs/ca-certificates.crt", "/usr/sbin/update-ca-certificates"
SBOM = "usr/share/doc/ctxprop/sbom.cdx.json"
# What of an installation is for who sits at the host: pages, completion, the unit, and options, which a manifest has.
NOT_INSIDE = ("usr/lib/", "usr/share/man/", "usr/share/bash-completion/", "usr/include/", "etc/ctxprop/ctxpropd.conf")
# Where things are mounted; a root that is read-only has to have them.
MOUNTS = ("dev", "proc", "sys", "tmp", "etc/ctxprop", "var/lib/ctxprop")
# The same names as on Debian; the C library finds hosts as there.
MERGED = {"bin": Link("usr/bin"), "sbin": Link("usr/sbin"), "lib": Link("usr/lib"), "lib64": Link("usr/lib64")}
HOSTS = b"hosts: files dns\n"


def terms(package):
    """The entry of the terms under which a package is."""
    return {f"usr/share/doc/{package.name}/copyright": read(closure.terms(package))}


def system_layer(libraries):
    """What comes from Debian."""
    entries = {name: Entry(link, 0o777) for name, link in MERGED.items()}
    entries |= {name: Entry(None, 0o755) for name in ("usr/bin", "usr/sbin")}
    entries |= {name: Entry(None, 0o1777 if name == "tmp" else 0o755) for name in MOUNTS}
    entries["etc/nsswitch.conf"] = Entry(HOSTS)
    for library in libraries:
        entries[library.path[1:]] = read(library.file, 0o755)
        entries |= terms(closure.package_of(library.path))
    entries |= {f"usr/share/common-licenses/{name}": read(file) for name, file in closure.licences().items()}
    entries[CERTIFICATES[1:]] = read(CERTIFICATES)
    return entries | terms(closure.package_of(CERTIFICATES_OF))


def own_layer(installed, bill):
    """What is ours."""
    entries = {SBOM: Entry(bill.encode()), "usr/share/doc/ctxprop/copyright": read(product.REPO / "share/debian/copyright")}
    for file in installed.rglob("*"):
        path = str(file.relative_to(installed))
        if file.is_file() and not path.startswith(NOT_INSIDE):
            entries[path] = read(file, 0o755 if path.startswith("usr/sbin/") else 0o644)
    return entries


def labels(build, created):
    """The OCI annotations; what is not known is left out."""
    known = {"title": TITLE, "description": build.description, "version": build.version, "licenses": sbom.LICENCE,
             "created": created, "revision": product.revision(), "source": build.homepage}
    return {f"org.opencontainers.image.{key}": value for key, value in known.items() if value}


def config(all_labels, created):
    """How the image is run; arguments are those of the manifest."""
    return {"created": created, "architecture": product.architecture(), "os": "linux",
            "config": {"Entrypoint": ["/usr/sbin/ctxpropd"], "Env": ["PATH=/usr/sbin:/usr/bin"], "WorkingDir": "/",
                       "User": "0:0", "Labels": all_labels}}


def make(build, installed, out, epoch):
    """Writes the image; its layout, and the descriptor of its manifest."""
    created = product.iso(epoch)
    programs = product.programs(installed)
    libraries = closure.libraries(programs.values())
    bill = sbom.bill(build.version, created, programs, libraries, place=lambda library: library.path, built_in=build.compiled_in,
                     data={CERTIFICATES: CERTIFICATES_OF})
    shutil.rmtree(out, ignore_errors=True)
    layout = Layout(out, epoch)
    annotations = labels(build, created)
    layers = [system_layer(libraries), own_layer(installed, bill)]
    return layout, layout.image(layers, config(annotations, created), annotations, f"{TITLE}:{build.version}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="where it was compiled")
    parser.add_argument("--installed", type=Path, required=True, help="the folder (DESTDIR) of the installation")
    parser.add_argument("--out", type=Path, required=True, help="the layout; beside it is the tar file")
    args = parser.parse_args()
    build = product.Build(args.build)
    layout, descriptor = make(build, args.installed, args.out, int(os.environ["SOURCE_DATE_EPOCH"]))
    archive = args.out.with_name(f"ctxprop-{build.version}-image.tar")
    layout.archive(archive)
    print(f"{args.out} {archive} {descriptor['digest']} {archive.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
