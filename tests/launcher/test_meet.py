# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Jobs of different mpiexecs, and processes without one, that meet through ports."""

import os
import re
import socket
import subprocess
import unittest

from support import LauncherTest, wait_until

MEET = os.environ["MEET"]


class Meeting(LauncherTest):
    def start_alone(self, *arguments, **options):
        """Without mpiexec."""
        process = subprocess.Popen([MEET, *map(str, arguments)], cwd=self.folder, env=self.environment(None),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **options)
        self.running.append(process)
        return process

    def read_name(self, name="port"):
        path = self.folder / name
        wait_until(path.exists, "the name of a port")
        return path.read_text()

    def finish(self, process, output, errors="", status=0):
        out, said = process.communicate(timeout=100)
        self.assertEqual((process.returncode, sorted(out.decode().splitlines()), said.decode()),
                         (status, sorted(output), errors))

    def lines(self, how, ranks):
        return [f"{how}: {rank} of {ranks}" for rank in range(ranks)]

    def start_pair(self, servers, clients, *more, env=None):
        server = self.start_job("-n", servers, MEET, "accept", "port", *more, env=env)
        self.read_name()
        client = self.start_job("-n", clients, MEET, "connect", "port", *more, env=env)
        return server, client

    def assert_meet(self, servers, clients, *more, env=None):
        server, client = self.start_pair(servers, clients, *more, env=env)
        self.finish(client, self.lines("connect", clients))
        self.finish(server, self.lines("accept", servers))


class Meet(Meeting):
    def test_jobs_on_shared_memory(self):
        self.assert_meet(2, 3)

    def test_single_processes(self):
        self.assert_meet(1, 1)

    def test_jobs_over_tcp(self):
        self.assert_meet(2, 2, env={"FULMAR_FABRIC": "tcp"})

    def test_jobs_that_were_to_use_shared_memory_alone(self):
        self.assert_meet(2, 1, env={"FULMAR_FABRIC": "shm"})

    def test_the_same_two_jobs_again_and_again(self):
        self.assert_meet(2, 2, 20)

    def test_one_after_the_other_at_the_same_port(self):
        server = self.start_job("-n", 2, MEET, "accept", "port", 3)
        self.read_name()
        clients = [self.start_job("-n", 1, MEET, "connect", "port") for _ in range(3)]
        for client in clients:
            self.finish(client, self.lines("connect", 1))
        self.finish(server, self.lines("accept", 2))

    def test_merged_groups_agree_on_everything(self):
        server = self.start_job("-n", 3, MEET, "merge", "port", "a")
        self.read_name()
        client = self.start_job("-n", 2, MEET, "merge", "port", "c")
        self.finish(client, self.lines("merge", 2))
        self.finish(server, self.lines("merge", 3))

    def test_join_over_a_socket_pair(self):
        ends = socket.socketpair()
        processes = [self.start_alone("join", end.fileno(), pass_fds=[end.fileno()]) for end in ends]
        for end in ends:
            end.close()
        for process in processes:
            self.finish(process, self.lines("join", 1))

    def test_a_process_that_is_killed_is_missed(self):
        server = self.start_job("-n", 1, MEET, "survive", "port")
        self.read_name()
        client = self.start_job("-n", 1, MEET, "die", "port")
        client.communicate(timeout=60)
        self.assertNotEqual(client.returncode, 0)
        self.finish(server, self.lines("survive", 1))


class Strangers(Meeting):
    def assert_refused(self, name, text):
        result = self.run_job("-n", 2, MEET, "refused", name)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(text, result.stdout)

    def test_what_is_no_name_is_refused(self):
        self.assert_refused("tcp://10.0.0.1:7", "is no name of a port")

    def test_a_port_that_is_closed_is_refused(self):
        server, client = self.start_pair(1, 1)
        name = self.read_name()
        self.finish(client, self.lines("connect", 1))
        self.finish(server, self.lines("accept", 1))
        self.assert_refused(name, "no connection to the port")

    def test_a_wrong_secret_is_refused_and_nobody_is_disturbed(self):
        server = self.start_job("-n", 2, MEET, "accept", "port")
        name = self.read_name()
        digit = "0" if name[8] != "0" else "1"
        self.assert_refused(name[:8] + digit + name[9:], "has another secret")
        client = self.start_job("-n", 1, MEET, "connect", "port")
        self.finish(client, self.lines("connect", 1))
        self.finish(server, self.lines("accept", 2))

    def test_who_speaks_something_else_gets_one_line(self):
        server = self.start_job("-n", 1, MEET, "accept", "port")
        place = re.search(r"127\.0\.0\.1:(\d+)", self.read_name())
        if place is None:
            self.skipTest("this host has no loopback address")
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", int(place[1])), timeout=20) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                self.assertEqual(stranger.recv(1), b"")
        client = self.start_job("-n", 1, MEET, "connect", "port")
        self.finish(client, self.lines("connect", 1))
        out, said = server.communicate(timeout=60)
        self.assertEqual((server.returncode, out), (0, b"accept: 0 of 1\n"))
        lines = said.decode().splitlines()
        self.assertGreaterEqual(len(lines), 1)
        for line in lines:
            self.assertRegex(line, r"^fulmar: rank 0 of 1: 127\.0\.0\.1:\d+ was refused at a port: it speaks "
                                   r"something else than Fulmar$")


if __name__ == "__main__":
    unittest.main()
