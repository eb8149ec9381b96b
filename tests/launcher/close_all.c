// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// close_all none|file|memory PROGRAM ARGUMENTS...: a wrapper that closes every descriptor from 3
// on, then puts nothing, a file, or sealed memory at the number that FULMAR_JOB_FD names, and
// starts the program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int decoy(const char* kind) {
  if (strcmp(kind, "file") == 0) return open("/dev/zero", O_RDWR);
  const int fd = memfd_create("decoy", MFD_ALLOW_SEALING);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return -1;
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 ? fd : -1;
}

int main(int argc, char** argv) {
  const char* number = getenv("FULMAR_JOB_FD");
  if (argc < 3 || number == NULL) return 80;
  if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0) return 81;
  if (strcmp(argv[1], "none") != 0) {
    const int fd = decoy(argv[1]);
    if (fd < 0) return 82;
    if (fd != atoi(number) && (dup2(fd, atoi(number)) < 0 || close(fd) != 0)) return 83;
  }
  execvp(argv[2], argv + 2);
  return 84;
}
