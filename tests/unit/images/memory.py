# SPDX-License-Identifier: Apache-2.0
"""Memory of a process, and pieces of it as an image has them (image.h)."""
import struct

LINE = 64  # bytes


class Memory:
    """Of a process, and which pieces of it are to be kept."""

    def __init__(self, pid):
        self.file = open(f"/proc/{pid}/mem", "rb", buffering=0)
        self.kept = {}

    def read(self, address, size):
        self.file.seek(address)
        return self.file.read(size)

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def has(self, address):
        """Can a word be read there?"""
        try:
            return bool(address) and len(self.read(address, 8)) == 8
        except (OSError, ValueError):
            return False

    def keep(self, address, size):
        """Whole words, each once."""
        first = address & ~7
        data = self.read(first, (size + address - first + 7) & ~7)
        for at in range(0, len(data), 8):
            self.kept[first + at] = data[at:at + 8]

    def lines(self):
        """The pieces in order, so many bytes in each line at most."""
        start, piece = None, b""
        for address in sorted(self.kept):
            if start is not None and (address != start + len(piece) or len(piece) == LINE):
                yield f"at {start:x} {piece.hex()}"
                start = None
            if start is None:
                start, piece = address, b""
            piece += self.kept[address]
        yield f"at {start:x} {piece.hex()}"
