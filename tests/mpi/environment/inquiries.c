// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// What a process is told about its job and machine: last used code, parent, hardware.
#include <mpi.h>
#include <stdio.h>

static int failures = 0;

static void check(int good, const char* what) {
  if (good) return;
  ++failures;
  printf("failed: %s\n", what);
}

static void last_used_code(void) {
  int* last = NULL;
  int set = 0;
  int added = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &set);
  check(set && *last >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is set");
  MPI_Add_error_class(&added);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &set);
  check(set && *last == added, "MPI_LASTUSEDCODE follows MPI_Add_error_class");
}

static void hardware(int type, const char* name) {
  MPI_Info info;
  MPI_Comm part = MPI_COMM_WORLD;
  int size = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &part);
  check(part == MPI_COMM_NULL, name);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "no such hardware");
  MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &part);
  check(part == MPI_COMM_NULL, name);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &part);
  check(part != MPI_COMM_NULL, name);
  int all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (part != MPI_COMM_NULL) {
    MPI_Comm_size(part, &size);
    check(size == all, name);
    MPI_Comm_free(&part);
  }
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Info info = MPI_INFO_NULL;
  check(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS && info != MPI_INFO_NULL,
        "hardware is told before MPI_Init");
  MPI_Info_free(&info);
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_WORLD;
  MPI_Comm_get_parent(&parent);
  check(parent == MPI_COMM_NULL, "nobody spawned this process");
  last_used_code();
  hardware(MPI_COMM_TYPE_HW_GUIDED, "split by MPI_COMM_TYPE_HW_GUIDED");
  hardware(MPI_COMM_TYPE_RESOURCE_GUIDED, "split by MPI_COMM_TYPE_RESOURCE_GUIDED");
  MPI_Finalize();
  return failures != 0;
}
