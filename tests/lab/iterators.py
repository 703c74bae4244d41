# SPDX-License-Identifier: Apache-2.0
"""Whether the kernel lets us load iterators over the storage of sockets. Some hosts have a policy
(a security module) that refuses them, as programs that could change what they walk through."""
import ctypes
import errno
import os
import platform
import re
import struct
import subprocess

BPF_PROG_LOAD, TYPE_TRACING, ATTACH_ITERATOR = 5, 26, 28
SYS_BPF = {"x86_64": 321, "aarch64": 280}
RETURN_0 = struct.pack("<BBhi", 0xb7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)


def type_of(function):
    """The number of a kernel function in the kernel's own description; None: it has none."""
    dump = subprocess.run(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux"],
                          capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^\[(\d+)\] FUNC '{function}'", dump, re.M)
    return int(found[1]) if found else None


def refused(name):
    """Is an iterator of this name that does nothing at all refused for want of rights?"""
    number = type_of(f"bpf_iter_{name}")
    if number is None:
        return False
    code = ctypes.create_string_buffer(RETURN_0)
    licence = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack("=IIQQ", TYPE_TRACING, 2, ctypes.addressof(code),
                             ctypes.addressof(licence)).ljust(68, b"\0")
    attributes += struct.pack("=I", ATTACH_ITERATOR).ljust(40, b"\0") + struct.pack("=I", number)
    libc = ctypes.CDLL(None, use_errno=True)
    given = ctypes.create_string_buffer(attributes.ljust(128, b"\0"))
    fd = libc.syscall(SYS_BPF[platform.machine()], BPF_PROG_LOAD, given, 128)
    if fd >= 0:
        os.close(fd)
    return fd < 0 and ctypes.get_errno() in (errno.EPERM, errno.EACCES)
