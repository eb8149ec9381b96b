// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Preloaded into a rank (test_faults.py): on SIGUSR1 all its queue pairs go into the error state,
// as after a fault of the adapter. It speaks to the kernel on the descriptor that libibverbs has
// opened: no library is asked.
#include <limits.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { first_descriptor = 3, descriptors = 256, handles = 256, state_bit = 1, error_state = 6 };

struct Command {
  struct ib_uverbs_cmd_hdr head;
  struct ib_uverbs_modify_qp body;
};

static int is_device(int descriptor) {
  static const char folder[] = "/dev/infiniband/uverbs";
  char name[64];
  char target[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(name, target, sizeof target);
  return length > (ssize_t)strlen(folder) && memcmp(target, folder, strlen(folder)) == 0;
}

/// Numbers of other objects are refused.
static unsigned break_queues(int descriptor) {
  unsigned broken = 0;
  for (uint32_t handle = 0; handle < handles; ++handle) {
    struct Command command;
    memset(&command, 0, sizeof command);
    command.head.command = IB_USER_VERBS_CMD_MODIFY_QP;
    command.head.in_words = sizeof command / 4;
    command.body.qp_handle = handle;
    command.body.attr_mask = state_bit;
    command.body.qp_state = error_state;
    broken += write(descriptor, &command, sizeof command) == (ssize_t)sizeof command;
  }
  return broken;
}

static void on_signal(int number) {
  unsigned broken = 0;
  (void)number;
  for (int descriptor = first_descriptor; descriptor < descriptors; ++descriptor) {
    if (is_device(descriptor)) broken += break_queues(descriptor);
  }
  char text[64];
  const int length = snprintf(text, sizeof text, "%u queue pairs broken\n", broken);
  if (write(STDERR_FILENO, text, (size_t)length) != length) _exit(3);
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
}
