# SPDX-License-Identifier: Apache-2.0
"""Two hosts joined by TUN devices: IP packets go through this process."""
import fcntl
import os
import select
import struct
import threading

TUNSETIFF = 0x400454ca
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
PACKET_MAX = 65536


def open_tun(host, name, address):
    with host.inside():
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    host.run(["ip", "addr", "add", address, "dev", name])
    host.run(["ip", "link", "set", name, "up"])
    return fd


class Tunnel:
    """A context manager: host a's device and host b's, tun0 both, are one link while it lasts."""

    def __init__(self, a, address_a, b, address_b, names=("tun0", "tun0")):
        self.fds = open_tun(a, names[0], address_a), open_tun(b, names[1], address_b)
        self.wake, self.waker = os.pipe()
        self.thread = threading.Thread(target=self.relay, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        os.close(self.waker)
        self.thread.join()
        for fd in (*self.fds, self.wake):
            os.close(fd)

    def relay(self):
        other = {self.fds[0]: self.fds[1], self.fds[1]: self.fds[0]}
        while True:
            for fd in select.select([*self.fds, self.wake], [], [])[0]:
                if fd == self.wake:
                    return
                try:
                    os.write(other[fd], os.read(fd, PACKET_MAX))
                except OSError:
                    pass  # a full queue loses packets, as on any link
