# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A cluster from outside: what it is made of, where its state lies, making it and taking it down.

The state is a folder per cluster below /run/fakecluster: `conf` (JSON) and, for each host, `pid` (its first
process as the machine sees it), `outer` (that one's parent), `sock` (where it takes requests) and `log`.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from . import inside

SWITCH = "switch"
ROOT = pathlib.Path("/run/fakecluster")
MARK = b"fakecluster"  # in the command line of every process of ours


@dataclasses.dataclass
class Config:
    """What `up` was asked for."""
    hosts: int
    rate: str = "none"        # of every link, as tc writes it
    rails: int = 1            # networks of every host
    mtu: int = 0              # 0: the kernel's
    private_tmp: bool = False
    pid_spaces: bool = True   # every host numbers its processes for itself
    keep: list = dataclasses.field(default_factory=list)  # folders below /tmp that stay visible

    def names(self):
        return [f"node{i}" for i in range(self.hosts)]


class Cluster:
    """One cluster, up or not."""

    def __init__(self, name):
        self.folder = ROOT / name

    def is_up(self):
        return (self.folder / "conf").exists()

    def config(self):
        if not self.is_up():
            raise SystemExit("fakecluster: no cluster is up; `fakecluster up 2` makes one")
        return Config(**json.loads((self.folder / "conf").read_text()))

    def pid_of(self, host):
        return int((self.folder / host / "pid").read_text())

    def in_network_of(self, host, *command, **options):
        """Runs a command in the network of a host, or of the switch."""
        return subprocess.run(["nsenter", "-t", str(self.pid_of(host)), "-n", *command], check=True, **options)

    # ---- up and down

    def up(self, config):
        if self.is_up():
            raise SystemExit("fakecluster: the cluster is up already; `fakecluster down` ends it")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "conf").write_text(json.dumps(dataclasses.asdict(config)))
        try:
            pipes = {host: self._start(host, config) for host in [SWITCH, *config.names()]}
            self._wire(config)
            if config.rate != "none":
                for host in config.names():
                    self.limit(host, config.rate)
            for host, (answer, go) in pipes.items():
                os.write(go, b"g")
                if os.read(answer, 1) != b"k":
                    raise SystemExit(f"fakecluster: {host} did not start:\n{(self.folder / host / 'log').read_text()}")
        except BaseException:
            self.down()
            raise

    def _start(self, host, config):
        """Starts the first process of a host; its name spaces exist when this returns."""
        home = self.folder / host
        home.mkdir(parents=True, exist_ok=True)
        answer, told = os.pipe()
        wait, go = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(answer)
                os.close(go)
                log = os.open(home / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                null = os.open("/dev/null", os.O_RDONLY)
                for number, fd in enumerate((null, log, log)):
                    os.dup2(fd, number)
                os.chdir("/")
                inside.hold(self, host, config, wait, told)
            except BaseException as problem:  # pylint: disable=broad-except
                print(host, repr(problem), flush=True)
            finally:
                os._exit(1)
        os.close(told)
        os.close(wait)
        if os.read(answer, 1) != b"u":
            raise SystemExit(f"fakecluster: {host} did not start:\n{(home / 'log').read_text()}")
        if host != SWITCH and config.pid_spaces:
            pid = _only_child(pid)
        (home / "pid").write_text(str(pid))
        return answer, go

    def _wire(self, config):
        """A bridge per rail in the switch, and a link from it to every host."""
        switch = ["link set lo up"]
        hosts = {host: ["link set lo up"] for host in config.names()}
        mtu = f" mtu {config.mtu}" if config.mtu else ""
        for rail in range(config.rails):
            switch += [f"link add br{rail} type bridge", f"link set br{rail} up"]
            for i, (host, lines) in enumerate(hosts.items()):
                port, card = f"p{i}r{rail}", f"eth{rail}"
                switch += [f"link add {port}{mtu} type veth peer name {card}{mtu} netns {self.pid_of(host)}",
                           f"link set {port} master br{rail} up"]
                lines += [f"addr add {address(i, rail)}/24 dev {card}", f"link set {card} up"]
        no_v6 = "for f in default all; do echo 1 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done; exec ip -batch -"
        for host, lines in {SWITCH: switch, **hosts}.items():
            self.in_network_of(host, "sh", "-c", no_v6, input="\n".join(lines) + "\n", text=True)

    def down(self):
        """Ends every process of the cluster, and with the last one of a host all that was in it."""
        if not self.folder.is_dir():
            return
        pids = []
        for file in [*self.folder.glob("*/pid"), *self.folder.glob("*/outer")]:
            try:
                pids.append(int(file.read_text()))
            except (OSError, ValueError):
                pass
        for pid in pids:
            kill_ours(pid)
        end = time.monotonic() + 5
        while any(alive(pid) for pid in pids) and time.monotonic() < end:
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- while it is up

    def limit(self, host, rate, only=None):
        """Limits both directions of all links of a host, or of that of one rail; `none` lifts it."""
        i = int(host.removeprefix("node"))
        for rail in self._rails(only):
            for where, card in ((host, f"eth{rail}"), (SWITCH, f"p{i}r{rail}")):
                qdisc = ["nsenter", "-t", str(self.pid_of(where)), "-n", "tc", "qdisc"]
                subprocess.run([*qdisc, "del", "dev", card, "root"], stderr=subprocess.DEVNULL, check=False)
                if rate != "none":
                    subprocess.run([*qdisc, "add", "dev", card, "root", "tbf", "rate", rate, "burst", "256kb",
                                    "latency", "50ms"], check=True)

    def set_links(self, host, state, only=None):
        """Cuts (`down`) or mends (`up`) the links of a host, or that of one rail, at the switch."""
        i = int(host.removeprefix("node"))
        for rail in self._rails(only):
            self.in_network_of(SWITCH, "ip", "link", "set", f"p{i}r{rail}", state)

    def _rails(self, only):
        return range(self.config().rails) if only is None else [int(only)]

    def kill(self, host):
        """The host is gone at once, with everything in it."""
        kill_ours(self.pid_of(host))


def address(index, rail):
    """The address of host `index` on a rail."""
    return f"10.77.{rail}.{index + 1}"


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def kill_ours(pid):
    """Kills a process only if it is one of a cluster's own: numbers are used again."""
    try:
        if MARK in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def _only_child(pid):
    """The first process of a pid name space, by its number outside."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if found := children.read_text().split():
            return int(found[0])
        time.sleep(0.002)
    raise SystemExit(f"fakecluster: process {pid} has no child")
