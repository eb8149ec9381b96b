# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Slurm's daemons on fake hosts: one munged, slurmctld on node0, a slurmd on every host."""

import os
import shutil
import subprocess

import support

DAEMONS = ("munged", "slurmctld", "slurmd", "srun")
SYSTEM_FOLDERS = ":/usr/sbin:/sbin"


def lacking():
    """Why there can be no Slurm here; empty when there can."""
    path = os.environ.get("PATH", "") + SYSTEM_FOLDERS
    missing = [name for name in DAEMONS if shutil.which(name, path=path) is None]
    return f"Slurm is not installed ({', '.join(missing)}); tools/setup test does it" if missing else ""


def configuration(folder, hosts, processors):
    """The file that all daemons and srun read. More jobs than one share a host: tests do not wait for each other."""
    return f"""ClusterName=fulmar
SlurmctldHost=node0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n/slurmd.log
TmpFS={folder}/%n
NodeName=node[0-{hosts - 1}] CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Daemons:
    """Started on the hosts of a HostsTest, which have so many processors each, as far as Slurm knows."""

    def __init__(self, folder, hosts, processors=2):
        self.folder = folder
        self.processes = []
        for name in ["state", *(f"node{i}/spool" for i in range(hosts))]:
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.settings = {"SLURM_CONF": folder / "slurm.conf"}
        (folder / "slurm.conf").write_text(configuration(folder, hosts, processors))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        folder.chmod(0o755)
        socket = folder / "munge.sock"
        self.start("node0", "munged", "-F", "-f", "--key-file", key, "--socket", socket, "--pid-file",
                   folder / "munged.pid", "--log-file", folder / "munged.log", "--seed-file", folder / "munge.seed")
        support.wait_until(socket.exists, "munged's socket")
        self.start("node0", "slurmctld", "-D", "-i")
        for i in range(hosts):
            self.start(f"node{i}", "slurmd", "-D", "-N", f"node{i}")

    def start(self, host, *command):
        env = support.environment(**self.settings, FAKECLUSTER=os.environ["FAKECLUSTER"])
        env["PATH"] += SYSTEM_FOLDERS
        words = [support.FAKECLUSTER, "exec", host, "--", *command]
        with (self.folder / f"{command[0]}.{host}.out").open("w") as log:
            self.processes.append(subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=log,
                                                   stderr=log, env=env))

    def logs(self):
        """The ends of what the daemons say, for a test that failed."""
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*/*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"--- {file.name}\n{file.read_text()[-1500:]}" for file in files)

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
