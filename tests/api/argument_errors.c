/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Every working function with every kind of wrong argument: the error has the right class, and its
 * text names the function and the argument. The calls are generated; see make_argument_errors.py.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int failures;
static const uintptr_t garbage = 0x123450;
static int size = 1;
static char memory[256];
static void* address;
static int count;
static MPI_Count count_c;
static MPI_Count large;
static int number;
static int numbers[4] = {0, 0, 0, 0};
static int ranges[1][3] = {{0, 0, 1}};
static int counts[1] = {1};
static MPI_Count counts_c[1] = {1};
static int negative[1] = {-1};
static MPI_Count negative_c[1] = {-1};
static int displacements[1] = {0};
static MPI_Aint displacements_c[1] = {0};
static MPI_Count larges[1] = {1};
static MPI_Comm comm;
static MPI_Group group;
static MPI_Datatype datatype;
static MPI_Datatype uncommitted;
static MPI_Datatype datatypes[1];
static MPI_Op op;
static MPI_Request request;
static MPI_Request pending;
static MPI_Request no_request;
static MPI_Request garbage_request;
static MPI_Request requests[1];
static MPI_Message no_message;
static MPI_Message null_message;
static MPI_Info info;
static MPI_Info new_info;
static MPI_Errhandler errhandler;
static MPI_Session session;
static MPI_Win win;
static MPI_Win new_win;
static MPI_Win no_win;
static MPI_Win garbage_win;
static MPI_Status status;
static char text[MPI_MAX_LIBRARY_VERSION_STRING];

/* A function of every type: no call with a wrong argument gets as far as using it. */
static void never_called(void) { failures += 1000; }

static const char* call_name;
static const char* argument_name;
static const char* wrong_value;

/* Variables that a call which wrongly succeeds would have changed. */
static void reset(void) {
  number = 1;
  comm = MPI_COMM_SELF;
  group = MPI_GROUP_EMPTY;
  datatype = MPI_INT;
  datatypes[0] = MPI_INT;
  op = MPI_SUM;
  no_request = MPI_REQUEST_NULL;
  requests[0] = MPI_REQUEST_NULL;
  garbage_request = (MPI_Request)garbage;
  no_message = MPI_MESSAGE_NO_PROC;
  null_message = MPI_MESSAGE_NULL;
  errhandler = MPI_ERRORS_RETURN;
  new_win = MPI_WIN_NULL;
  no_win = MPI_WIN_NULL;
  garbage_win = (MPI_Win)garbage;
}

static void begin(const char* call, const char* argument, const char* wrong) {
  call_name = call;
  argument_name = argument;
  wrong_value = wrong;
  reset();
}

static void end(int wanted, int code) {
  char error_text[MPI_MAX_ERROR_STRING];
  char expected[128];
  int length = 0;
  int error_class = -1;
  error_text[0] = '\0';
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, error_text, &length);
  snprintf(expected, sizeof expected, "%s: argument %s", call_name, argument_name);
  if (error_class == wanted && strstr(error_text, expected) != NULL) return;
  fprintf(stderr, "%s with %s = %s: class %d, expected %d: %s\n", call_name, argument_name,
          wrong_value, error_class, wanted, error_text);
  ++failures;
}

#include "argument_errors.inc"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Irecv(memory, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &pending);
#ifdef HAVE_MPI_Info_create
  MPI_Info_create(&info);
#endif
#ifdef HAVE_MPI_Win_allocate
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &address, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#endif
#ifdef HAVE_MPI_Session_init
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
#endif
  run_all();
  printf("%d functions, %d calls, %d wrong answers\n", FUNCTIONS, CASES, failures);
  reset();
  fflush(stdout);
  MPI_Send(memory, 1, MPI_INT, 0, 99, MPI_COMM_SELF);
#ifdef HAVE_MPI_Win_allocate
  MPI_Win_free(&win);
#endif
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
