// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/counts.h"

#include <array>

namespace fulmar::measure {

namespace {

constexpr std::array names = {
    "channel_design_writes",     "channel_design_credit_writes",
    "channel_design_copies",     "channel_design_copied_bytes",
    "channel_design_handshakes", "channel_design_moved_bytes",
    "device_rendezvous_sends",   "device_single_copies",
    "device_fetched_messages",   "device_put_messages",
    "device_streamed_messages",  "device_memory_opened",
    "device_memory_hits",        "device_sleeps",
    "device_thread_wakeups",     "device_second_thread_wakeups",
    "device_remote_bytes",
};
constexpr std::array<int, 2> classes = {MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE};
constexpr int rounds = 64;

/// Counters of this process, read twice.
class Counters {
 public:
  Counters() {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session_);
    for (const char* name : names) {
      MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
      for (const int kind : classes) {
        int index = 0;
        int count = 0;
        if (handle == MPI_T_PVAR_HANDLE_NULL &&
            MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS) {
          MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle, &count);
        }
      }
      handles_.push_back(handle);
    }
    for (const MPI_T_pvar_handle handle : handles_) {
      if (handle != MPI_T_PVAR_HANDLE_NULL) {
        MPI_T_pvar_start(session_, handle);
      }
    }
  }
  ~Counters() {
    MPI_T_pvar_session_free(&session_);
    MPI_T_finalize();
  }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  [[nodiscard]] std::vector<unsigned long long> read() const {
    std::vector<unsigned long long> values;
    for (const MPI_T_pvar_handle handle : handles_) {
      unsigned long long value = 0;
      if (handle != MPI_T_PVAR_HANDLE_NULL) {
        MPI_T_pvar_read(session_, handle, &value);
      }
      values.push_back(value);
    }
    return values;
  }
  [[nodiscard]] bool has(std::size_t index) const {
    return handles_[index] != MPI_T_PVAR_HANDLE_NULL;
  }

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  std::vector<MPI_T_pvar_handle> handles_;
};

void ping_pong(MPI_Comm comm, int rank, std::vector<char>& memory) {
  const int count = static_cast<int>(memory.size());
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      MPI_Send(memory.data(), count, MPI_CHAR, 1, 0, comm);
      MPI_Recv(memory.data(), count, MPI_CHAR, 1, 0, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(memory.data(), count, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
      MPI_Send(memory.data(), count, MPI_CHAR, 0, 0, comm);
    }
  }
}

}  // namespace

std::vector<Count> count_messages(MPI_Comm comm, std::size_t bytes) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<char> memory(bytes);
  ping_pong(comm, rank, memory);
  const Counters counters;
  const std::vector<unsigned long long> before = counters.read();
  ping_pong(comm, rank, memory);
  std::vector<unsigned long long> own = counters.read();
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] -= before[i];
  }
  std::vector<unsigned long long> sum(own.size());
  MPI_Reduce(own.data(), sum.data(), static_cast<int>(own.size()), MPI_UNSIGNED_LONG_LONG, MPI_SUM,
             0, comm);
  std::vector<Count> counts;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (counters.has(i)) {
      counts.push_back({names[i], bytes, static_cast<double>(sum[i]) / (2 * rounds)});
    }
  }
  return counts;
}

}  // namespace fulmar::measure
