// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include "support/check.h"

namespace test {

/// Counts the packets that this process sends. The tool interface is initialised before, and ended
/// after it.
class PacketCounter {
 public:
  PacketCounter() {
    int index = 0;
    int count = 0;
    MPI_T_pvar_get_index("channel_packets_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session_);
    expect_equal(MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count), MPI_SUCCESS,
                 "the counter of packets");
    MPI_T_pvar_start(session_, handle_);
  }
  ~PacketCounter() {
    MPI_T_pvar_handle_free(session_, &handle_);
    MPI_T_pvar_session_free(&session_);
  }
  PacketCounter(const PacketCounter&) = delete;
  PacketCounter& operator=(const PacketCounter&) = delete;

  [[nodiscard]] long long value() const {
    unsigned long long value = 0;
    MPI_T_pvar_read(session_, handle_, &value);
    return static_cast<long long>(value);
  }

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

}  // namespace test
