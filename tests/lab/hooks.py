# SPDX-License-Identifier: Apache-2.0
"""What stands at the hooks of a device, asked of the kernel itself (bpf(2), tc), and a foreign program."""
import contextlib
import ctypes
import json
import os
import socket
import struct
import subprocess

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
PROG_LOAD, OBJ_GET_INFO, PROG_QUERY, LINK_CREATE = 5, 15, 16, 28
SCHED_CLS = 3
TCX = {"in": 46, "out": 47}
SO_NETNS_COOKIE = 71
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    """One bpf(2) call. Returns its result and the attributes as the kernel left them."""
    buffer = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    result = libc.syscall(SYS_BPF, command, buffer, 128)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return result, buffer.raw


@contextlib.contextmanager
def inside(host):
    """This thread in the host's network namespace."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{host.netns}", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        yield
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(there)
        os.close(home)


def cookie(host):
    with inside(host), socket.socket(socket.AF_UNIX) as s:
        return int.from_bytes(s.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), "little")


def has_tcx():
    try:
        bpf(PROG_QUERY, struct.pack("<II", 1, TCX["in"]))
    except OSError:
        return False
    return True


def tcx_ids(host, device, hook):
    """(program id, link id) of each TCX program at a hook, in the order in which they run."""
    programs, links = (ctypes.c_uint32 * 64)(), (ctypes.c_uint32 * 64)()
    with inside(host):
        index = socket.if_nametoindex(device)
        _, out = bpf(PROG_QUERY, struct.pack("<IIIIQIIQQQ", index, TCX[hook], 0, 0,
                                             ctypes.addressof(programs), 64, 0, 0,
                                             ctypes.addressof(links), 0))
    count = struct.unpack_from("<I", out, 24)[0]
    return [(programs[i], links[i]) for i in range(count)]


def clsact_filters(host, device, hook):
    """(priority, handle, program id or None) of each clsact classifier, in running order."""
    side = {"in": "ingress", "out": "egress"}[hook]
    shown = host.run(["tc", "-j", "filter", "show", "dev", device, side], check=False).stdout
    return [(row["pref"], row["options"]["handle"], row["options"].get("prog", {}).get("id"))
            for row in json.loads(shown or "[]") if "options" in row]


def add_foreign_classifier(host, device, hook):
    """A classic BPF classifier that matches nothing, at a low priority number."""
    side = {"in": "ingress", "out": "egress"}[hook]
    host.run(["tc", "filter", "add", "dev", device, side, "prio", 10, "protocol", "all",
              "bpf", "bytecode", "1,6 0 0 0", "flowid", "1:1"])


def program_name(program_id):
    shown = subprocess.run(["bpftool", "-j", "prog", "show", "id", str(program_id)],
                           capture_output=True, text=True, check=False).stdout
    return json.loads(shown).get("name", "")


def load_foreign():
    """A program that lets every packet pass on (TCX_NEXT). Returns its descriptor."""
    code = struct.pack("<BBhi", 0xb7, 0, 0, -1) + struct.pack("<BBhi", 0x95, 0, 0, 0)
    text, licence = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("<IIQQIIQII16s", SCHED_CLS, 2, ctypes.addressof(text),
                                      ctypes.addressof(licence), 0, 0, 0, 0, 0, b"foreign"))[0]


def attach_foreign(host, device, hook):
    """Attach a foreign program by TCX. Returns the link's descriptor; closing it detaches."""
    program = load_foreign()
    with inside(host):
        index = socket.if_nametoindex(device)
        link = bpf(LINK_CREATE, struct.pack("<IIII", program, index, TCX[hook], 0))[0]
    os.close(program)
    return link
