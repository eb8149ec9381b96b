# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Two hosts with two networks between them, used at once (decision 0011)."""

import errno
import pathlib
import subprocess
import tempfile
import time
import unittest

import support
from support import BUILD, FAKECLUSTER

HYDRA = support.hydra()
TRAFFIC = BUILD / "tests" / "rails_traffic"
PROGRAMS = ("p2p.order", "p2p.modes", "p2p.probe", "p2p.types", "coll.levels", "partitioned.rounds")
# The second adapter for libfabric, the first one for tcp.
OFI_AND_TCP = "tcp:eth0+ofi:tcp;ofi_rxm:eth1"
MB = 1_000_000


class Rails(support.HostsTest):
    RAILS = 2

    def setUp(self):
        for rail in range(self.RAILS):
            subprocess.run([FAKECLUSTER, "plug", "node1", str(rail)], check=True)
        self.rate("none")
        support.wait_until(lambda: all(map(self.answers, range(self.RAILS))), "answers over all rails")

    def answers(self, rail):
        """Whether node1 refuses a connection over this rail: packets go there and back."""
        call = f"import socket; s = socket.socket(); s.settimeout(5); print(s.connect_ex(('10.77.{rail}.2', 9)))"
        return int(self.on("node0", "python3", "-c", call).stdout) == errno.ECONNREFUSED

    def rate(self, rate, *rail):
        subprocess.run([FAKECLUSTER, "rate", "all", rate, *rail], check=True)

    def carried(self, host="node0"):
        """Bytes that the adapters of a host have sent so far."""
        paths = [f"/sys/class/net/eth{rail}/statistics/tx_bytes" for rail in range(self.RAILS)]
        return [int(word) for word in self.on(host, "cat", *paths).stdout.split()]

    def start(self, *words, **variables):
        """Starts a job of one rank on each host; `finish` waits for it."""
        settings = support.environment(HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=support.RSH,
                                       FAKECLUSTER=support.os.environ["FAKECLUSTER"], **variables)
        command = [FAKECLUSTER, "exec", "node0", "--", "timeout", "100", HYDRA, "-hosts", "node0,node1", "-n", "2",
                   *map(str, words)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=settings)

    def finish(self, job):
        text = job.communicate()[0]
        self.assertEqual(job.returncode, 0, text)
        return text

    def share(self, *words, **variables):
        """How many bytes each rail carries while a job runs."""
        before = self.carried()
        self.finish(self.start(*words, **variables))
        return [after - start for after, start in zip(self.carried(), before)]

    def test_programs(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                result = self.on("node0", HYDRA, "-hosts", "node0:2,node1:2", "-n", 4, BUILD / "tests" / f"mpi.{program}",
                                 timeout=120)
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_ranks_with_and_without_rails(self):
        """As where one host has a second adapter and the other does not."""
        for first, second in (("auto", "off"), ("off", "auto")):
            with self.subTest(first=first, second=second):
                program = BUILD / "tests" / "mpi.p2p.types"
                result = self.on("node0", HYDRA, "-hosts", "node0,node1",
                                 "-n", 1, "-env", "FULMAR_RAILS", first, program, ":",
                                 "-n", 1, "-env", "FULMAR_RAILS", second, program)
                self.assertEqual(result.returncode, 0, result.stdout)
        before = self.carried()
        result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 1, TRAFFIC, 4, 2 * MB, ":",
                         "-n", 1, "-env", "FULMAR_RAILS", "off", TRAFFIC, 4, 2 * MB)
        self.assertEqual(result.returncode, 0, result.stdout)
        carried = [after - start for after, start in zip(self.carried(), before)]
        self.assertLess(min(carried), 0.2 * MB, "the one network that both have")

    def test_ranks_come_back(self):
        """MPI is left and entered again over both rails, by some ranks and by all, and sends to ranks that have left end."""
        for program, ranks in (("session.reentry", 2), ("session.reentry", 5), ("session.cancel_before_world", 2),
                               ("session.cancel_after_end", 2), ("environment.cancel_in_finalize", 2)):
            with self.subTest(program=program, ranks=ranks):
                result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", ranks, BUILD / "tests" / f"mpi.{program}",
                                 timeout=120)
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertNotIn("given up", result.stdout)

    def test_equal_rails_carry_equal_parts(self):
        self.rate("200mbit")
        one, other = self.share(TRAFFIC, 16, 2 * MB)
        self.assertGreater(min(one, other), 0.8 * max(one, other))

    def test_rails_carry_what_they_can(self):
        self.rate("300mbit", "0")
        self.rate("100mbit", "1")
        one, other = self.share(TRAFFIC, 16, 4 * MB)
        self.assertGreater(one, 2.3 * other)
        self.assertLess(one, 3.9 * other)

    def test_one_network_when_told_so(self):
        one, other = self.share(TRAFFIC, 4, 2 * MB, FULMAR_RAILS="off")
        self.assertGreater(one + other, 8 * MB)
        self.assertLess(min(one, other), 0.2 * MB)

    def test_rails_of_a_list(self):
        self.rate("200mbit")  # unshaped, all could be over before the second is connected
        one, other = self.share(TRAFFIC, 8, 2 * MB, FULMAR_RAILS="tcp:eth1+tcp:eth0")
        self.assertGreater(min(one, other), 2 * MB)

    def cut_in_mid_message(self, rail, *how, rails="auto"):
        """A link goes down while long messages are under way: all arrive, within 10 s of it."""
        self.rate("200mbit")
        before = self.carried()
        job = self.start(TRAFFIC, 24, 4 * MB, "both", FULMAR_RAILS=rails)
        support.wait_until(lambda: self.carried()[rail] - before[rail] > 5 * MB, "traffic on the rail")
        subprocess.run([FAKECLUSTER, *how], check=True)
        begin = time.monotonic()
        rest = self.carried()[1 - rail] + 20 * MB
        support.wait_until(lambda: self.carried()[1 - rail] > rest or job.poll() is not None, "traffic on the other")
        took = time.monotonic() - begin
        # The launcher's own connections go over the first one.
        subprocess.run([FAKECLUSTER, "plug", "node1", str(rail)], check=True)
        text = self.finish(job)
        self.assertIn("48 messages arrived", text)
        self.assertIn("is given up", text)
        self.assertLess(took, 10)

    def test_link_down_here(self):
        self.cut_in_mid_message(1, "exec", "node0", "--", "ip", "link", "set", "eth1", "down")
        self.on("node0", "ip", "link", "set", "eth1", "up")

    def test_link_down_there(self):
        self.cut_in_mid_message(1, "unplug", "node1", "1")

    def test_link_of_the_first_rail_down(self):
        self.cut_in_mid_message(0, "unplug", "node1", "0")

    def test_link_that_is_back_carries_messages_again(self):
        """Its rail is offered again 5 s after its end, and used as soon as it works."""
        self.rate("200mbit")
        before = self.carried()
        job = self.start(TRAFFIC, 80, 4 * MB, "both", FULMAR_RAILS="auto")
        support.wait_until(lambda: self.carried()[1] - before[1] > 5 * MB, "traffic on the rail")
        subprocess.run([FAKECLUSTER, "unplug", "node1", "1"], check=True)
        silent = self.carried()
        support.wait_until(lambda: self.carried()[0] > silent[0] + 20 * MB, "traffic on the other")
        subprocess.run([FAKECLUSTER, "plug", "node1", "1"], check=True)
        plugged = self.carried()[1]
        support.wait_until(lambda: self.carried()[1] > plugged + 5 * MB or job.poll() is not None, "traffic on it again")
        text = self.finish(job)
        self.assertIn("160 messages arrived", text)
        self.assertIn("carries messages again", text)
        self.assertGreater(self.carried()[1], plugged + 5 * MB)

    def test_all_links_down(self):
        """Nothing leads to the other host any more: a clear end, within 10 s."""
        self.rate("200mbit")
        before = self.carried()
        job = self.start(TRAFFIC, 24, 4 * MB)
        support.wait_until(lambda: min(self.carried()[rail] - before[rail] for rail in range(2)) > 4 * MB, "traffic")
        begin = time.monotonic()
        subprocess.run([FAKECLUSTER, "unplug", "node1"], check=True)
        # Hydra's own connections are cut as well: it is the ranks that have to end.
        support.wait_until(lambda: "rails_traffic" not in self.on("node0", "ps", "-eo", "comm").stdout, "its end")
        self.assertLess(time.monotonic() - begin, 10)
        job.kill()
        job.communicate()

    def test_info_tells_of_the_rails(self):
        self.rate("200mbit")
        result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 2, BUILD / "bin" / "fulmar", "info", "--peers")
        self.assertEqual(result.returncode, 0, result.stdout)
        speed = r"[0-9.]+ MB at [0-9.]+ MB/s"
        self.assertRegex(result.stdout, rf"(?m)^ +1 +node1 +rails +another node, by tcp {speed}, tcp:10\.77\.1\.0/24 {speed}")

    def test_info_where_one_side_has_no_rails(self):
        info = [BUILD / "bin" / "fulmar", "info", "--peers"]
        result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 1, "-env", "FULMAR_RAILS", "auto", *info, ":",
                         "-n", 1, "-env", "FULMAR_RAILS", "off", *info, timeout=30)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^ +1 +node1 +tcp ")

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_libfabric_beside_tcp(self):
        self.rate("200mbit")
        one, other = self.share(TRAFFIC, 32, 4 * MB, FULMAR_RAILS=OFI_AND_TCP)
        self.assertGreater(min(one, other), 8 * MB)

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_link_of_tcp_beside_libfabric_down(self):
        self.cut_in_mid_message(0, "unplug", "node1", "0", rails=OFI_AND_TCP)

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_link_of_libfabric_beside_tcp_down(self):
        """libfabric keeps what it has taken, and tells nobody; the messages go on all the same."""
        self.cut_in_mid_message(1, "unplug", "node1", "1", rails=OFI_AND_TCP)

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_link_of_libfabric_beside_tcp_down_here(self):
        self.cut_in_mid_message(1, "exec", "node0", "--", "ip", "link", "set", "eth1", "down", rails=OFI_AND_TCP)
        self.on("node0", "ip", "link", "set", "eth1", "up")

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_nobody_comes_back_to_libfabric_beside_tcp(self):
        """And the text names what allows it. Who ends a job through Hydra may lose what it has written before, so the text
        goes into a file."""
        program = BUILD / "tests" / "mpi.session.reentry"
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            text = pathlib.Path(folder) / "text"
            result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 2, "sh", "-c", f"exec {program} 2>>{text}",
                             env={"FULMAR_RAILS": OFI_AND_TCP})
            self.assertNotIn(result.returncode, (0, 124), result.stdout)
            self.assertIn("can be entered again only if all are tcp or verbs", text.read_text())
            self.assertIn("FULMAR_RAILS=off", text.read_text())


support.main()
