/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * kill_at process|group N PROGRAM ARGUMENTS...: runs a program under ptrace together with all
 * processes that it makes, until they execute another program, and kills it (SIGKILL, the first
 * process alone or its process group) at the N-th stop after it has made its first process. Stops
 * are entries to and returns from system calls and ends of processes, of all traced processes
 * together. The others go on by themselves then. With `held` in place of a number the first process
 * that it makes does not run at all, as on a full machine, and what is to be killed is so when
 * nothing moves any more. Exit code: 0 killed, 3 it ended before, 4 N stops did not come before the
 * first process rests, 77 ptrace is not possible here. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { killed = 0, ended = 3, rested = 4, impossible = 77 };

/* After so many waits in vain nothing moves any more: the program waits for its ranks. */
static volatile sig_atomic_t resting;
static void on_alarm(int signal) {
  (void)signal;
  resting = 1;
}

static pid_t start(char** argv) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(impossible);
  raise(SIGSTOP);
  execv(argv[0], argv);
  _exit(127);
}

/* Counts one stop; what the tracee is to be sent on with. */
static int signal_of(int status) {
  const int signal = WSTOPSIG(status);
  if (signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP) return 0;
  return signal;
}

enum { most_made = 1024 };
static pid_t made[most_made];
static int made_count;

/* A new process begins with a SIGSTOP of its own, which must not outlive this one. */
static void let_go(void) {
  for (int i = 0; i < made_count; ++i) kill(made[i], SIGCONT);
}

static void note_made(pid_t parent) {
  unsigned long pid = 0;
  ptrace(PTRACE_GETEVENTMSG, parent, NULL, &pid);
  if (made_count < most_made) made[made_count++] = (pid_t)pid;
}

static int run(pid_t first, pid_t target, const char* when) {
  const int held = strcmp(when, "held") == 0;
  const long wanted = held ? LONG_MAX : atol(when);
  long stops = -1; /* not yet counted */
  for (;;) {
    int status = 0;
    alarm(1);
    const pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR && resting) {
      kill(target, SIGKILL);
      let_go();
      return held ? killed : rested;
    }
    if (pid < 0) return ended;
    alarm(0);
    const int event = status >> 16;
    if (pid == first && !WIFSTOPPED(status)) return ended;
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
      if (stops < 0) stops = 0;
      note_made(pid);
    }
    if (stops >= 0 && ++stops > wanted) {
      kill(target, SIGKILL);
      let_go();
      return killed;
    }
    if (!WIFSTOPPED(status)) continue;
    if (held && made_count > 0 && pid == made[0]) continue;
    if (event == PTRACE_EVENT_EXEC && pid != first) {
      ptrace(PTRACE_DETACH, pid, NULL, NULL);
      continue;
    }
    ptrace(PTRACE_SYSCALL, pid, NULL, (void*)(long)signal_of(status));
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  struct sigaction action = {0};
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  const pid_t first = start(argv + 3);
  int status = 0;
  if (first < 0 || waitpid(first, &status, 0) != first || !WIFSTOPPED(status)) return impossible;
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  if (ptrace(PTRACE_SETOPTIONS, first, NULL, (void*)options) != 0) return impossible;
  ptrace(PTRACE_SYSCALL, first, NULL, NULL);
  const int result = run(first, strcmp(argv[1], "group") == 0 ? -first : first, argv[2]);
  printf("%d\n", (int)first);
  return result;
}
