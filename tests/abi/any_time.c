/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Functions that are allowed before MPI_Init answer there. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

/* What a Fortran layer tells the library and reads back; only the first time counts. */
static void check_fortran(void) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info facts = MPI_INFO_NULL;
  char value[8] = "";
  int room = (int)sizeof value;
  int flag = -1;
  int yes = 0;
  int no = 7;
  const int one = 1;
  const int zero = 0;
  expect(MPI_Abi_get_info(&info) == MPI_SUCCESS, "MPI_Abi_get_info");
  expect(MPI_Info_get_string(info, "mpi_count_size", &room, value, &flag) == MPI_SUCCESS, "a key");
  expect(flag == 1 && strcmp(value, "8") == 0, "MPI_Count has 8 bytes");
  MPI_Info_free(&info);
  expect(MPI_Abi_get_fortran_info(&facts) == MPI_SUCCESS && facts == MPI_INFO_NULL, "no facts yet");
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_logical_size", "4");
  expect(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS, "MPI_Abi_set_fortran_info");
  MPI_Info_free(&info);
  expect(MPI_Abi_get_fortran_info(&facts) == MPI_SUCCESS && facts != MPI_INFO_NULL, "facts");
  MPI_Info_get_valuelen(facts, "mpi_logical_size", &room, &flag);
  expect(flag == 1 && room == 1, "the facts are those that were set");
  MPI_Info_free(&facts);
  expect(MPI_Abi_get_fortran_booleans(4, &yes, &no, &flag) == MPI_SUCCESS && flag == 0,
         "no values");
  expect(MPI_Abi_set_fortran_booleans(4, (void*)&one, (void*)&zero) == MPI_SUCCESS, "booleans");
  expect(MPI_Abi_get_fortran_booleans(4, &yes, &no, &flag) == MPI_SUCCESS && flag == 1, "values");
  expect(yes == 1 && no == 0, "the values are those that were set");
}

int main(void) {
  static const char expected[] = "Fulmar " PROJECT_VERSION ",";
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = -1;
  int major = -1;
  int minor = -1;
  int flag = -1;
  int here = 0;
  MPI_Aint address = 0;
  MPI_Status status;
  double start = MPI_Wtime();
  expect(MPI_Get_library_version(text, &length) == MPI_SUCCESS, "MPI_Get_library_version works");
  expect((int)strlen(text) == length && strncmp(text, expected, strlen(expected)) == 0,
         "it names Fulmar and the version of the build");
  expect(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0, "ABI 1.0");
  expect(MPI_Wtime() >= start && MPI_Wtick() > 0 && MPI_Wtick() < 1e-3, "the clock goes forward");
  expect(MPI_Get_address(&here, &address) == MPI_SUCCESS && address == (MPI_Aint)&here, "address");
  expect(MPI_Aint_add(address, 8) == address + 8, "MPI_Aint_add");
  expect(MPI_Aint_diff(address, address - 8) == 8, "MPI_Aint_diff");
  expect(MPI_Pcontrol(1, 2, "three") == MPI_SUCCESS, "MPI_Pcontrol");
  expect(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101, "predefined handles keep their value");
  expect(MPI_Type_fromint(0x209) == MPI_INT, "and come back");
  expect(MPI_Comm_fromint(1 << 20) == MPI_COMM_NULL, "a number of no handle is null");
  expect(MPI_Comm_fromint(-5) == MPI_COMM_NULL, "so is a negative one");
  memset(&status, 0, sizeof status);
  expect(MPI_Status_set_cancelled(&status, 1) == MPI_SUCCESS, "MPI_Status_set_cancelled");
  expect(MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS && flag == 1, "MPI_Test_cancelled");
  expect(MPI_Status_set_source(&status, 3) == MPI_SUCCESS && status.MPI_SOURCE == 3, "source");
  expect(MPI_Status_set_tag(&status, 4) == MPI_SUCCESS && status.MPI_TAG == 4, "tag");
  expect(MPI_Status_get_source(&status, &flag) == MPI_SUCCESS && flag == 3, "source comes back");
  expect(MPI_T_cvar_get_num(&flag) == MPI_T_ERR_NOT_INITIALIZED, "tool calls answer");
  check_fortran();
  return failures == 0 ? 0 : 1;
}
