# SPDX-License-Identifier: Apache-2.0
"""What the sweep goes through: rows by hand, and a covering set of all pairs of factors."""
import dataclasses
import itertools
import random


# Rows whose requests meet a rule with an action of this name.
RULES = ("strip", "restart")


@dataclasses.dataclass(frozen=True)
class Row:
    """One combination. Percentages per packet on the wire, times in microseconds, sizes in bytes."""
    # tun, tap: bad link; veth: good link; by a gateway with SNAT: gateway (the bad link lies beyond
    # it) or near (the bad link lies before it)
    path: str = "tun"
    ip: int = 4
    mode: str = "keep"         # new, keep, pipeline
    offload: str = "segment"   # off, segment, pass; on a veth anything but off is on
    loss: float = 0
    reorder: float = 0
    duplicate: float = 0
    burst: int = 0             # longest run of lost packets
    corrupt: float = 0
    forge: float = 0           # a stranger sends SYN, SYN-ACK, FIN, RST beside so many
    each: int = 0              # each connection has a mishap of its own, within so many packets
    pairs: bool = False        # ... or loses any two of them
    delay: int = 0
    jitter: int = 0
    mtu: int = 1500
    limit: str = "device"      # who knows the MTU: the device, or only the path (told by ICMP)
    sack: bool = True
    timestamps: bool = True
    cut: str = "mixed"         # how heads are sent; see client --help
    bodies: int = 5_000_000
    connections: int = 32
    aborts: int = 0            # per cent of the connections that the client ends in the middle
    extra: tuple = ()          # further options of the client
    sysctls: tuple = ()        # (name below net.ipv4, value) for all hosts
    requests: int = 0          # how many; 0: an even share of all
    expect: str = "one"        # what the agent owes: one, atmost; strip, restart: by such a rule
    streams: int = 0           # HTTP/2, with so many requests at once on a connection; 0: HTTP/1

    @property
    def name(self):
        """What distinguishes the row, readable and usable with --only."""
        how = f"http2-{self.streams}" if self.streams else self.mode
        parts = [self.path, f"v{self.ip}", how, f"offload-{self.offload}"]
        for field in ("loss", "burst", "reorder", "duplicate", "corrupt", "forge", "each", "delay", "jitter"):
            if getattr(self, field):
                parts.append(f"{field}{getattr(self, field):g}")
        if self.mtu != 1500:
            parts.append(f"mtu{self.mtu}-{self.limit}")
        parts += ["pairs"] if self.pairs else []
        parts += [f"aborts{self.aborts}"] if self.aborts else []
        parts += [] if self.sack else ["nosack"]
        parts += [] if self.timestamps else ["nots"]
        parts += [] if self.cut == "mixed" else [f"cut-{self.cut}"]
        parts += [self.expect] if self.expect in RULES else []
        parts += [option.lstrip("-") for option in self.extra]
        parts += [f"{name}={value}".replace(" ", ",") for name, value in self.sysctls]
        return " ".join(parts)


# Rules that change bytes in place. Heads that stand in one packet: what has left is not changed.
IN_PLACE = (
    Row("gateway", 4, "keep", "pass", loss=2, reorder=5, expect="restart", cut="whole",
        extra=("--heads", "500")),
    Row("gateway", 6, "new", "off", loss=1, duplicate=3, expect="strip", cut="whole",
        extra=("--heads", "500")),
    Row("tun", 4, "keep", "segment", loss=3, reorder=5, duplicate=2, expect="restart", cut="whole",
        extra=("--heads", "500")),
    Row("tap", 6, "keep", "off", loss=2, reorder=5, sack=False, expect="strip", cut="whole",
        extra=("--heads", "500")),
    Row("veth", 4, "keep", expect="restart", cut="whole", extra=("--heads", "500")),
)

# Every packet of a connection lost once, repeated once, late once: connections of their own.
SMALL = ("--plain", "--heads", "700", "--per-connection", "6")
EACH = dict(each=12, bodies=1000, cut="whole")
EACH_SHORT = (
    Row("tun", 4, "keep", extra=SMALL, requests=96 * 6, **EACH),
    Row("gateway", 6, "pipeline", "off", timestamps=False, extra=SMALL, requests=96 * 6, **EACH),
)
# ... and any two of them lost.
PAIRS = dict(pairs=True, requests=372 * 6, **EACH)
POSTS = {**PAIRS, "bodies": 65536}
EACH_LONG = (
    Row("tun", 4, "keep", extra=SMALL, **PAIRS),
    Row("tun", 6, "keep", sack=False, timestamps=False, extra=SMALL, **PAIRS),
    Row("gateway", 4, "keep", sack=False, extra=SMALL, **PAIRS),
    Row("gateway", 6, "pipeline", "off", timestamps=False, extra=SMALL, **PAIRS),
    Row("tun", 4, "pipeline", "pass", extra=SMALL, **PAIRS),
    Row("tap", 4, "keep", extra=SMALL + ("--post",), **POSTS),
    # heads at the edge of one segment and beyond
    Row("tun", 4, "keep", "off", extra=("--plain", "--heads", "3000", "--per-connection", "6"),
        **PAIRS),
    Row("tun", 4, "keep", mtu=576, extra=SMALL, **{**PAIRS, "cut": "pieces"}),
    Row("tun", 4, "keep", extra=SMALL, sysctls=(("tcp_ecn", 1), ("tcp_mtu_probing", 1)), **PAIRS),
    # recovery as it was before RACK, TLP and F-RTO
    Row("tun", 6, "keep", extra=SMALL,
        sysctls=(("tcp_recovery", 0), ("tcp_early_retrans", 0), ("tcp_frto", 0)), **PAIRS),
    Row("tun", 4, "keep", extra=SMALL, sysctls=(("tcp_window_scaling", 0),), **PAIRS),
)

# Connections that end in the middle of something: where that is lost, the other end learns of it later.
FEW = ("--plain", "--per-connection", "4")
ABORTS_SHORT = (
    Row("tun", 4, "keep", loss=3, reorder=5, aborts=50, bodies=100_000, extra=FEW),
)
ABORTS_LONG = (
    Row("tap", 6, "pipeline", "off", loss=10, sack=False, aborts=80, bodies=20_000, extra=FEW),
    Row("gateway", 4, "keep", loss=5, duplicate=3, reorder=10, aborts=50, bodies=100_000, extra=FEW),
    Row("gateway", 6, "new", "pass", loss=10, timestamps=False, aborts=80, bodies=20_000),
    Row("near", 4, "keep", loss=2, reorder=5, aborts=50, bodies=100_000, extra=FEW,
        expect="atmost"),
    Row("near", 6, "pipeline", "off", loss=3, duplicate=2, aborts=50, extra=FEW, expect="atmost"),
)

# Strangers beside the link, in the name of the client, of the server, or of both.
FORGED = (
    Row("near", 4, "keep", forge=20, cut="whole", extra=("--heads", "1000"), bodies=100_000,
        expect="atmost"),
    Row("gateway", 4, "keep", forge=20, loss=2, reorder=3, cut="whole", bodies=100_000),
    Row("tun", 6, "keep", forge=20, loss=2, cut="whole", bodies=100_000),
    Row("near", 6, "pipeline", "off", forge=10, loss=2, cut="whole", bodies=100_000,
        expect="atmost"),
)

# HTTP/2: on devices with Ethernet headers, as it is not read on others.
HTTP2_SHORT = (
    Row("veth", 4, streams=4, bodies=200_000),
    Row("tap", 6, loss=3, reorder=5, duplicate=2, streams=3, bodies=50_000),
    Row("gateway", 4, "keep", "off", loss=2, reorder=5, streams=4, bodies=50_000),
)
HTTP2_LONG = (
    Row("veth", 6, "keep", "off", streams=1, bodies=2000),
    Row("veth", 4, mtu=9000, streams=32, expect="atmost"),
    Row("veth", 4, streams=100, bodies=2000, expect="atmost"),
    Row("tap", 4, "keep", "pass", loss=5, sack=False, streams=4, bodies=100_000),
    Row("tap", 4, mtu=576, loss=1, streams=2, bodies=20_000),
    Row("tap", 6, "keep", "off", loss=1, mtu=1280, limit="path", streams=4, bodies=100_000),
    Row("tap", 4, loss=2, burst=5, reorder=10, timestamps=False, streams=8, bodies=20_000),
    Row("tap", 4, "keep", "off", loss=1, corrupt=2, delay=500, jitter=300, streams=4, bodies=20_000),
    Row("gateway", 6, "keep", "pass", loss=2, duplicate=3, streams=8, bodies=100_000),
    Row("gateway", 4, loss=2, streams=4, bodies=20_000, extra=("--heads", "40000")),
    Row("near", 4, loss=2, reorder=5, streams=4, bodies=100_000, expect="atmost"),
)

# The smallest set that still meets every factor once in bad company.
SHORT = (
    Row("veth", 4, "keep"),
    Row("veth", 6, "pipeline", "off"),
    Row("veth", 4, "new", cut="bytes", bodies=2000),
    Row("tun", 4, "keep", "segment", loss=3, reorder=5),
    Row("tun", 6, "new", "off", loss=1, duplicate=3),
    Row("tap", 4, "pipeline", "pass", loss=2, reorder=10, duplicate=2),
    Row("tap", 6, "keep", "segment", loss=5, sack=False),
    Row("tun", 4, "pipeline", "segment", loss=2, reorder=5, timestamps=False, mtu=576),
    Row("tun", 6, "keep", "pass", loss=1, mtu=1280, limit="path"),
    Row("tap", 4, "new", "segment", loss=1, mtu=576, limit="path"),
    Row("tun", 4, "keep", "off", loss=2, corrupt=1, delay=500, jitter=300, cut="bytes", bodies=2000),
    Row("gateway", 4, "keep", "segment", loss=2, reorder=5, duplicate=2),
    Row("gateway", 6, "pipeline", "off", loss=1, reorder=5, timestamps=False),
    Row("gateway", 4, "new", "pass", loss=1, sack=False),
) + IN_PLACE[:2] + EACH_SHORT + ABORTS_SHORT + FORGED[:2] + HTTP2_SHORT

# Heads that several packets carry, and whose one line end may lie deep in a packet.
HEADS = ("--heads", "60000")
HEADS_LONG = (
    Row("tun", 4, "keep", "segment", loss=3, reorder=5, duplicate=2, extra=HEADS),
    Row("gateway", 6, "keep", "off", loss=2, reorder=5, extra=HEADS),
    Row("veth", 6, "new", cut="whole", bodies=2000, extra=HEADS),
)

# Rows beside the covering set, for what the factors do not say.
SPECIAL = SHORT + HTTP2_LONG + HEADS_LONG + FORGED[2:] + IN_PLACE[2:] + EACH_LONG + ABORTS_LONG + (
    # losses in bursts
    Row("tun", 4, "keep", loss=3, burst=5, reorder=3, bodies=100_000),
    Row("gateway", 4, "keep", loss=1, burst=4, bodies=100_000),
    Row("veth", 4, "keep", cut="bytes", mtu=1280, bodies=2000),
    Row("veth", 4, "pipeline", cut="whole"),
    # 64 deep and as long as they like: some are too deep, or too many, and go without
    Row("veth", 4, "pipeline", extra=("--depth", "64", "--pipeline-bytes", "1000000"),
        expect="atmost"),
    Row("tun", 4, "pipeline", loss=2, extra=("--depth", "64", "--pipeline-bytes", "1000000"),
        expect="atmost"),
    # no state of the server before the handshake is over (without loss: Linux itself resets some
    # connections then that cookies have opened), and another control of congestion
    Row("tun", 4, "new", sysctls=(("tcp_syncookies", 2),)),
    Row("gateway", 6, "pipeline", "off", loss=2, burst=4,
        sysctls=(("tcp_congestion_control", "reno"),)),
    # many connections find out about the path at the same time
    Row("tun", 6, "keep", "segment", loss=1, mtu=1280, limit="path", expect="atmost"),
    Row("tap", 4, "pipeline", "off", loss=1, mtu=576, limit="path", expect="atmost"),
    # a gateway that gets the packets in disorder may leave requests alone
    Row("near", 4, "keep", "segment", loss=2, reorder=5, duplicate=2, expect="atmost"),
    Row("near", 6, "pipeline", "off", loss=1, reorder=5, expect="atmost"),
    Row("near", 4, "new", "pass", loss=3, reorder=10, sack=False, expect="atmost"),
)

FACTORS = {
    "path": ("tun", "tap", "gateway"),
    "ip": (4, 6),
    "mode": ("new", "keep", "pipeline"),
    "offload": ("off", "segment", "pass"),
    "loss": (0, 1, 3, 5),
    "reorder": (0, 5, 10),
    "duplicate": (0, 3),
    "delay": (0, 1000),
    "mtu": (1500, 1280, 576),
    "limit": ("device", "path"),
    "sack": (True, False),
    "timestamps": (True, False),
    "cut": ("mixed", "pieces"),
    "bodies": (2000, 5_000_000),
}


def allowed(row):
    """IPv6 has no links below 1280 bytes."""
    return not (row.get("ip") == 6 and row.get("mtu") == 576)


def pairs_of(row):
    """All pairs of factor values in a full row."""
    return set(itertools.combinations(sorted(row.items()), 2))


def all_pairs():
    """All pairs that some row may have."""
    pairs = set()
    for (name_a, values_a), (name_b, values_b) in itertools.combinations(sorted(FACTORS.items()), 2):
        for pair in itertools.product(values_a, values_b):
            if allowed(dict(zip((name_a, name_b), pair))):
                pairs.add(((name_a, pair[0]), (name_b, pair[1])))
    return pairs


def random_row(rng):
    while True:
        row = {name: rng.choice(values) for name, values in FACTORS.items()}
        if allowed(row):
            return row


def covering(seed, tries=60):
    """Rows in which every allowed pair of factor values comes together at least once."""
    rng = random.Random(seed)
    missing, rows = all_pairs(), []
    while missing:
        best = max((random_row(rng) for _ in range(tries)),
                   key=lambda row: len(pairs_of(row) & missing))
        covered = pairs_of(best) & missing
        if covered:
            rows.append(Row(**best))
            missing -= covered
    return rows
