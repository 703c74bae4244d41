#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""inspect_seeds.py FOLDER: small files that the parsers of programs' files take for what they know."""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from elf import RELA, Section, address_of, elf, relocation, symbols  # noqa: E402

GO_FUNCTIONS = (
    "runtime.newproc.func1", "runtime.runqput", "gogo", "net/http.(*persistConn).writeLoop",
    "net/http.(*persistConn).readLoop", "net/http.(*persistConn).roundTrip", "runtime.send",
    "runtime.recv", "runtime.chansend", "runtime.chanrecv", "runtime.selectgo",
    "runtime.typedmemmove", "runtime.typedmemclr", "runtime.execute",
    "net/http.(*connReader).startBackgroundRead.func2")
NODE_FUNCTIONS = (
    "_ZN4node11Environment9RunTimersEP10uv_timer_s",
    "_ZN4node15LibuvStreamWrap8OnUvReadElPK8uv_buf_t",
    "_ZN4node11Environment14CheckImmediateEP10uv_check_s",
    "_ZThn88_N4node15LibuvStreamWrap10DoTryWriteEPP8uv_buf_tPm",
    "uv_run", "uv_tcp_init", "uv_tcp_connect", "uv_close", "v8dbg_TaggedSize",
    "v8dbg_type_JSObject__JS_OBJECT_TYPE")
PYTHON_NAMES = ("PyGILState_GetThisThreadState", "_PyRuntime", "Py_Version", "Context_Enter",
                "PyGreenlet_Type", "PyContext_CopyCurrent", "PyGILState_Ensure")
RUBY_NAMES = ("ruby_api_version", "rb_cThread", "ruby_current_ec", "rb_ary_push", "rb_ary_shift",
              "rb_thread_current", "rb_errinfo")
JAVA_NAMES = ("gHotSpotVMStructs", "gHotSpotVMTypes")
CODE = 16  # bytes of each function


def go_table():
    """.gopclntab of Go 1.20: header, functions, descriptions, names."""
    count = len(GO_FUNCTIONS)
    table = 72
    described = table + count * 8 + 4
    named = described + count * 8
    names, entries, descriptions = b"", b"", b""
    for i, name in enumerate(GO_FUNCTIONS):
        entries += struct.pack("<II", i * CODE, described - table + i * 8)
        descriptions += struct.pack("<II", 0, len(names))
        names += name.encode() + b"\0"
    header = struct.pack("<IHBB8Q", 0xfffffff1, 0, 1, 8, count, 0, 120, named, 0, 0, 0, table)
    return header + entries + struct.pack("<I", count * CODE) + descriptions + names


def go():
    build = b"\xff Go buildinf:\x08\x02".ljust(32, b"\0") + b"\x08go1.20.1".ljust(16, b"\0")
    call = b"\xe8" + struct.pack("<i", CODE - 5)
    stored = b"\x64\x48\x89\x14\x25\xf8\xff\xff\xff"
    code = (call.ljust(CODE, b"\x90") * 2 + stored.ljust(CODE, b"\x90")).ljust(
        CODE * len(GO_FUNCTIONS), b"\x90")
    return elf([Section(".text", data=code), Section(".go.buildinfo", data=build),
                Section(".gopclntab", data=go_table())])


def library(names, code=b"\x55\x48\x89\xe5\xe8\0\0\0\0\xff\x25\0\0\0\0\xc3" * 8, texts=b"",
            numbers=b""):
    """A library with these symbols, each of them in its data; its relocations point at texts."""
    def sections(where, at):
        relocations = b"".join(relocation(at + 8 * i, 1 << 32 | i % 8 | 1, at + i)
                               for i in range(8))
        header = struct.pack("<BBBBIII", 1, 0x1b, 3, 0x3b, 0, 2, 0) + struct.pack("<iiii", 0, 0, 8, 0)
        return [*symbols({name: (where + 8 * i, 16) for i, name in enumerate(names)}),
                Section(".data", data=numbers.ljust(128, b"\1")), Section(".text", data=code),
                Section(".rodata", data=b"\0" + texts), Section(".eh_frame_hdr", data=header),
                Section(".rela.dyn", RELA, relocations, link=1)]
    first = sections(0, 0)
    return elf(sections(address_of(first, ".data"), address_of(first, ".rodata")))


SEEDS = {
    "go": go,
    "python": lambda: library(PYTHON_NAMES, texts=b"put\0get\0set_result\0write\0",
                              numbers=struct.pack("<QQI", 0, 0, 3 << 24 | 11 << 16)),
    "ruby": lambda: library(RUBY_NAMES, texts=b"queue\0sized_queue\0",
                            numbers=struct.pack("<iii", 3, 1, 0)),
    "node": lambda: library(NODE_FUNCTIONS),
    "java": lambda: library(JAVA_NAMES, texts=b"JavaThread\0_threadObj\0ConstantPool\0"),
    "others": lambda: library(("process_stream", "flt_stream_start", "accept_queue_process",
                               "th_ctx", "mono_jit_init")),
}

for name, make in SEEDS.items():
    Path(sys.argv[1], name).write_bytes(make())
