# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A launcher that speaks PMI-1 and does nothing when a rank dies, or asks it to end the others: what the ranks notice
they notice by themselves. (Hydra ends the others within microseconds, whatever it is told.)"""

import os
import socket
import subprocess
import threading
import time


class Launcher:
    """Starts a command for each rank. A thread answers the ranks until all have ended."""

    def __init__(self, commands, stderr_files, env, obeys_aborts=False):
        self.obeys_aborts = obeys_aborts
        self.size = len(commands)
        self.values = {}
        self.waiting = set()  # ranks in the barrier
        self.sockets = []
        self.ranks = []
        for rank, (command, text) in enumerate(zip(commands, stderr_files)):
            ours, theirs = socket.socketpair()
            self.sockets.append(ours)
            given = env | {"PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(self.size)}
            with open(text, "wb") as file:
                self.ranks.append(subprocess.Popen(list(map(str, command)), env=given, pass_fds=[theirs.fileno()],
                                                   stdin=subprocess.DEVNULL, stdout=file, stderr=file))
            theirs.close()
        self.threads = [threading.Thread(target=self._serve, args=(rank,)) for rank in range(self.size)]
        for thread in self.threads:
            thread.start()

    def poll(self):
        """None while a rank runs; then the first exit status that is not 0."""
        statuses = [rank.poll() for rank in self.ranks]
        if None in statuses:
            return None
        return next((status for status in statuses if status != 0), 0)

    def wait(self, limit_s):
        """As poll, after at most so long."""
        end = time.monotonic() + limit_s
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        return self.poll()

    def kill(self):
        """Ends all that still run."""
        for rank in self.ranks:
            rank.kill()

    def end(self):
        self.kill()
        for rank in self.ranks:
            rank.wait()
        for thread in self.threads:
            thread.join()
        for one in self.sockets:
            one.close()

    def _serve(self, rank):
        with self.sockets[rank].makefile("r", encoding="ascii", errors="replace") as lines:
            try:
                for line in lines:
                    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
                    self._obey(rank, words)
            except OSError:
                pass  # the rank has died

    def _obey(self, rank, words):
        command = words["cmd"]
        if command == "abort":
            return self.kill() if self.obeys_aborts else None
        if command == "barrier_in":
            return self._enter_barrier(rank)
        if command == "put":
            self.values[words["key"]] = words["value"]
        found = self.values.get(words.get("key"))
        answers = {"init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0", "get_appnum": "appnum appnum=0",
                   "get_my_kvsname": "my_kvsname kvsname=patient", "put": "put_result rc=0",
                   "get": "get_result rc=-1" if found is None else f"get_result rc=0 value={found}",
                   "finalize": "finalize_ack"}
        return self._tell(rank, answers.get(command, f"{command}_result rc=-1"))

    def _enter_barrier(self, rank):
        self.waiting.add(rank)
        if len(self.waiting) < self.size:
            return
        self.waiting.clear()
        for each in range(self.size):
            self._tell(each, "barrier_out rc=0")

    def _tell(self, rank, answer):
        try:
            os.write(self.sockets[rank].fileno(), f"cmd={answer}\n".encode())
        except OSError:
            pass  # the rank has died
