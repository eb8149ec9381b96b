# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A host from inside: its name spaces, its mounts, and the service that runs commands in it.

A request is four bytes of length, with the three standard descriptors beside them, and JSON {argv, env, cwd}.
While the command runs, bytes from the client are signals for it; at its end the client is sent `xSTATUS\\n`. A
client that goes takes its command with it.
"""

import json
import os
import select
import signal
import socket
import struct
import time

from . import kernel

MERCY_S = 2  # between SIGTERM and SIGKILL
SWITCH = "switch"


def hold(cluster, host, config, wait, told):
    """The first process of a host or of the switch; returns never."""
    os.setsid()
    spaces = kernel.NEW_NETWORK
    if host != SWITCH:
        spaces |= kernel.NEW_HOST_NAME | kernel.NEW_IPC | kernel.NEW_MOUNTS
        spaces |= kernel.NEW_PIDS if config.pid_spaces else 0
    kernel.unshare(spaces)
    if host != SWITCH and config.pid_spaces:
        pid = os.fork()
        if pid:  # the outer half is there only to be the parent
            os.close(wait)
            os.close(told)
            (cluster.folder / host / "outer").write_text(str(os.getpid()))
            os.waitpid(pid, 0)
            os._exit(0)
        kernel.die_with_parent(signal.SIGKILL)
    os.write(told, b"u")
    os.read(wait, 1)  # until the network is there
    if host == SWITCH:
        os.write(told, b"k")
        signal.pause()
        os._exit(0)
    set_up(cluster.folder / host, host, config)
    Service(cluster.folder / host / "sock").run(told)


def set_up(home, host, config):
    """Mounts what a host has for itself; the rest of the file system is shared."""
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    socket.sethostname(host)
    if config.pid_spaces:
        kernel.mount("proc", "/proc", "proc")
    groups = str(home / "cgroup")
    os.makedirs(groups, exist_ok=True)
    kernel.mount("/sys/fs/cgroup", groups, None, kernel.BIND | kernel.RECURSIVE)
    kernel.mount("sysfs", "/sys", "sysfs")  # a new one shows the devices of this network
    kernel.mount(groups, "/sys/fs/cgroup", None, kernel.BIND | kernel.RECURSIVE)
    kernel.unmount_lazily(groups)
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")
    hosts = home / "hosts"
    hosts.write_text(hosts_file(config))
    kernel.mount(str(hosts), "/etc/hosts", None, kernel.BIND)
    if config.private_tmp:
        replace_tmp(str(home / "tmp"), config.keep)


def hosts_file(config):
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
    for i, name in enumerate(config.names()):
        lines.append(f"10.77.0.{i + 1} {name}")
        lines += [f"10.77.{rail}.{i + 1} {name}-eth{rail}" for rail in range(1, config.rails)]
    return "\n".join(lines) + "\n"


def replace_tmp(fresh, keep):
    os.makedirs(fresh, exist_ok=True)
    kernel.mount("tmpfs", fresh, "tmpfs", 0, "mode=1777")
    for folder in keep:
        if folder.startswith("/tmp/") and os.path.isdir(folder):
            os.makedirs(fresh + folder[4:], exist_ok=True)
            kernel.mount(folder, fresh + folder[4:], None, kernel.BIND | kernel.RECURSIVE)
    kernel.mount(fresh, "/tmp", None, kernel.BIND | kernel.RECURSIVE)


class Service:
    """Runs commands for clients and is the parent of every orphan of the host."""

    def __init__(self, path):
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.door.bind(str(path))
        self.door.listen(64)
        self.alarm, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.client_of = {}  # pid -> socket, None when the client has gone
        self.pid_of = {}     # socket -> pid
        self.doomed = []     # (when, process group)

    def run(self, told):
        os.write(told, b"k")
        os.close(told)
        while True:
            soonest = min((when for when, _ in self.doomed), default=None)
            limit = None if soonest is None else max(0, soonest - time.monotonic())
            ready, _, _ = select.select([self.door, self.alarm, *self.pid_of], [], [], limit)
            self.kill_doomed()
            if self.alarm in ready:
                self.reap()
            for client in [one for one in ready if one in self.pid_of]:
                self.hear(client)
            if self.door in ready:
                self.admit()

    def kill_doomed(self):
        now = time.monotonic()
        for when, group in [one for one in self.doomed if one[0] <= now]:
            self.doomed.remove((when, group))
            send_signal(group, signal.SIGKILL)

    def reap(self):
        try:
            os.read(self.alarm, 4096)
        except BlockingIOError:
            pass
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            client = self.client_of.pop(pid, None)
            if client is None:
                continue
            self.pid_of.pop(client, None)
            try:
                client.send(b"x%d\n" % os.waitstatus_to_exitcode(status))
            except OSError:
                pass
            client.close()

    def hear(self, client):
        try:
            signals = client.recv(64)
        except OSError:
            signals = b""
        pid = self.pid_of[client]
        for number in signals:
            send_signal(pid, number)
        if not signals:
            del self.pid_of[client]
            self.client_of[pid] = None
            client.close()
            send_signal(pid, signal.SIGTERM)
            self.doomed.append((time.monotonic() + MERCY_S, pid))

    def admit(self):
        client, _ = self.door.accept()
        try:
            request, descriptors = receive(client)
        except (OSError, EOFError, ValueError) as problem:
            print("bad request:", problem, flush=True)
            client.close()
            return
        pid = os.fork()
        if pid == 0:
            become(request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self.client_of[pid] = client
        self.pid_of[client] = pid


def send_signal(group, number):
    try:
        os.killpg(group, number)
    except OSError:
        pass


def receive(client):
    client.settimeout(5)
    head, descriptors, _, _ = socket.recv_fds(client, 4, 3)
    body = b""
    while len(head) < 4 or len(body) < struct.unpack("I", head)[0]:
        wanted = 4 - len(head) or struct.unpack("I", head)[0] - len(body)
        piece = client.recv(wanted)
        if not piece:
            raise EOFError("the client has gone")
        if len(head) < 4:
            head += piece
        else:
            body += piece
    client.settimeout(None)
    return json.loads(body), descriptors


def become(request, descriptors):
    """In the child: turns into the command."""
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        high = [os.dup2(descriptor, 100 + i) for i, descriptor in enumerate(descriptors)]
        for i, descriptor in enumerate(high):
            os.dup2(descriptor, i)
        os.closerange(3, 4096)
        try:
            os.chdir(request["cwd"])
        except OSError:
            os.chdir("/")
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except BaseException as problem:  # pylint: disable=broad-except
        os.write(2, f"fakecluster: {request['argv'][0]}: {problem}\n".encode())
    finally:
        os._exit(127)
