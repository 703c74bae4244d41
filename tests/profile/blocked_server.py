# SPDX-License-Identifier: Apache-2.0
"""A server whose arguments, as /proc tells them, stand in a page of a file, which nobody has read yet.

    blocked_server.py PORT FILE PAD

PAD is so long that a page of it has nothing else.
"""
import ctypes
import mmap
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

ARG_START = 48  # number of the field: proc_pid_stat(5)
MAP_SHARED, MAP_FIXED, PROT_READ = 1, 16, 1


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def hide_arguments(path):
    with open("/proc/self/stat") as stat:
        start = int(stat.read().rsplit(")", 1)[1].split()[ARG_START - 3])
    second_page = (start // mmap.PAGESIZE + 2) * mmap.PAGESIZE
    call = ctypes.CDLL(None, use_errno=True).mmap
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    file = os.open(path, os.O_RDONLY)
    if call(second_page, mmap.PAGESIZE, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) != second_page:
        sys.exit(f"mmap: {os.strerror(ctypes.get_errno())}")


hide_arguments(sys.argv[2])
HTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
