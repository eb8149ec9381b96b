# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Hosts made of network name spaces, and links between them. Needs root; nothing is left behind."""

import os
import shutil
import subprocess
import unittest


def why_not():
    """What keeps such hosts from being made; None if nothing does."""
    if os.geteuid() != 0:
        return "network name spaces need root"
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (packages iproute2, util-linux)"
    trial = subprocess.run(["unshare", "--net", "ip", "link", "add", "near", "type", "veth", "peer", "name",
                            "far"],
                           capture_output=True, text=True, check=False)
    return None if trial.returncode == 0 else "the kernel denies network name spaces: " + trial.stderr.strip()


class Host:
    """A network name space. It lives as long as a process that waits for the end of its input."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.ip("link set lo up")

    def inside(self, *command):
        return ["nsenter", "-t", str(self.holder.pid), "-n", *command]

    def ip(self, *lines):
        subprocess.run(self.inside("ip", "-batch", "-"), input="\n".join(lines) + "\n", text=True, check=True,
                       capture_output=True)

    def sysctl(self, name, value):
        subprocess.run(self.inside("sh", "-c", f"echo {value} >/proc/sys/net/{name}"), check=True)

    def bridge(self, name, address):
        """A bridge that nothing of another host is in, up and with a carrier."""
        self.ip(f"link add {name} type bridge", f"link add {name}-p type veth peer name {name}-c",
                f"link set {name}-p master {name} up", f"link set {name}-c up", f"link set {name} up",
                f"addr add {address} dev {name}")

    def end(self):
        self.holder.stdin.close()
        self.holder.wait()
        self.holder.stdout.close()


def link(one, one_name, other, other_name, addresses=()):
    """A cable between two hosts, with the addresses of its ends."""
    one.ip(f"link add {one_name} type veth peer name {other_name} netns {other.holder.pid}",
           f"link set {one_name} up")
    other.ip(f"link set {other_name} up")
    for host, name, address in zip((one, other), (one_name, other_name), addresses):
        host.ip(f"addr add {address} dev {name}" + (" nodad" if ":" in address else ""))


class HostsTest(unittest.TestCase):
    """Two hosts for each test."""

    @classmethod
    def setUpClass(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest(reason)

    def setUp(self):
        self.hosts = []
        self.one, self.other = self.host(), self.host()

    def tearDown(self):
        for host in self.hosts:
            host.end()

    def host(self):
        self.hosts.append(Host())
        return self.hosts[-1]
