# SPDX-License-Identifier: Apache-2.0
"""Writes an image as an OCI image layout (image-spec 1.0). The same contents give the same digest:
files are in order, root's, and of one time."""
import gzip
import hashlib
import io
import json
import os
import tarfile
from collections import namedtuple
from pathlib import Path

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"

# An entry of a layer: bytes of a file, a link's target, or None for a folder.
Entry = namedtuple("Entry", "data mode", defaults=(0o644,))


class Link(str):
    """Where a symbolic link leads."""


def folders_of(paths):
    """Every folder above these paths."""
    return {str(folder) for path in paths for folder in Path(path).parents if str(folder) != "."}


def member(path, entry, time):
    """The head of an entry in a tar file."""
    info = tarfile.TarInfo(path)
    info.mtime, info.mode, info.uname, info.gname = time, entry.mode, "root", "root"
    if entry.data is None:
        info.type = tarfile.DIRTYPE
    elif isinstance(entry.data, Link):
        info.type, info.linkname = tarfile.SYMTYPE, entry.data
    else:
        info.size = len(entry.data)
    return info


def tar(entries, time):
    """The bytes of a tar file; entries: {path: Entry}, to which the folders above are added."""
    whole = {folder: Entry(None, 0o755) for folder in folders_of(entries)} | entries
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(whole):
            info = member(path, whole[path], time)
            archive.addfile(info, io.BytesIO(whole[path].data) if info.isreg() else None)
    return out.getvalue()


class Layout:
    """A folder with blobs by their digests."""

    def __init__(self, folder, time):
        self.folder, self.time = Path(folder), time
        (self.folder / "blobs/sha256").mkdir(parents=True)
        self.write("oci-layout", {"imageLayoutVersion": "1.0.0"})

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value, sort_keys=True), encoding="utf-8")

    def blob(self, kind, data):
        """Puts down bytes; their descriptor."""
        name = hashlib.sha256(data).hexdigest()
        (self.folder / "blobs/sha256" / name).write_bytes(data)
        return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(data)}

    def value(self, kind, value):
        return self.blob(kind, json.dumps(value, sort_keys=True).encode())

    def layer(self, entries):
        """Puts down a layer; its descriptor, and the digest of what it unpacks to."""
        plain = tar(entries, self.time)
        packed = gzip.compress(plain, compresslevel=9, mtime=self.time)
        return self.blob(LAYER, packed), f"sha256:{hashlib.sha256(plain).hexdigest()}"

    def image(self, layers, config, annotations, name):
        """Puts down an image of layers ([{path: Entry}]) as the only one; the manifest's descriptor.
        config: without rootfs; name: as which it is loaded."""
        made = [self.layer(entries) for entries in layers]
        rootfs = {"type": "layers", "diff_ids": [plain for _, plain in made]}
        manifest = self.value(MANIFEST, {
            "schemaVersion": 2, "mediaType": MANIFEST, "config": self.value(CONFIG, {**config, "rootfs": rootfs}),
            "layers": [descriptor for descriptor, _ in made], "annotations": annotations})
        names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
        self.write("index.json", {"schemaVersion": 2, "manifests": [{**manifest, "annotations": names}]})
        return manifest

    def archive(self, file):
        """The layout as one tar file."""
        entries = {os.path.relpath(path, self.folder): Entry(path.read_bytes())
                   for path in self.folder.rglob("*") if path.is_file()}
        Path(file).write_bytes(tar(entries, self.time))
