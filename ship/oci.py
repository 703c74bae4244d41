# SPDX-License-Identifier: Apache-2.0
"""Writes an image as an OCI image layout (image-spec 1.0). The same contents give the same digest."""
import hashlib
import json
import os
from pathlib import Path

from archive import pack, read, tar

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"

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
        return self.blob(LAYER, pack(plain, self.time)), f"sha256:{hashlib.sha256(plain).hexdigest()}"

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
        entries = {os.path.relpath(path, self.folder): read(path) for path in self.folder.rglob("*") if path.is_file()}
        Path(file).write_bytes(tar(entries, self.time))
