# SPDX-License-Identifier: Apache-2.0
"""What the servers in Python burn CPU with, in functions whose names tell for which endpoint, and the file of truth.

Environment: TRUTH, a file: one line for each slice; BURN_LIBRARY: the functions are native ones out of this library.
"""
import ctypes
import os
import threading
import time

SLICE_US, PAUSE_SECONDS, BACKGROUND_SECONDS = 2000, 0.002, 0.02
TRUTH = os.open(os.environ.get("TRUTH", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def spin(cpu_us):
    end = time.thread_time_ns() + cpu_us * 1000
    while time.thread_time_ns() < end:
        sum(range(1000))


def burn_a(cpu_us):
    spin(cpu_us)


def burn_b(cpu_us):
    spin(cpu_us)


def burn_background(cpu_us):
    spin(cpu_us)


BURN = {"a": burn_a, "b": burn_b, "-": burn_background}
if "BURN_LIBRARY" in os.environ:
    LIBRARY = ctypes.PyDLL(os.environ["BURN_LIBRARY"])  # the lock of the interpreter is kept
    BURN = {"a": LIBRARY.burn_a, "b": LIBRARY.burn_b, "-": LIBRARY.burn_background}


def burn_slice(request):
    """Burn for the request with this id, whose first letter is its endpoint, "-": for none."""
    start = time.monotonic_ns()
    BURN[request[0]](SLICE_US)
    end = time.monotonic_ns()
    os.write(TRUTH, f"{os.getpid()} {threading.get_native_id()} {start} {end} {request}\n".encode())


def burn_on(sleep):
    """Burns for nobody, all the time."""
    while True:
        burn_slice("-")
        sleep(BACKGROUND_SECONDS)


def start_background():
    """A thread that does, where the environment's BACKGROUND says so."""
    if "BACKGROUND" in os.environ:
        threading.Thread(target=burn_on, args=(time.sleep,), daemon=True).start()
