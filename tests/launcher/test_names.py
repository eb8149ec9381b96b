# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Names of services: kept by mpiexec, in a folder, and by a server of `fulmar names`."""
import os
import signal
import socket
import subprocess

from spawn_support import SPAWNER, SpawnTest
from support import wait_until

FULMAR = os.environ["FULMAR"]


class Names(SpawnTest):
    def test_names_are_shared_by_all_jobs_of_an_mpiexec(self):
        result, lines = self.spawn("publish", "ocean", "port 1", "spawn", 1, SPAWNER, "lookup", "ocean", "lookup",
                                   "air", "publish", "ocean", "mine", "unpublish", "ocean", "port 1", ".", "ended",
                                   "unpublish", "ocean", "other", "unpublish", "ocean", "port 1", "lookup", "ocean",
                                   "unpublish", "ocean", "port 1")
        text = "\n".join(lines)
        self.assertIn("lookup: port 1", lines)
        self.assertIn('lookup: MPI_ERR_NAME: nobody has published the service "air"', lines)
        self.assertIn('publish: MPI_ERR_SERVICE: the service "ocean" is published already', text)
        self.assertIn("only that job can unpublish it", text)
        self.assertIn("with another port", text)
        self.assertIn("unpublish: done", lines)
        self.assertEqual(lines[-2:], ['lookup: MPI_ERR_NAME: nobody has published the service "ocean"',
                                      'unpublish: MPI_ERR_SERVICE: the service "ocean" is not published'])
        self.assertEqual(result.returncode, 0)

    def test_names_of_the_dead_are_gone(self):
        _, lines = self.spawn("spawn", 1, SPAWNER, "publish", "ocean", "p", ".", "ended", "lookup", "ocean")
        self.assertEqual(lines[-1], 'lookup: MPI_ERR_NAME: nobody has published the service "ocean"')

    def test_dead_mpiexec_is_an_error_at_once(self):
        job = self.start_job("-n", 1, *self.sh("echo $FULMAR_LAUNCH_SOCKET > address; sleep 1000"))
        (address,) = self.wait_for_files("address")
        job.kill()
        job.wait()
        result = subprocess.run([SPAWNER, "lookup", "a", "spawn", "1", "true", "."], text=True, capture_output=True,
                                env={**os.environ, "FULMAR_LAUNCH_SOCKET": address}, timeout=20, check=False)
        self.assertIn("lookup: MPI_ERR_SERVICE: the mpiexec that serves this process", result.stdout)
        self.assertIn("spawn: MPI_ERR_SPAWN: the mpiexec that serves this process", result.stdout)

    def test_folder(self):
        names = self.folder / "names"
        names.mkdir()
        env = {"FULMAR_NAMES": str(names)}
        job = self.start_job("-n", 1, SPAWNER, "publish", "a/b %", "the port", "publish", "a/b %", "x", "pause", env=env)
        self.assertEqual(job.stdout.readline(), b"publish: done\n")
        self.assertIn(b"MPI_ERR_SERVICE: the service \"a/b %\" is published already", job.stdout.readline())
        self.assertEqual(job.stdout.readline(), b"paused\n")
        (file,) = names.iterdir()
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        # Another mpiexec finds it, and may not take it back.
        _, lines = self.spawn("lookup", "a/b %", "unpublish", "a/b %", "the port", "lookup", "b", env=env)
        self.assertEqual(lines[0], "lookup: the port")
        self.assertIn("unpublish: MPI_ERR_SERVICE: ", lines[1])
        self.assertIn("lookup: MPI_ERR_NAME: ", lines[2])
        # Nobody who has ended keeps a name.
        job.kill()
        job.wait()
        wait_until(lambda: "MPI_ERR_NAME" in self.spawn("lookup", "a/b %", env=env)[1][0], "the name's end")
        self.assertEqual(list(names.iterdir()), [])
        _, lines = self.spawn("publish", "a/b %", "next", "lookup", "a/b %", "unpublish", "a/b %", "next", env=env)
        self.assertEqual(lines, ["publish: done", "lookup: next", "unpublish: done"])

    def test_files_that_others_could_have_written_are_not_believed(self):
        names = self.folder / "names"
        names.mkdir()
        env = {"FULMAR_NAMES": str(names)}
        good = f"1 00000001 {os.getpid()} 0 elsewhere\nport"
        for content, mode, text in ((good, 0o644, "not believed"), ("", 0o600, "cannot be read"),
                                    ("1 zz 1 0 x\nport", 0o600, "cannot be read"), ("1 1 1 0 x", 0o600, "cannot be read"),
                                    ("2 1 1 0 x\np", 0o600, "cannot be read"), (good, 0o600, None)):
            file = names / "fulmar-name-a"
            file.write_text(content)
            file.chmod(mode)
            _, lines = self.spawn("lookup", "a", env=env)
            if text is None:
                self.assertEqual(lines, ["lookup: port"])
            else:
                self.assertIn("lookup: MPI_ERR_NAME: ", lines[0])
                self.assertIn(text, lines[0])
            file.unlink()
        (names / "fulmar-name-a").symlink_to("/etc/passwd")
        self.assertIn("MPI_ERR_SERVICE", self.spawn("lookup", "a", env=env)[1][0])

    def start_server(self, *words):
        """A `fulmar names` server: its process and the environment that leads to it."""
        if not os.path.exists(FULMAR):
            self.skipTest("the tool fulmar is not built here")
        server = subprocess.Popen([FULMAR, "names", "--key", self.folder / "key", "--host", "127.0.0.1", *words],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.append(server)
        name, _, value = server.stdout.readline().strip().partition("=")
        self.assertEqual(name, "FULMAR_NAMES")
        return server, {"FULMAR_NAMES": value}

    def test_server(self):
        server, env = self.start_server()
        self.assertEqual((self.folder / "key").stat().st_mode & 0o777, 0o600)
        job = self.start_job("-n", 1, SPAWNER, "publish", "ocean", "the port", "pause", env=env)
        self.assertEqual(job.stdout.readline(), b"publish: done\n")
        _, lines = self.spawn("lookup", "ocean", "publish", "ocean", "x", "unpublish", "ocean", "the port", "lookup",
                              "air", "publish", "air", "y", "unpublish", "air", "y", env=env)
        self.assertEqual(lines[0], "lookup: the port")
        self.assertIn("publish: MPI_ERR_SERVICE: the service \"ocean\" is published already", lines[1])
        self.assertIn("unpublish: MPI_ERR_SERVICE: ", lines[2])
        self.assertEqual(lines[3:], ['lookup: MPI_ERR_NAME: nobody has published the service "air"', "publish: done",
                                     "unpublish: done"])
        job.kill()  # names end with their publishers
        job.wait()
        wait_until(lambda: "MPI_ERR_NAME" in self.spawn("lookup", "ocean", env=env)[1][0], "the name's end")
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=20), 0)
        self.assertIn("lookup: MPI_ERR_SERVICE: the server FULMAR_NAMES=", self.spawn("lookup", "ocean", env=env)[1][0])

    def test_server_that_was_started_again_is_found(self):
        server, env = self.start_server()
        port = env["FULMAR_NAMES"].split(":")[1]
        script = 'exec "$SPAWNER" publish a b spawn 1 sh -c "until [ -e again ]; do sleep 0.01; done" . ended lookup a publish a c'
        job = self.start_job("-n", 1, *self.sh(script), env=env)
        self.assertEqual(job.stdout.readline(), b"publish: done\n")
        server.kill()
        server.wait()
        self.start_server("--port", port)
        (self.folder / "again").write_text("")
        text = job.communicate(timeout=30)[0]
        self.assertIn(b"lookup: MPI_ERR_NAME", text)
        self.assertTrue(text.endswith(b"publish: done\n"), text)

    def test_server_with_another_key_is_not_believed(self):
        _, env = self.start_server()
        host, port, key = env["FULMAR_NAMES"].split(":")
        other = self.folder / "other"
        other.write_text("0" * 64 + "\n")
        other.chmod(0o600)
        for file, text in ((other, "it does not know the key of the file"), (self.folder / "none", "No such file")):
            _, lines = self.spawn("lookup", "a", env={"FULMAR_NAMES": f"{host}:{port}:{file}"})
            self.assertIn(f"lookup: MPI_ERR_SERVICE: the server FULMAR_NAMES={host}:{port}", lines[0])
            self.assertIn(text, lines[0])
        other.chmod(0o644)
        self.assertIn("chmod 600", self.spawn("lookup", "a", env={"FULMAR_NAMES": f"{host}:{port}:{other}"})[1][0])
        refused = subprocess.run([FULMAR, "names", "--key", other], text=True, capture_output=True, timeout=20, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("chmod 600", refused.stderr)

    def test_strangers_do_not_disturb_the_server(self):
        _, env = self.start_server()
        host, port, _ = env["FULMAR_NAMES"].split(":")
        strangers = [socket.create_connection((host, int(port)), timeout=20) for _ in range(80)]
        for i, peer in enumerate(strangers):
            self.addCleanup(peer.close)
            if i % 2:
                peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + bytes(100))
        for peer in strangers:
            try:
                self.assertEqual(peer.recv(100), b"")  # at once, or when the time for a handshake is over
            except ConnectionResetError:
                pass
        self.assertEqual(self.spawn("publish", "a", "b", env=env)[1], ["publish: done"])

    def test_silent_server_is_an_error_in_time(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.start_server()
        place = f"127.0.0.1:{listener.getsockname()[1]}:{self.folder / 'key'}"
        _, lines = self.spawn("lookup", "a", env={"FULMAR_NAMES": place})
        self.assertIn("lookup: MPI_ERR_SERVICE: ", lines[0])
        self.assertIn("does not answer in time", lines[0])

    def test_places_that_are_none(self):
        for place, verb in (("/no/such/folder", "publish"), ("relative", "publish"), ("/no/such/folder", "lookup")):
            _, lines = self.spawn(verb, "a", "b", env={"FULMAR_NAMES": place})
            self.assertIn(f"{verb}: MPI_ERR_SERVICE: ", lines[0])
            self.assertIn(f"FULMAR_NAMES={place}", lines[0])
