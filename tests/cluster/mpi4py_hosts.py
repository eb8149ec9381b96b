# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""mpi4py's own tests across two fake hosts with two ranks each: between them tcp, within them shared memory.

usage: mpi4py_hosts.py [ARGUMENT of tests/external/mpi4py/run.py...]     (default: --soak --timeout 900)
"""

import os
import shlex
import subprocess
import sys

import support

RECIPES = support.SOURCE / "tests" / "external" / "mpi4py"


def main(arguments):
    if reason := support.can_make_hosts():
        support.skip(reason)
    hydra = support.hydra()
    support.HostsTest.setUpClass()
    launch = [support.FAKECLUSTER, "exec", "node0", "--", support.MPIEXEC, "--manager", "hydra",
              "--host", "node0:2,node1:2"]
    settings = support.environment(
        HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=support.RSH, PATH=f"{hydra.parent}:{os.environ['PATH']}",
        FULMAR_BUILD_DIR=support.BUILD, FULMAR_TEST_LAUNCH=shlex.join(map(str, launch)))
    try:
        for script in (["prepare.py"], ["run.py", "--ranks", "4", *arguments]):
            command = [sys.executable, "-B", RECIPES / script[0], *script[1:]]
            status = subprocess.run(command, env=settings, stdin=subprocess.DEVNULL, check=False).returncode
            if status != 0:
                return status
        return 0
    finally:
        support.HostsTest.tearDownClass()


sys.exit(main(sys.argv[1:] or ["--soak", "--timeout", "900"]))
