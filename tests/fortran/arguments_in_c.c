// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The C side of arguments.F90: takes the place of functions of the C library, and shows what they got.
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// 0, or the number of the first thing that is wrong.
static int first_wrong(const int* right, int count) {
  for (int i = 0; i < count; ++i) {
    if (!right[i]) return i + 1;
  }
  return MPI_SUCCESS;
}

static int is(const char* found, const char* wanted) {
  return found != NULL && strcmp(found, wanted) == 0;
}

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm* intercomm, int errcodes[]) {
  *intercomm = MPI_COMM_SELF;
  if (is(command, "plain")) {
    const int right[] = {argv == MPI_ARGV_NULL, errcodes == MPI_ERRCODES_IGNORE};
    return first_wrong(right, 2);
  }
  const int right[] = {is(command, "a program"),
                       is(argv[0], "first argument"),
                       is(argv[1], "-x"),
                       argv[2] == NULL,
                       maxprocs == 3,
                       info == MPI_INFO_NULL,
                       root == 0,
                       comm == MPI_COMM_WORLD,
                       errcodes != NULL};
  if (errcodes != NULL) errcodes[2] = 77;
  return first_wrong(right, 9);
}

int PMPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[], const int maxprocs[],
                             const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* intercomm,
                             int errcodes[]) {
  (void)errcodes;
  *intercomm = MPI_COMM_SELF;
  if (is(commands[0], "plain")) {
    const int right[] = {count == 2, argvs == MPI_ARGVS_NULL};
    return first_wrong(right, 2);
  }
  const int right[] = {count == 2,
                       is(commands[0], "one"),
                       is(commands[1], "the other"),
                       is(argvs[0][0], "1a"),
                       is(argvs[0][1], "1b"),
                       argvs[0][2] == NULL,
                       is(argvs[1][0], "2a"),
                       argvs[1][1] == NULL,
                       maxprocs[1] == 5,
                       infos[0] == MPI_INFO_NULL,
                       infos[1] == MPI_INFO_ENV,
                       root == 0,
                       comm == MPI_COMM_WORLD};
  return first_wrong(right, 13);
}

// Calls what was registered: the write function, then the extent function.
int PMPI_Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read,
                          MPI_Datarep_conversion_function* write,
                          MPI_Datarep_extent_function* extent, void* extra_state) {
  int numbers[2] = {3, 4};
  int in_file[2] = {0, 0};
  MPI_Aint bytes = 0;
  const int right[] = {is(datarep, "ours"),
                       read == MPI_CONVERSION_FN_NULL,
                       write(numbers, MPI_INTEGER, 2, in_file, 10, extra_state) == 42,
                       in_file[0] == 13,
                       in_file[1] == 14,
                       extent(MPI_INTEGER, &bytes, extra_state) == MPI_SUCCESS,
                       bytes == 6000000001};
  return first_wrong(right, 7);
}

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  const int right[] = {comm == MPI_COMM_SELF, is(filename, "dir/a file"), amode == MPI_MODE_RDONLY,
                       info == MPI_INFO_NULL};
  *fh = MPI_FILE_NULL;
  return first_wrong(right, 4);
}

static int memory[4];

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                      MPI_Win* win) {
  const int right[] = {size == 5000000000, disp_unit == 4, info == MPI_INFO_NULL,
                       comm == MPI_COMM_WORLD};
  memory[3] = 99;
  *(void**)baseptr = memory;
  *win = MPI_WIN_NULL;
  return first_wrong(right, 4);
}

// All requests are this one, as if each was completed by C before the next begins.
static const int request_number = 8192;

int PMPI_Request_toint(MPI_Request request) {
  return (uintptr_t)request == (uintptr_t)request_number ? request_number : 0;
}

MPI_Request PMPI_Request_fromint(int request) { return (MPI_Request)(uintptr_t)request; }

int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request) {
  const int right[] = {((const int*)sendbuf)[count - 1] == 7,
                       recvbuf != sendbuf,
                       count == 4,
                       datatype == MPI_INTEGER,
                       op == MPI_SUM,
                       comm == MPI_COMM_SELF};
  *request = PMPI_Request_fromint(request_number);
  return first_wrong(right, 6);
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  *request = PMPI_Request_fromint(request_number);
  return comm == MPI_COMM_SELF ? MPI_SUCCESS : 1;
}

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  *request = MPI_REQUEST_NULL;
  return status == MPI_STATUS_IGNORE ? MPI_SUCCESS : 1;
}
