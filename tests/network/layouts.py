# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Random networks between two hosts: some that lead to the other one, and some that look as if they did."""

import subprocess

from hosts import link

# Each adds a network over which the hosts can, or cannot, reach each other.
WORKING = ("plain", "ipv6", "link_local", "twice", "tunnel", "routed", "one_way")
DEAD = ("bridges", "blocked", "dead_tunnel")
NAMES = ("eth", "net", "ib", "en")
BRIDGES = ("docker", "br-", "inner", "x")
TUNNELS = ("ipip", "gre", "vxlan")


def drop(host, interface, what=""):
    """As a firewall does: what comes over TCP there (to a port that `what` tells) is not answered. The rule stands
    before the one by which a host knows its own addresses, which is moved for it."""
    for family in ("-4", "-6"):
        for words in ("rule add pref 100 lookup local", "rule del pref 0 lookup local",
                      f"rule add pref 10 iif {interface} ipproto tcp {what} blackhole"):
            # The first two succeed once.
            subprocess.run(host.inside("ip", family, *words.split()), check="iif" in words, capture_output=True)


def drop_calls(host, interface):
    """The same for connections that others begin: to the ports that are listened on now."""
    listeners = subprocess.run(host.inside("ss", "-Htln"), capture_output=True, text=True, check=True).stdout
    for port in {line.split()[3].rsplit(":", 1)[1] for line in listeners.splitlines()}:
        drop(host, interface, f"dport {port}")


def add_tunnel(host, number, mine, other):
    """A tunnel of the first kind that this kernel has; its name."""
    for kind in TUNNELS:
        more = f"id {number} dstport 4789" if kind == "vxlan" else ""
        words = f"link add tun{number} type {kind} {more} local {mine} remote {other}".split()
        if subprocess.run(host.inside("ip", *words), capture_output=True, check=False).returncode == 0:
            return f"tun{number}"
    return None


class Layout:
    """What `chance` makes of two hosts. `host()` makes another one."""

    def __init__(self, one, other, chance, host):
        self.pair = (one, other)
        self.chance = chance
        self.host = host
        self.one_way = []  # interfaces at which nobody may call
        self.has_bridges = False
        self.kinds = [chance.choice(WORKING) for _ in range(chance.randrange(3))]
        dead = [chance.choice(DEAD) for _ in range(chance.randrange(4))]
        order = [*self.kinds, *dead]
        chance.shuffle(order)
        for number, kind in enumerate(order):
            getattr(self, f"_{kind}")(number)
        self.description = order

    @property
    def leads(self):
        """Whether a way has to be found. One by link-local addresses alone may be missed among bridges that nothing
        tells apart from networks: every address of the other host would have to be tried on every link."""
        return any(kind != "link_local" for kind in self.kinds) or (bool(self.kinds) and not self.has_bridges)

    @property
    def leads_nowhere(self):
        return not self.kinds

    def when_listening(self):
        """What can be done only then."""
        for host, interface in self.one_way:
            drop_calls(host, interface)

    def _cable(self, number, subnet=None):
        name = self.chance.choice(NAMES) + str(number)
        subnet = subnet or f"10.{50 + number}.0"
        link(self.pair[0], name, self.pair[1], name, (f"{subnet}.1/24", f"{subnet}.2/24"))
        return name

    def _plain(self, number):
        self._cable(number)

    def _ipv6(self, number):
        name = f"six{number}"
        link(*[word for host in self.pair for word in (host, name)], (f"fd00:{number}::1/64", f"fd00:{number}::2/64"))

    def _link_local(self, number):
        name = f"local{number}"
        link(*[word for host in self.pair for word in (host, name)])
        for end, host in enumerate(self.pair):
            host.ip(f"addr add fe80::{number}{end + 1}/64 dev {name} nodad")

    def _twice(self, number):
        """Two cables in one subnet."""
        self._cable(number)
        name = f"again{number}"
        link(self.pair[0], name, self.pair[1], name, (f"10.{50 + number}.0.3/24", f"10.{50 + number}.0.4/24"))

    def _routed(self, number):
        router = self.host()
        router.sysctl("ipv4/ip_forward", 1)
        for end, host in enumerate(self.pair):
            subnet, way = f"10.{50 + number}.{end + 1}", f"10.{50 + number}.{2 - end}"
            link(host, f"wan{number}", router, f"side{end}", (f"{subnet}.1/24", f"{subnet}.9/24"))
            host.ip(f"route add {way}.0/24 via {subnet}.9")

    def _one_way(self, number):
        """One of the two hosts lets nobody in."""
        self.one_way.append((self.chance.choice(self.pair), self._cable(number)))

    def _tunnel(self, number):
        """What it goes through lets no TCP pass; the tunnel does."""
        self._blocked(number)
        for end, host in enumerate(self.pair):
            below = f"10.{50 + number}.0"
            name = add_tunnel(host, number, f"{below}.{end + 1}", f"{below}.{2 - end}")
            if name is None:  # then this way is plain
                self._cable(number + 20)
                return
            host.ip(f"addr add 10.{150 + number}.0.{end + 1}/24 dev {name}", f"link set {name} up")

    def _blocked(self, number):
        name = self._cable(number)
        for host in self.pair:
            drop(host, name)

    def _bridges(self, number):
        """Of the same few subnets on both hosts, with the same or other addresses; nothing of the other is in them."""
        for host in self.pair:
            for each in range(self.chance.randrange(3)):
                subnet = self.chance.choice(("172.17.0", "172.18.0", "10.88.0", "10.1.0"))
                name = self.chance.choice(BRIDGES) + f"{number}{each}"
                host.bridge(name, f"{subnet}.{self.chance.randrange(1, 4)}/24")
                self.has_bridges = True

    def _dead_tunnel(self, number):
        """A VPN whose program has gone."""
        for end, host in enumerate(self.pair):
            host.ip(f"tuntap add dev vpn{number} mode tun", f"addr add 10.8.{number}.{end + 1}/24 dev vpn{number}",
                    f"link set vpn{number} up")
