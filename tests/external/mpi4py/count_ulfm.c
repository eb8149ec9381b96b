/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A tool in the sense of MPI 5.0 section 15.2, preloaded: counts the calls of the functions of mpi-ext.h, and writes
 * one line with them to stderr when the process ends.
 */
#include <mpi-ext.h>
#include <stdio.h>

enum { revoke, is_revoked, shrink, ishrink, agree, iagree, get_failed, ack_failed, functions };

static const char* const names[functions] = {"Comm_revoke",     "Comm_is_revoked", "Comm_shrink",
                                             "Comm_ishrink",    "Comm_agree",      "Comm_iagree",
                                             "Comm_get_failed", "Comm_ack_failed"};
static unsigned long calls[functions];

int MPIX_Comm_revoke(MPI_Comm comm) {
  ++calls[revoke];
  return PMPIX_Comm_revoke(comm);
}

int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag) {
  ++calls[is_revoked];
  return PMPIX_Comm_is_revoked(comm, flag);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
  ++calls[shrink];
  return PMPIX_Comm_shrink(comm, newcomm);
}

int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  ++calls[ishrink];
  return PMPIX_Comm_ishrink(comm, newcomm, request);
}

int MPIX_Comm_agree(MPI_Comm comm, int* flag) {
  ++calls[agree];
  return PMPIX_Comm_agree(comm, flag);
}

int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  ++calls[iagree];
  return PMPIX_Comm_iagree(comm, flag, request);
}

int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failedgrp) {
  ++calls[get_failed];
  return PMPIX_Comm_get_failed(comm, failedgrp);
}

int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked) {
  ++calls[ack_failed];
  return PMPIX_Comm_ack_failed(comm, num_to_ack, num_acked);
}

__attribute__((destructor)) static void report(void) {
  char line[512];
  int length = snprintf(line, sizeof line, "calls of mpi-ext.h:");
  unsigned long all = 0;
  for (int i = 0; i < functions; ++i) {
    all += calls[i];
    length += snprintf(line + length, sizeof line - (size_t)length, " %s=%lu", names[i], calls[i]);
  }
  if (all != 0) fprintf(stderr, "%s\n", line);
}
