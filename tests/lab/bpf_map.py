# SPDX-License-Identifier: Apache-2.0
"""Pinned BPF maps by bpf(2), for tests that look at them from outside: no library, no agent."""
import contextlib
import ctypes
import errno
import itertools
import os
import struct
from pathlib import Path

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
MAP_CREATE, LOOKUP, UPDATE, DELETE, NEXT_KEY, PIN, GET, INFO = 0, 1, 2, 3, 4, 6, 7, 15
LOOKUP_BATCH = 24
TYPES = {"hash": 1, "array": 2, "lru_hash": 9}
PIN_FOLDER = Path("/sys/fs/bpf")

LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    """bpf(2); the result, or OSError."""
    buffer = ctypes.create_string_buffer(attributes, 128)
    result = LIBC.syscall(SYS_BPF, command, buffer, 128)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"bpf command {command}: {os.strerror(error)}")
    return result


def open_pin(path):
    """File descriptor of whatever is pinned there; OSError if nothing is."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    return bpf(GET, struct.pack("QII", ctypes.addressof(name), 0, 0))


def info(fd, size=128):
    """What the kernel tells about a map, program or link: so many bytes of its struct bpf_..._info."""
    told = ctypes.create_string_buffer(size)
    bpf(INFO, struct.pack("IIQ", fd, len(told), ctypes.addressof(told)))
    return told.raw


class Map:
    """A map by its pin; keys and values are bytes."""

    def __init__(self, path):
        self.fd = open_pin(path)
        (self.type, self.id, self.key_size, self.value_size, self.max_entries,
         self.flags) = struct.unpack_from("IIIIII", info(self.fd))

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, command, key, value=None):
        """One of the element commands; returns the buffer of the value."""
        key = ctypes.create_string_buffer(key, self.key_size) if key is not None else None
        value = ctypes.create_string_buffer(value or b"", self.value_size + 1)
        bpf(command, struct.pack("IxxxxQQQ", self.fd, ctypes.addressof(key) if key else 0,
                                 ctypes.addressof(value), 0))
        return value.raw[:-1]

    def get(self, key):
        """The value, None if there is none."""
        try:
            return self.call(LOOKUP, key)
        except FileNotFoundError:
            return None

    def set(self, key, value):
        self.call(UPDATE, key, value)

    def delete(self, key):
        """Whether there was one."""
        key = ctypes.create_string_buffer(key, self.key_size)
        try:
            bpf(DELETE, struct.pack("IxxxxQQQ", self.fd, ctypes.addressof(key), 0, 0))
        except FileNotFoundError:
            return False
        return True

    def keys(self):
        """All keys; changes while it runs may be missed."""
        found, key = [], None
        while True:
            try:
                key = self.next_key(key)
            except FileNotFoundError:
                return found
            found.append(key)

    def first_values(self, count):
        """The first values of an array, in one call."""
        keys = ctypes.create_string_buffer(self.key_size * count)
        values = ctypes.create_string_buffer(self.value_size * count)
        last = ctypes.create_string_buffer(self.key_size)
        with contextlib.suppress(FileNotFoundError):  # there are no more behind them
            bpf(LOOKUP_BATCH, struct.pack("QQQQIIQQ", 0, ctypes.addressof(last),
                                          ctypes.addressof(keys), ctypes.addressof(values), count,
                                          self.fd, 0, 0))
        whole = values.raw
        return [whole[at:at + self.value_size]
                for at in range(0, self.value_size * count, self.value_size)]

    def next_key(self, key):
        last = ctypes.create_string_buffer(key, self.key_size) if key is not None else None
        after = ctypes.create_string_buffer(self.key_size)
        bpf(NEXT_KEY, struct.pack("IxxxxQQQ", self.fd, ctypes.addressof(last) if last else 0,
                                  ctypes.addressof(after), 0))
        return after.raw


class Pinned:
    """A map of a test's own, pinned while this is held; `with` gives the path of the pin."""

    serial = itertools.count()

    def __init__(self, kind, key_size, value_size, max_entries, path=None):
        self.shape = (TYPES[kind], key_size, value_size, max_entries)
        self.path = Path(path or PIN_FOLDER / f"ctxprop-test-{os.getpid()}-{next(self.serial)}")

    def __enter__(self):
        fd = bpf(MAP_CREATE, struct.pack("IIIII", *self.shape, 0))
        try:
            name = ctypes.create_string_buffer(os.fsencode(self.path))
            bpf(PIN, struct.pack("QII", ctypes.addressof(name), fd, 0))
        finally:
            os.close(fd)
        return str(self.path)

    def __exit__(self, *_):
        self.path.unlink(missing_ok=True)


def contexts(path):
    """{(tgid, tid): (trace id, span id)} of a thread context map; {} if it is not pinned."""
    try:
        pinned = Map(path)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return {}
        raise
    with pinned:
        found = {key: pinned.get(key) for key in pinned.keys()}
    return {divmod(int.from_bytes(key, "little"), 1 << 32): (value[:16].hex(), value[16:].hex())
            for key, value in found.items() if value is not None}


def entries_of(path, tgid):
    """The part of contexts() that belongs to one program."""
    return {thread: ids for thread, ids in contexts(path).items() if thread[0] == tgid}
