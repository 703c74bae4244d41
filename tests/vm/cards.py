# SPDX-License-Identifier: Apache-2.0
"""Network cards of a guest: a pair of each model, joined by a wire outside of the guest.

What drivers and cards do to packets (checksums, segmentation, merging) is not done by devices that
a kernel makes up, such as veth. A card's address tells which it is: 52:54:00:00:PAIR:SIDE.
"""
from collections import namedtuple

# name: of the pair; model: QEMU's; vnet: packets come and go with what is left to do to them
# (struct virtio_net_hdr), over TAP devices and a bridge; else QEMU does it, as the card would. (Not
# with e1000e and vmxnet3: QEMU 7.2 makes IP fragments then of what is to be segments.)
# second: options of the second card.
Pair = namedtuple("Pair", "name model driver vnet second", defaults=(False, ""))

# A card to which packets must come whole, with their checksums: the other one's host makes them.
NO_GUEST_OFFLOADS = ",mrg_rxbuf=off,guest_csum=off,guest_tso4=off,guest_tso6=off,guest_ecn=off," \
    "guest_ufo=off"

PAIRS = (
    Pair("e1000", "e1000", "e1000"),
    Pair("e1000e", "e1000e", "e1000e", vnet=True),
    Pair("vmxnet3", "vmxnet3", "vmxnet3", vnet=True),
    Pair("8139", "rtl8139", "8139cp"),
    Pair("virtio", "virtio-net-pci", "virtio_net", vnet=True),
    Pair("virtio-plain", "virtio-net-pci", "virtio_net", vnet=True, second=NO_GUEST_OFFLOADS),
)
SIDES = (1, 2)

WIRE = """ip link add br{number} type bridge && ip link set br{number} up &&
for side in 1 2; do
	ip tuntap add card{number}.$side mode tap vnet_hdr &&
	ip link set card{number}.$side master br{number} up || exit
done
"""


def address(pair, side):
    """The hardware address of a card."""
    return f"52:54:00:00:{PAIRS.index(pair):02x}:{side:02x}"


def wired(argv):
    """A command that runs QEMU `argv` with all cards in it, in a network namespace of its own."""
    wires = "".join(WIRE.format(number=n) + "[ $? = 0 ] || exit\n"
                    for n, pair in enumerate(PAIRS) if pair.vnet)
    cards = [word for pair in PAIRS for side in SIDES for word in card(pair, side)]
    return ["unshare", "--net", "sh", "-c", wires + 'exec "$@"', "sh", *argv, *cards]


def card(pair, side):
    """QEMU's options for a card and its end of the wire."""
    number = PAIRS.index(pair)
    name = f"card{number}.{side}"
    wire = f"tap,id={name},ifname={name},script=no,downscript=no,vhost=off" if pair.vnet else \
        f"hubport,id={name},hubid={number}"
    more = pair.second if side == SIDES[1] else ""
    return ["-netdev", wire, "-device", f"{pair.model},netdev={name},mac={address(pair, side)}{more}"]
