# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""mpi4py's own tests across two fake hosts with up to two ranks each: between them tcp, within them shared memory.

usage: mpi4py_hosts.py [--launcher mpiexec|hydra|hydra-here|prterun|slurm] [ARGUMENT of tests/external/mpi4py/run.py...]
                       (default: --launcher mpiexec --ranks 4 --soak --timeout 900)

mpiexec is ours with Hydra beneath it; the others start the ranks themselves. hydra-here uses one host: Hydra 5.0.2 cannot
spawn twice on several (an assertion about a proxy's control_fd ends it).
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys

import slurm
import support

RECIPES = support.SOURCE / "tests" / "external" / "mpi4py"


def of_mpiexec(*_):
    return [support.MPIEXEC, "--manager", "hydra", "--host", "node0:2,node1:2"], {}


def of_hydra(*_):
    return [support.hydra(), "-hosts", "node0:2,node1:2"], {}


def of_hydra_here(*_):
    return [support.hydra(), "-hosts", "node0:4"], {}


def of_prterun(*_):
    program, settings = support.prterun()
    # Processes that are spawned find no free place otherwise.
    return [program, "--host", "node0:2,node1:2", "--map-by", ":OVERSUBSCRIBE"], settings


def of_slurm(daemons, ranks):
    # A step takes all processors of its nodes: those of new processes, which Slurm starts as steps of their own, would wait for it.
    return ["srun", "--mpi=pmi2", "-N1" if ranks == 1 else "-N2"], {**daemons.settings, "SLURM_OVERLAP": 1}


LAUNCHERS = {"mpiexec": of_mpiexec, "hydra": of_hydra, "hydra-here": of_hydra_here, "prterun": of_prterun, "slurm": of_slurm}


def run(launcher, daemons, ranks, arguments):
    """prepare.py, then run.py with the words of the launcher; the exit status."""
    words, changes = LAUNCHERS[launcher](daemons, ranks)
    launch = [support.FAKECLUSTER, "exec", "node0", "--", *words]
    settings = support.environment(
        TMPDIR=support.HostsTest.folder,  # files that all hosts see
        HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=support.RSH,
        PATH=f"{support.hydra().parent}:{os.environ['PATH']}", FULMAR_BUILD_DIR=support.BUILD,
        FULMAR_TEST_LAUNCH=shlex.join(map(str, launch)), **changes)
    for script in (["prepare.py"], ["run.py", "--ranks", str(ranks), *arguments]):
        command = [sys.executable, "-B", RECIPES / script[0], *script[1:]]
        status = subprocess.run(command, env=settings, stdin=subprocess.DEVNULL, check=False).returncode
        if status != 0:
            return status
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", choices=LAUNCHERS, default="mpiexec")
    parser.add_argument("--ranks", type=int, default=4)
    arguments, rest = parser.parse_known_args()
    reason = support.can_make_hosts() or (slurm.lacking() if arguments.launcher == "slurm" else "")
    if reason:
        support.skip(reason)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # the hosts and their daemons go, too
    support.HostsTest.setUpClass()
    daemons = None
    try:
        if arguments.launcher == "slurm":
            daemons = slurm.Daemons(support.HostsTest.folder, support.HostsTest.HOSTS, processors=16)
        return run(arguments.launcher, daemons, arguments.ranks, rest or ["--soak", "--timeout", "900"])
    finally:
        if daemons:
            daemons.end()
        support.HostsTest.tearDownClass()


sys.exit(main())
