/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Small programs that stand still, each in a way of its own, and some that are merely slow. The
 * first argument names one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank;
static int size;
static int value;
static char* program;
static const char* file_argument;

static void receive(int source, int tag, MPI_Comm comm) {
  MPI_Recv(&value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
}
static void send(int dest, int tag, MPI_Comm comm) {
  MPI_Send(&value, 1, MPI_INT, dest, tag, comm);
}

static void head_to_head(void) { receive(1 - rank, 7, MPI_COMM_WORLD); }

static void ssend_ring(void) {
  MPI_Ssend(&value, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD);
}

static void wrong_tag(void) {
  if (rank == 0) send(1, 8, MPI_COMM_WORLD);
  receive(1 - rank, 7, MPI_COMM_WORLD);
}

static void wrong_source(void) {
  if (rank == 2) send(1, 5, MPI_COMM_WORLD);
  receive(rank == 1 ? 0 : 1, 5, MPI_COMM_WORLD);
}

static void missing_in_barrier(void) {
  if (rank == 2) receive(0, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void one_in_finalize(void) {
  if (rank != 1) MPI_Barrier(MPI_COMM_WORLD);
}

static void different_collectives(void) {
  const int count = 1 << 20;
  int* data = calloc((size_t)count, sizeof *data);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Gatherv(data, count, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, MPI_COMM_WORLD);
  free(data);
}

static void wrong_arguments(void) {
  int sum = 0;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Iallreduce(&value, &sum, rank == 0 ? -1 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) receive(1, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wrong_communicator(void) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, "the other one");
  if (rank == 0) send(1, 3, other);
  receive(1 - rank, 3, MPI_COMM_WORLD);
}

static void wait_for_irecv(void) {
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 10 + rank, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probe(void) {
  if (rank == 0) MPI_Probe(1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  receive(0, 6, MPI_COMM_WORLD);
}

static void from_itself(void) { receive(0, 2, MPI_COMM_WORLD); }

static void part_of_the_ranks(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
  if (rank / 2 == 0) receive(1, 9, MPI_COMM_WORLD);
  receive(1 - rank % 2, 9, half);
}

/* Both wait in the same call, for the same ranks, of communicators that have no names. */
static void two_duplicates(void) {
  MPI_Comm one;
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Barrier(rank == 0 ? one : other);
}

/* More messages than there is room for in a report. */
static void many_unreceived(void) {
  for (int tag = 100; tag < 109 && rank == 0; ++tag) {
    MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
  }
  receive(1 - rank, 1, MPI_COMM_WORLD);
}

/* Who asks again and again waits, too. */
static void test_loop(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 20 + rank, MPI_COMM_WORLD, &request);
  while (flag == 0) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}
static void probe_loop(void) {
  int flag = 0;
  while (rank == 0 && flag == 0) MPI_Iprobe(1, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void pause_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* One rank does something else, longer than the time that the test gives. */
static void sleeps(void) {
  if (rank == 0) pause_ms(5000);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void computes(void) {
  const double end = MPI_Wtime() + 5;
  volatile double sum = 0;
  while (rank == 0 && MPI_Wtime() < end) sum += 1;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void crawls(void) {
  for (int i = 0; i < 6; ++i) {
    if (rank == 0) pause_ms(900);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

/* It asks now and then, but it works. */
static void computes_and_tests(void) {
  const double end = MPI_Wtime() + 5;
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &request);
  while (rank == 0 && MPI_Wtime() < end) {
    const double pause = MPI_Wtime() + 0.001;
    volatile double sum = 0;
    while (MPI_Wtime() < pause) sum += 1;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Send(&value, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* --- windows */

static int* memory;
static MPI_Win make_window(void) {
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_name(win, "halo");
  return win;
}
static MPI_Group group_of(int member) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &member, &group);
  return group;
}

/* Each holds its own lock and wants that of the other. */
static void crossed_locks(void) {
  MPI_Win win = make_window();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
  MPI_Get(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
  MPI_Win_unlock(1 - rank, win);
}

/* Rank 1 waits for the barrier with a lock that the others want. */
static void lock_kept(void) {
  MPI_Win win = make_window();
  if (rank == 1) {
    MPI_Win_lock_all(0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void start_without_post(void) {
  MPI_Win win = make_window();
  if (rank == 0) MPI_Win_start(group_of(1), 0, win);
  if (rank == 1) receive(0, 31, MPI_COMM_WORLD);
}

static void wait_without_complete(void) {
  MPI_Win win = make_window();
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (rank == 0) {
    MPI_Win_post(world, 0, win);
    MPI_Win_start(group_of(0), 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  } else {
    MPI_Win_start(group_of(0), 0, win);
    if (rank == 1) MPI_Win_complete(win);
    receive(0, 32, MPI_COMM_WORLD);
  }
}

static void missing_in_fence(void) {
  MPI_Win win = make_window();
  if (rank == 1) receive(0, 33, MPI_COMM_WORLD);
  MPI_Win_fence(0, win);
}

static char file_name[64];

static MPI_File open_file(void) {
  MPI_File file = MPI_FILE_NULL;
  snprintf(file_name, sizeof file_name, "/tmp/fulmar-deadlocks-XXXXXX");
  if (rank == 0) {
    const int descriptor = mkstemp(file_name);
    if (descriptor < 0 || close(descriptor) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Bcast(file_name, sizeof file_name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(file_name);
  return file;
}

static void one_in_write_all(void) {
  MPI_File file = open_file();
  if (rank == 0) receive(1, 2, MPI_COMM_WORLD);
  MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void one_in_iread_all(void) {
  MPI_File file = open_file();
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) receive(1, 2, MPI_COMM_WORLD);
  MPI_File_iread_all(file, &value, 1, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Starts this program again as `name`, and returns the intercommunicator with it. */
static MPI_Comm spawn(char* name, int processes) {
  MPI_Comm children;
  char* arguments[] = {name, NULL};
  MPI_Comm_spawn(program, arguments, processes, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  return children;
}

static MPI_Comm parents(void) {
  MPI_Comm comm;
  MPI_Comm_get_parent(&comm);
  return comm;
}

static void with_its_child(void) { receive(1, 7, spawn("with_its_parent", 2)); }

static void with_its_parent(void) {
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) receive(0, 8, parents());
}

static void merged_barrier(void) {
  MPI_Comm all;
  MPI_Intercomm_merge(spawn("merged_receive", 1), 0, &all);
  MPI_Barrier(all);
}

static void merged_receive(void) {
  MPI_Comm all;
  MPI_Intercomm_merge(parents(), 1, &all);
  receive(MPI_ANY_SOURCE, 3, all);
}

/* The parent may go on for ever: two spawned ones do not. */
static void children_alone(void) {
  (void)spawn("head_to_head", 2);
  sleep(600);
}

static void waits_for_slow_child(void) { receive(0, 9, spawn("slow_child", 1)); }

static void slow_child(void) {
  sleep(6);
  send(0, 9, parents());
}

/* Who accepts waits for programs that nobody here knows. */
static void accepts(void) {
  MPI_Comm client;
  char port[MPI_MAX_PORT_NAME];
  MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
}

/* The second argument names a file for the port. The client is of another mpiexec, and slow. */
static void waits_for_client(void) {
  MPI_Comm client;
  char port[MPI_MAX_PORT_NAME];
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    FILE* const file = fopen(file_argument, "w");
    if (file == NULL || fprintf(file, "%s\n", port) < 0 || fclose(file) != 0) {
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
  if (rank == 0) receive(0, 9, client);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_disconnect(&client);
}

static void slow_client(void) {
  MPI_Comm server;
  char port[MPI_MAX_PORT_NAME];
  FILE* const file = fopen(file_argument, "r");
  if (file == NULL || fgets(port, sizeof port, file) == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  fclose(file);
  port[strcspn(port, "\n")] = '\0';
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &server);
  sleep(6);
  send(0, 9, server);
  MPI_Comm_disconnect(&server);
}

static const struct {
  const char* name;
  void (*run)(void);
} programs[] = {
    {"head_to_head", head_to_head},
    {"ssend_ring", ssend_ring},
    {"wrong_tag", wrong_tag},
    {"wrong_source", wrong_source},
    {"missing_in_barrier", missing_in_barrier},
    {"one_in_finalize", one_in_finalize},
    {"different_collectives", different_collectives},
    {"wrong_arguments", wrong_arguments},
    {"wrong_communicator", wrong_communicator},
    {"wait_for_irecv", wait_for_irecv},
    {"probe", probe},
    {"from_itself", from_itself},
    {"part_of_the_ranks", part_of_the_ranks},
    {"two_duplicates", two_duplicates},
    {"many_unreceived", many_unreceived},
    {"test_loop", test_loop},
    {"probe_loop", probe_loop},
    {"computes_and_tests", computes_and_tests},
    {"crossed_locks", crossed_locks},
    {"lock_kept", lock_kept},
    {"start_without_post", start_without_post},
    {"wait_without_complete", wait_without_complete},
    {"missing_in_fence", missing_in_fence},
    {"sleeps", sleeps},
    {"computes", computes},
    {"crawls", crawls},
    {"one_in_write_all", one_in_write_all},
    {"one_in_iread_all", one_in_iread_all},
    {"with_its_child", with_its_child},
    {"with_its_parent", with_its_parent},
    {"merged_barrier", merged_barrier},
    {"merged_receive", merged_receive},
    {"children_alone", children_alone},
    {"waits_for_slow_child", waits_for_slow_child},
    {"slow_child", slow_child},
    {"accepts", accepts},
    {"waits_for_client", waits_for_client},
    {"slow_client", slow_client},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  program = argv[0];
  file_argument = argc > 2 ? argv[2] : NULL;
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) {
      programs[i].run();
      MPI_Finalize();
      return 0;
    }
  }
  fprintf(stderr, "deadlocks: no such program\n");
  return 2;
}
