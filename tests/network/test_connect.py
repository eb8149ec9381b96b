# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Two processes connect: on one host, and on two hosts with networks that lead somewhere or nowhere."""

import os
import random
import subprocess
import time
import unittest

from hosts import HostsTest, link
from layouts import Layout, drop, drop_calls

CONNECT_RANK = os.environ["CONNECT_RANK"]
LAYOUTS = int(os.environ.get("FULMAR_TEST_LAYOUTS", "12"))
SEED = int(os.environ.get("FULMAR_TEST_SEED", "1"))


class Rank:
    """A connect_rank, on a host or, with None, on this machine."""

    def __init__(self, host, number, lanes=1, deadline_ms=3000, interfaces=""):
        command = [CONNECT_RANK, str(number), str(lanes), str(deadline_ms), interfaces]
        self.process = subprocess.Popen(host.inside(*command) if host else command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def begin(self, peer_address):
        self.process.stdin.write(peer_address + "\n")
        self.process.stdin.flush()

    def lines(self):
        text = self.process.stdout.read()
        self.process.wait(30)
        return text.splitlines()

    def end(self):
        """Of one that only answers."""
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def connect(one, other, lanes=(1, 1), when_listening=None, **options):
    """What the ranks on both hosts print, and how long it took."""
    ranks = [Rank(host, number, lanes[number], **options) for number, host in enumerate((one, other))]
    if when_listening is not None:
        when_listening()
    begin = time.monotonic()
    ranks[0].begin(ranks[1].address)
    ranks[1].begin(ranks[0].address)
    lines = [rank.lines() if lanes[number] else None for number, rank in enumerate(ranks)]
    took = time.monotonic() - begin
    lines = [rank.lines() if lines[number] is None else lines[number] for number, rank in enumerate(ranks)]
    for rank in ranks:
        rank.process.stdin.close()
        rank.process.stdout.close()
    return lines[0], lines[1], took


class ConnectTest(HostsTest):
    def assert_connected(self, result, network=""):
        one, other, _ = result
        self.assertTrue(one and len(one) == len(other), result)
        for line in one:
            word, mine, its = line.split(" ", 2)
            self.assertEqual(word, "connected", result)
            self.assertIn(f"connected {its} {mine}", other)
            self.assertIn(network, mine)

    def assert_failed(self, result, *parts):
        for lines in result[:2]:
            self.assertTrue(lines and all(line.startswith("failed") for line in lines), result)
        for part in parts:
            self.assertIn(part, result[0][0])
        self.assertLess(result[2], 10)


class OneHost(unittest.TestCase):
    def test_loopback(self):
        one, other, _ = connect(None, None, lanes=(3, 3))
        self.assertEqual([line.split()[0] for line in one + other], ["connected"] * 6)
        self.assertTrue(all("127.0.0.1" in line for line in one))


class TwoHosts(ConnectTest):
    def test_one_network(self):
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        for lanes in ((1, 1), (4, 4), (1, 0), (0, 1)):
            with self.subTest(lanes=lanes):
                self.assert_connected(connect(self.one, self.other, lanes), "10.1.0.")

    def test_bridges_with_the_same_address(self):
        for host in (self.one, self.other):
            host.bridge("docker0", "172.17.0.1/16")
            host.bridge("inner", "172.19.0.1/16")
        link(self.one, "net", self.other, "net", ("10.1.0.1/24", "10.1.0.2/24"))
        result = connect(self.one, self.other)
        self.assert_connected(result, "10.1.0.")

    def test_bridges_in_the_same_subnet(self):
        for number, host in enumerate((self.one, self.other), 1):
            host.bridge("docker0", f"172.17.0.{number}/16")
            host.bridge("inner", f"172.19.0.{number}/16")  # no name that gives it away
        link(self.one, "net", self.other, "net", ("10.1.0.1/24", "10.1.0.2/24"))
        result = connect(self.one, self.other)
        self.assert_connected(result, "10.1.0.")
        self.assertLess(result[2], 2)

    def test_no_common_network(self):
        for number, host in enumerate((self.one, self.other), 1):
            host.bridge("docker0", "172.17.0.1/16")
            host.bridge("inner", f"172.19.0.{number}/16")
        self.assert_failed(connect(self.one, self.other, deadline_ms=1500), "172.17.0.1: this host has the same address",
                           "172.19.0.2:", "loopback of another host")

    def test_a_network_that_swallows_everything(self):
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        link(self.one, "eth1", self.other, "eth1", ("10.2.0.1/24", "10.2.0.2/24"))
        for host in (self.one, self.other):
            host.ip("link set eth0 arp off")
        self.assert_connected(connect(self.one, self.other), "10.2.0.")

    def test_chosen_interface(self):
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        link(self.one, "eth1", self.other, "eth1", ("10.2.0.1/24", "10.2.0.2/24"))
        for choice in ("eth1", "10.2.0.0/16", "^eth0,^lo"):
            with self.subTest(choice=choice):
                self.assert_connected(connect(self.one, self.other, (2, 2), interfaces=choice), "10.2.0.")

    def test_a_routed_network(self):
        router = self.host()
        link(self.one, "eth0", router, "left", ("10.1.0.1/24", "10.1.0.9/24"))
        link(self.other, "eth0", router, "right", ("10.2.0.1/24", "10.2.0.9/24"))
        router.sysctl("ipv4/ip_forward", 1)
        self.one.ip("route add default via 10.1.0.9")
        self.other.ip("route add default via 10.2.0.9")
        self.assert_connected(connect(self.one, self.other))

    def test_ipv6(self):
        link(self.one, "eth0", self.other, "eth0", ("fd00::1/64", "fd00::2/64"))
        self.assert_connected(connect(self.one, self.other, (2, 2)), "[fd00::")

    def test_link_local(self):
        link(self.one, "eth0", self.other, "eth0")
        self.one.ip("addr add fe80::aa/64 dev eth0 nodad")
        self.other.ip("addr add fe80::bb/64 dev eth0 nodad")
        self.assert_connected(connect(self.one, self.other), "[fe80::")

    def test_only_one_side_can_begin(self):
        # The first host has no way to addresses of the second, but answers on the way that a packet came.
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        self.other.bridge("inner", "10.9.0.1/24")
        self.assert_connected(connect(self.one, self.other, (3, 3), interfaces="^lo"))

    def test_firewall_at_either_host(self):
        """Nobody may call a host, but it may call others."""
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        for closed in (self.one, self.other):
            with self.subTest(closed=self.hosts.index(closed)):
                result = connect(self.one, self.other, (2, 2), when_listening=lambda: drop_calls(closed, "eth0"))
                self.assert_connected(result, "10.1.0.")

    def test_firewall_at_both_hosts(self):
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        for host in (self.one, self.other):
            drop(host, "eth0")
        self.assert_failed(connect(self.one, self.other, deadline_ms=1500), "10.1.0.2:")

    def test_one_subnet_twice(self):
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        link(self.one, "eth1", self.other, "eth1", ("10.1.0.3/24", "10.1.0.4/24"))
        self.assert_connected(connect(self.one, self.other, (3, 3)), "10.1.0.")

    def test_link_that_comes_up_late(self):
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        ranks = [Rank(self.one, 0, deadline_ms=8000), Rank(self.other, 1, deadline_ms=8000)]
        self.one.ip("link set eth0 down")
        ranks[0].begin(ranks[1].address)
        ranks[1].begin(ranks[0].address)
        self.one.ip("link set eth0 up")
        self.assert_connected((ranks[0].lines(), ranks[1].lines(), 0), "10.1.0.")
        for rank in ranks:
            rank.process.stdin.close()
            rank.process.stdout.close()


@unittest.skipUnless(os.environ.get("FULMAR_TEST_EVERY_PATH"), "takes 25 s; FULMAR_TEST_EVERY_PATH=1 runs it")
class DeadOrBusy(ConnectTest):
    def watch(self, watch_ms):
        """Rank 0 sends to a rank 1 that reads nothing."""
        link(self.one, "eth0", self.other, "eth0", ("10.1.0.1/24", "10.1.0.2/24"))
        os.environ["WATCH_MS"] = str(watch_ms)
        self.addCleanup(os.environ.pop, "WATCH_MS")
        ranks = [Rank(self.one, 0), Rank(self.other, 1)]
        ranks[0].begin(ranks[1].address)
        ranks[1].begin(ranks[0].address)
        for rank in ranks:
            self.assertTrue(rank.process.stdout.readline().startswith("connected"))
        return ranks

    def finish(self, ranks):
        lines = ranks[0].lines()
        for rank in ranks:
            rank.end()
        return lines

    def test_a_busy_rank_is_not_dead(self):
        self.assertEqual(self.finish(self.watch(12000)), ["alive"])

    def test_a_host_that_is_gone_is_noticed_within_10_s(self):
        ranks = self.watch(30000)
        self.other.ip("link set eth0 down")
        begin = time.monotonic()
        lines = self.finish(ranks)
        self.assertTrue(lines[0].startswith("dead"), lines)
        self.assertLess(time.monotonic() - begin, 12)


class RandomLayouts(ConnectTest):
    """See layouts.py."""

    def test_end_in_a_connection_or_an_error(self):
        for number in range(LAYOUTS):
            self.tearDown()
            self.setUp()
            layout = Layout(self.one, self.other, random.Random(SEED * 100000 + number), self.host)
            with self.subTest(layout=number, seed=SEED, networks=layout.description):
                result = connect(self.one, self.other, when_listening=layout.when_listening, deadline_ms=1500)
                if layout.leads or (result[0][0].startswith("connected") and not layout.leads_nowhere):
                    self.assert_connected(result)
                else:
                    self.assert_failed(result, "rank 1 cannot be reached from rank 0")


if __name__ == "__main__":
    unittest.main()
