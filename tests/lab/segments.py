# SPDX-License-Identifier: Apache-2.0
"""TCP segments that no socket sends, many of them, out of a device of a host."""
import ipaddress
import json
import socket
import struct

SYN_ACK, ACK, PSH_ACK = 0x12, 0x10, 0x18


def _sum(data):
    """The ones' complement sum of 16-bit words, not folded."""
    data += b"\0" * (len(data) % 2)
    return sum(struct.unpack(f"!{len(data) // 2}H", data))


def _folded(total):
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def mac(host, device):
    """The Ethernet address of a device."""
    shown = host.run(["ip", "-j", "link", "show", "dev", device]).stdout
    return bytes.fromhex(json.loads(shown)[0]["address"].replace(":", ""))


class Segments:
    """IPv4 segments alike but for their ports; checksums are right."""

    def __init__(self, host, device, to_mac, source, to, flags, payload=b""):
        with host.inside():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind((device, 0))
        addresses = ipaddress.ip_address(source).packed + ipaddress.ip_address(to).packed
        length = 40 + len(payload)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, length, 1, 0x4000, 64, 6, 0)
        ip = ip[:10] + struct.pack("!H", _folded(_sum(ip + addresses))) + addresses
        tcp = struct.pack("!IIBBHHH", 1_000_000, 2_000_000, 0x50, flags, 64240, 0, 0)
        self.frame = bytearray(to_mac + mac(host, device) + b"\x08\x00" + ip + bytes(4) + tcp + payload)
        self.total = _sum(addresses + struct.pack("!HH", 6, length - 20) + tcp + payload)

    def send(self, sport, dport):
        struct.pack_into("!HH", self.frame, 34, sport, dport)
        struct.pack_into("!H", self.frame, 50, _folded(self.total + sport + dport))
        self.socket.send(self.frame)

    def send_many(self, count):
        """So many, no two of which have the same ports."""
        for number in range(count):
            self.send(1024 + number % 60_000, 80 + number // 60_000)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
