// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Preloaded into a rank (test_faults.py): on SIGUSR1 all its queue pairs go into the error state,
// as after a fault of the adapter; on SIGUSR2 all its completion queues are made so short that the
// next completions overrun them. (The kernel then writes to a new queue that the program has not
// mapped, so none of it is taken away.) One in which more than a single completion waits at that
// moment stays as it is: a longer one might hold all that is to come, and nobody would see it. Who
// reads "0 completion queues shortened" sends the signal again. It speaks to the kernel on the
// descriptor that libibverbs has opened: no library is asked.
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

struct Shortening {
  struct ib_uverbs_cmd_hdr head;
  struct ib_uverbs_resize_cq body;
};

static int is_device(int descriptor) {
  static const char folder[] = "/dev/infiniband/uverbs";
  char name[64];
  char target[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(name, target, sizeof target);
  return length > (ssize_t)strlen(folder) && memcmp(target, folder, strlen(folder)) == 0;
}

/// Numbers of other objects are refused, here and below.
static unsigned break_queue_pairs(int descriptor) {
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

static unsigned shorten_completion_queues(int descriptor) {
  unsigned shortened = 0;
  for (uint32_t handle = 0; handle < handles; ++handle) {
    struct Shortening command;
    uint64_t answer[8];
    memset(&command, 0, sizeof command);
    command.head.command = IB_USER_VERBS_CMD_RESIZE_CQ;
    command.head.in_words = sizeof command / 4;
    command.head.out_words = sizeof answer / 4;
    command.body.response = (uintptr_t)answer;
    command.body.cq_handle = handle;
    command.body.cqe = 1;
    shortened += write(descriptor, &command, sizeof command) == (ssize_t)sizeof command;
  }
  return shortened;
}

static void on_signal(int number) {
  const int pairs = number == SIGUSR1;
  unsigned broken = 0;
  for (int descriptor = first_descriptor; descriptor < descriptors; ++descriptor) {
    if (!is_device(descriptor)) continue;
    broken += pairs ? break_queue_pairs(descriptor) : shorten_completion_queues(descriptor);
  }
  char text[64];
  const int length = snprintf(text, sizeof text, "%u %s\n", broken,
                              pairs ? "queue pairs broken" : "completion queues shortened");
  if (write(STDERR_FILENO, text, (size_t)length) != length) _exit(3);
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
}
