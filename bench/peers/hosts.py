# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Two fake hosts, and how each library is started on them with one rank each.

The hosts are name spaces joined by a virtual cable (tests/support/fakecluster), so that messages between them go
through TCP. Fulmar has no process manager for several hosts: Hydra of the peer MPICH starts it.
"""

import os
import pathlib
import subprocess

SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "tests/support"
FAKECLUSTER = SUPPORT / "fakecluster"
REMOTE_SHELL = SUPPORT / "fakecluster-rsh"
AHEAD = pathlib.Path(__file__).resolve().parent / "ahead"
ADDRESS_OF_SECOND = "10.77.0.2"
PORT = 7077


class Hosts:
    """node0 and node1, while this is entered. `before`: a command that starts each measured program."""

    def __init__(self, peers, rails=1, before=()):
        self.before = [str(word) for word in before]
        self.hydra = pathlib.Path(peers).resolve() / "mpich/bin/mpiexec.hydra"
        self.variables = {"FAKECLUSTER": f"fulmar-bench-{os.getpid()}", "FAKECLUSTER_RSH_ENV": "keep"}
        self.settings = os.environ | self.variables
        self.rails = rails

    def __enter__(self):
        subprocess.run([FAKECLUSTER, "up", "2", "--rails", str(self.rails)], env=self.settings, check=True)
        return self

    def __exit__(self, *_):
        subprocess.run([FAKECLUSTER, "down"], env=os.environ | self.variables, check=False)

    @staticmethod
    def on(host, *command):
        return [str(FAKECLUSTER), "exec", host, "--", *map(str, command)]

    def launch(self, library):
        """The command before the program and its arguments: one rank on each host."""
        here = ["-n", "2", "-hosts", "node0,node1", "-ppn", "1"]
        hydra = ["-launcher", "ssh", "-launcher-exec", REMOTE_SHELL]
        if library.name == "openmpi":
            start = [library.prefix / "bin/prterun", "--host", "node0,node1", "-n", "2", "--bind-to", "none"]
        elif library.name == "intel":
            start = [library.prefix / "bin/mpiexec.hydra", *hydra, *here]
        else:
            start = [self.hydra, *hydra, *here]
        return self.on("node0", *start) + self.before

    def environment(self, library):
        """Peers get what their documentation asks for where TCP is all there is."""
        extra = {
            "openmpi": {"PRTE_MCA_plm_ssh_agent": str(REMOTE_SHELL), "OMPI_MCA_pml": "ob1",
                        "OMPI_MCA_btl": "self,tcp"},
            "intel": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp", "I_MPI_PIN": "0"},
        }
        return library.environment() | self.variables | extra.get(library.name, {})

    def measure_socket(self, program, arguments, measure):
        """What `measure(command, environment)` returns for a bare connection between the hosts; None without one."""
        if not program.exists():
            return None
        environment = os.environ | self.variables
        listening = self.on("node1", *self.before, program, "--listen", PORT)
        with subprocess.Popen(listening, env=environment, stdin=subprocess.DEVNULL) as other:
            try:
                connecting = self.on("node0", *self.before, program, "--connect", f"{ADDRESS_OF_SECOND}:{PORT}", *arguments)
                return measure(connecting, environment)
            finally:
                other.terminate()
