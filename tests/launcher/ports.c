// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// An MPI program that connects to another one through a port. Its first argument says what it does:
//   accept FILE [TIMES]    writes the name of a port to FILE, accepts, talks, disconnects
//   connect FILE [TIMES]   the other side
//   refused NAME           MPI_Comm_connect to NAME fails with MPI_ERR_PORT; prints the text
//   die FILE               connects, and is killed while the other side waits for a message
//   survive FILE           the other side: the receive has to fail
//   join FD                MPI_Comm_join over the inherited descriptor
//   merge FILE a|c         accepts or connects, merges, works in one communicator
// Prints a line for each process that has seen all that it should see.
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static int size;

static void fail(const char* what) {
  fprintf(stderr, "ports: rank %d: failed: %s\n", rank, what);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
static void expect(int holds, const char* what) {
  if (!holds) fail(what);
}

static void write_name(const char* path, const char* name) {
  char draft[4096];
  snprintf(draft, sizeof draft, "%s.draft", path);
  FILE* file = fopen(draft, "w");
  if (file == NULL || fputs(name, file) < 0 || fclose(file) != 0 || rename(draft, path) != 0)
    fail("file");
}
static void read_name(const char* path, char* name) {
  FILE* file = fopen(path, "r");
  if (file == NULL || fgets(name, MPI_MAX_PORT_NAME, file) == NULL) fail("no file with a name");
  fclose(file);
}

/// Short and long messages to and from everybody of the other group, then collective calls.
static void talk(MPI_Comm inter) {
  int others = 0;
  int is_inter = 0;
  MPI_Comm_test_inter(inter, &is_inter);
  expect(is_inter, "an intercommunicator");
  MPI_Comm_remote_size(inter, &others);
  const int lengths[] = {1, 100000};
  int* out = malloc(sizeof(int) * (size_t)lengths[1]);
  int* in = malloc(sizeof(int) * (size_t)lengths[1]);
  for (int peer = 0; peer < others; ++peer) {
    for (int which = 0; which < 2; ++which) {
      const int length = lengths[which];
      for (int i = 0; i < length; ++i) out[i] = rank * 1000 + i;
      MPI_Status status;
      MPI_Request request;
      MPI_Irecv(in, length, MPI_INT, peer, length, inter, &request);
      MPI_Send(out, length, MPI_INT, peer, length, inter);
      MPI_Wait(&request, &status);
      expect(status.MPI_SOURCE == peer, "the source");
      for (int i = 0; i < length; ++i) expect(in[i] == peer * 1000 + i, "what came");
    }
  }
  free(out);
  free(in);
  int sum = -1;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  expect(sum == others, "the sum over the other group");
  MPI_Barrier(inter);
}

static void work_together(MPI_Comm all, int expected_size) {
  int me = -1;
  int everybody = -1;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &everybody);
  expect(everybody == expected_size, "the size of the merged communicator");
  for (int bytes = 1; bytes <= 100000; bytes *= 10) {
    unsigned char* buffer = malloc((size_t)bytes);
    for (int root = 0; root < everybody; ++root) {
      memset(buffer, me == root ? root + 1 : 0, (size_t)bytes);
      MPI_Bcast(buffer, bytes, MPI_BYTE, root, all);
      for (int i = 0; i < bytes; ++i) expect(buffer[i] == root + 1, "the broadcast");
    }
    free(buffer);
  }
  int sum = -1;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
  expect(sum == everybody * (everybody - 1) / 2, "the sum of all ranks");
  MPI_Comm node;
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int on_node = 0;
  MPI_Comm_size(node, &on_node);
  expect(on_node == size, "those that share memory are those of the own job");
  MPI_Comm_free(&node);
}

static void accept_and_connect(int argc, char** argv, int accepts) {
  const int times = argc > 3 ? atoi(argv[3]) : 1;
  char name[MPI_MAX_PORT_NAME] = "";
  if (rank == 0 && accepts) {
    MPI_Open_port(MPI_INFO_NULL, name);
    write_name(argv[2], name);
  }
  if (rank == 0 && !accepts) read_name(argv[2], name);
  for (int i = 0; i < times; ++i) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (accepts) {
      MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    } else {
      MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    }
    talk(inter);
    MPI_Comm_disconnect(&inter);
    expect(inter == MPI_COMM_NULL, "the handle after MPI_Comm_disconnect");
  }
  if (rank == 0 && accepts) MPI_Close_port(name);
}

static void be_refused(const char* name) {
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char own[MPI_MAX_PORT_NAME] = "";
  if (rank == 0) snprintf(own, sizeof own, "%s", name);
  const int code = MPI_Comm_connect(own, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  expect(error_class == MPI_ERR_PORT, "MPI_ERR_PORT in all processes");
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  if (rank == 0) printf("%s\n", text);
}

/// The last process of one side is killed. All others learn of it in a collective call, also those that never
/// talked to it; a receive from it ends, too.
static void lose(char** argv, int dies) {
  char name[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  int others = 0;
  if (dies) {
    if (rank == 0) read_name(argv[2], name);
    MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    if (rank == size - 1) {
      int go = 0;
      MPI_Recv(&go, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
      raise(SIGKILL);
    }
  } else {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, name);
      write_name(argv[2], name);
    }
    MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_remote_size(inter, &others);
  const int go = 1;
  if (!dies && rank == 0) MPI_Send(&go, 1, MPI_INT, others - 1, 0, inter);
  int error_class = 0;
  MPI_Error_class(MPI_Barrier(inter), &error_class);
  expect(error_class == MPIX_ERR_PROC_FAILED, "MPIX_ERR_PROC_FAILED in the collective call");
  if (!dies) {
    int never = 0;
    const int code = MPI_Recv(&never, 1, MPI_INT, others - 1, 0, inter, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &error_class);
    expect(error_class == MPIX_ERR_PROC_FAILED, "MPIX_ERR_PROC_FAILED in the receive");
  }
  expect(MPI_Comm_disconnect(&inter) == MPI_SUCCESS, "MPI_Comm_disconnect from who has failed");
}

static void merge(char** argv) {
  char name[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  const int accepts = argv[3][0] == 'a';
  if (rank == 0 && accepts) {
    MPI_Open_port(MPI_INFO_NULL, name);
    write_name(argv[2], name);
  }
  if (rank == 0 && !accepts) read_name(argv[2], name);
  if (accepts) {
    MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  } else {
    MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  }
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  MPI_Intercomm_merge(inter, !accepts, &all);
  int me = -1;
  MPI_Comm_rank(all, &me);
  expect(me == (accepts ? rank : others + rank), "those with high last");
  work_together(all, size + others);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
}

static void join(int fd) {
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_join(fd, &inter);
  talk(inter);
  MPI_Comm_disconnect(&inter);
  char byte = 'j';  // the socket is the program's again
  expect(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'j',
         "the socket afterwards");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 2 ? argv[1] : "";
  if (strcmp(how, "accept") == 0 || strcmp(how, "connect") == 0) {
    accept_and_connect(argc, argv, how[0] == 'a');
  } else if (strcmp(how, "refused") == 0) {
    be_refused(argv[2]);
  } else if (strcmp(how, "die") == 0 || strcmp(how, "survive") == 0) {
    lose(argv, how[0] == 'd');
  } else if (strcmp(how, "merge") == 0) {
    merge(argv);
  } else if (strcmp(how, "join") == 0) {
    join(atoi(argv[2]));
  } else {
    fail("unknown argument");
  }
  printf("%s: %d of %d\n", how, rank, size);
  fflush(stdout);
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 91;
}
