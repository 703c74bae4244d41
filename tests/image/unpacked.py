# SPDX-License-Identifier: Apache-2.0
"""Reads an OCI image layout, by the specification only: each blob is held against its digest and size."""
import gzip
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path


class Image:
    """The only image of a layout."""

    def __init__(self, layout):
        self.layout = Path(layout)
        self.used = {"oci-layout", "index.json"}
        assert json.loads((self.layout / "oci-layout").read_text())["imageLayoutVersion"] == "1.0.0"
        self.index = json.loads((self.layout / "index.json").read_text())
        (self.descriptor,) = self.index["manifests"]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))
        self.layers = [self.layer(descriptor, plain) for descriptor, plain in
                       zip(self.manifest["layers"], self.config["rootfs"]["diff_ids"], strict=True)]

    def blob(self, descriptor):
        """The bytes of a descriptor."""
        kind, name = descriptor["digest"].split(":")
        path = f"blobs/{kind}/{name}"
        data = (self.layout / path).read_bytes()
        assert (kind, len(data)) == ("sha256", descriptor["size"]), descriptor
        assert hashlib.sha256(data).hexdigest() == name, f"{path} is something else"
        self.used.add(path)
        return data

    def layer(self, descriptor, plain):
        """The tar file of a layer."""
        assert descriptor["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip", descriptor
        data = gzip.decompress(self.blob(descriptor))
        assert plain == f"sha256:{hashlib.sha256(data).hexdigest()}", f"{plain} is not what {descriptor['digest']} unpacks to"
        return tarfile.open(fileobj=io.BytesIO(data))

    def files(self):
        """Every file in the folder of the layout."""
        return {os.path.relpath(path, self.layout) for path in self.layout.rglob("*") if path.is_file()}

    def members(self):
        """{path: TarInfo} of all layers."""
        return {info.name: info for layer in self.layers for info in layer.getmembers()}

    def read(self, path):
        """The bytes of a file."""
        (found,) = [layer.extractfile(path).read() for layer in self.layers if path in layer.getnames()]
        return found

    def unpack(self, folder):
        for layer in self.layers:
            layer.extractall(folder, numeric_owner=True)
