#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a tarball that needs no library of the host, of what `cmake --install` has put into a folder.
The programs bring the libraries that they load here, and the loader, below /usr/local/lib/ctxprop.
(Debian has no static library of some of them.)"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import closure  # noqa: E402
import product  # noqa: E402
import sbom  # noqa: E402
from archive import Entry, pack, read, tar  # noqa: E402

HOME = "/usr/local/lib/ctxprop"
PREFIX = "usr/local/"
UNIT = f"{PREFIX}lib/systemd/system/ctxpropd.service"
INSTALL = product.REPO / "ship/install.sh"


def local(path):
    """Where a path of the installation below /usr is put."""
    return PREFIX + path[len("usr/"):] if path.startswith("usr/") else path


def loader(libraries):
    """The library that is the loader."""
    (found,) = [library for library in libraries if library.name.startswith("ld-linux")]
    return found


def bring_libraries(program, folder, libraries):
    """A copy of a program that loads only what comes with it. DT_RPATH holds for libraries of libraries, too."""
    copy = Path(folder) / Path(program).name
    copy.write_bytes(Path(program).read_bytes())
    subprocess.run(["patchelf", "--set-interpreter", f"{HOME}/{loader(libraries).name}", "--force-rpath", "--set-rpath", HOME,
                    copy], check=True)
    return copy


def system_files(libraries):
    """{path: Entry} of what comes from Debian."""
    entries = {f"{PREFIX}share/doc/ctxprop/licenses/{name}": read(file) for name, file in closure.licences().items()}
    for library in libraries:
        package = closure.package_of(library.path)
        entries[f"{HOME[1:]}/{library.name}"] = read(library.file, 0o755)
        entries[f"{PREFIX}share/doc/ctxprop/copyright.{package.name}"] = read(closure.terms(package))
    return entries


def own_files(installed, programs):
    """{path: Entry} of what is ours; the unit starts the program where it is now."""
    entries = {local(str(file.relative_to(installed))): read(file) for file in installed.rglob("*") if file.is_file()}
    entries[UNIT] = Entry(entries[UNIT].data.replace(b"/usr/sbin/", b"/usr/local/sbin/"))
    entries |= {path[1:]: read(file, 0o755) for path, file in programs.items()}
    return entries | {f"{PREFIX}share/doc/ctxprop/copyright": read(product.REPO / "share/debian/copyright")}


def sums(entries):
    """What `sha256sum --check` reads."""
    return "".join(f"{hashlib.sha256(entries[path].data).hexdigest()}  {path}\n" for path in sorted(entries)).encode()


def contents(build, installed, folder, epoch):
    """{path: Entry} of the tarball's folder."""
    libraries = closure.libraries(product.programs(installed).values())
    programs = {f"/{local(path[1:])}": bring_libraries(file, folder, libraries)
                for path, file in product.programs(installed).items()}
    files = own_files(installed, programs) | system_files(libraries)
    bill = sbom.bill(build.version, product.iso(epoch), programs, libraries,
                     place=lambda library: f"{HOME}/{library.name}", built_in=build.compiled_in)
    files[f"{PREFIX}share/doc/ctxprop/sbom.cdx.json"] = Entry(bill.encode())
    whole = {f"root/{path}": entry for path, entry in files.items()}
    return whole | {"install.sh": read(INSTALL, 0o755), "SHA256SUMS": Entry(sums(whole))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="where it was compiled, and where the tarball is put")
    parser.add_argument("--installed", type=Path, required=True, help="the folder (DESTDIR) of the installation")
    args = parser.parse_args()
    build, epoch = product.Build(args.build), int(os.environ["SOURCE_DATE_EPOCH"])
    name = f"ctxprop-{build.version}-linux-{product.architecture()}"
    with tempfile.TemporaryDirectory() as folder:
        entries = contents(build, args.installed, folder, epoch)
    out = args.build / f"{name}.tar.gz"
    out.write_bytes(pack(tar({f"{name}/{path}": entry for path, entry in entries.items()}, epoch), epoch))
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    Path(f"{out}.sha256").write_text(f"{digest}  {out.name}\n", encoding="utf-8")
    print(f"{out} {out}.sha256 {out.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
