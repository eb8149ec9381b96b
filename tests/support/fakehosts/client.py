# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Running commands in hosts, from outside or from another host."""

import json
import os
import signal
import socket
import struct
import sys

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
NO_HOST = 255  # as ssh says it


def request(cluster, host, argv, env, cwd):
    """Starts a command in a host, with the standard descriptors of this process."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(cluster.folder / host / "sock"))
    except OSError as problem:
        print(f"fakecluster: no route to host {host}: {problem}", file=sys.stderr)
        sys.exit(NO_HOST)
    body = json.dumps({"argv": argv, "env": env, "cwd": cwd}).encode()
    socket.send_fds(connection, [struct.pack("I", len(body))], [0, 1, 2])
    connection.sendall(body)
    return connection


def wait(connections):
    """The first exit status that is not 0, once all have ended; signals are passed on meanwhile."""
    def forward(number, _):
        for connection in connections:
            try:
                connection.send(bytes([number]))
            except OSError:
                pass
    for number in FORWARDED:
        signal.signal(number, forward)
    status = 0
    for connection in connections:
        line = b""
        while not line.endswith(b"\n"):
            piece = connection.recv(64)
            line = line + piece if piece else b"x%d\n" % NO_HOST  # the host died
        code = int(line[1:])
        status = status or (code if code >= 0 else 128 - code)
    return status


def remote_shell(cluster, words):
    """What ssh would do with these arguments, as far as launchers need it."""
    with_value = ("-l", "-o", "-p", "-i", "-F", "-b", "-c", "-m")
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in with_value else words[1:]
    if not words:
        raise SystemExit("fakecluster rsh: no host")
    host, command = words[0].split("@")[-1].split(".")[0], words[1:]
    if command[:1] == ["--"]:
        command = command[1:]
    passed = ("HOME", "USER", "LOGNAME", "SHELL", "TERM", "FAKECLUSTER")
    everything = os.environ.get("FAKECLUSTER_RSH_ENV") == "keep"
    env = {name: value for name, value in os.environ.items() if everything or name in passed}
    env.setdefault("HOME", "/root")
    env.setdefault("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    env.setdefault("SHELL", "/bin/sh")
    argv = ["/bin/sh", "-c", " ".join(command)] if command else ["/bin/sh"]
    return wait([request(cluster, host, argv, env, env["HOME"])])
