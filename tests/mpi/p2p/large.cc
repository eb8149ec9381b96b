// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Messages of 2^31+1 bytes, counted in bytes and in larger elements, one run and not, to another
// process and to the own one. Skipped where memory is short.
// ranks: 2
// timeout: 300
// labels: big
#include <unistd.h>

#include <memory>

#include "check.h"
#include "support/sanitized.h"

namespace {

constexpr MPI_Count bytes = (MPI_Count{1} << 31) + 1;

/// Bytes of memory that could be had, as the kernel says.
long long available() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return 0;
  char line[200];
  long long kilobytes = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %lld", &kilobytes) == 1) break;
  }
  std::fclose(file);
  return kilobytes * 1024;
}

using Memory = std::unique_ptr<unsigned char[]>;

/// Every 4096th byte is marked, and the last.
void mark(unsigned char* data, unsigned seed) {
  for (MPI_Count i = 0; i < bytes; i += 4096) data[i] = static_cast<unsigned char>(i / 4096 + seed);
  data[bytes - 1] = static_cast<unsigned char>(seed + 99);
}
void look(const unsigned char* data, unsigned seed,
          std::source_location where = std::source_location::current()) {
  MPI_Count wrong = 0;
  for (MPI_Count i = 0; i < bytes; i += 4096) {
    if (data[i] != static_cast<unsigned char>(i / 4096 + seed) && i != bytes - 1) ++wrong;
  }
  check::is(wrong, 0, "marks", where);
  check::is(data[bytes - 1], static_cast<unsigned char>(seed + 99), "last byte", where);
}

void described(const MPI_Status& status, MPI_Count expected) {
  int count = 0;
  MPI_Count wide = 0;
  check::ok(MPI_Get_count(&status, MPI_BYTE, &count));
  check::is(count, MPI_UNDEFINED, "a count that does not fit an int");
  check::ok(MPI_Get_count_c(&status, MPI_BYTE, &wide));
  check::is(wide, expected, "count");
}

void between_ranks(unsigned char* data) {
  MPI_Status status;
  if (check::rank() == 0) {
    mark(data, 1);
    check::ok(MPI_Send_c(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
  } else {
    MPI_Message message;
    check::ok(MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, &status));
    described(status, bytes);
    check::ok(MPI_Mrecv_c(data, bytes, MPI_BYTE, &message, &status));
    described(status, bytes);
    look(data, 1);
  }
}

/// One element of a derived type, in the plain form; not one run at the sender, then at the
/// receiver.
void as_one_element(unsigned char* data) {
  MPI_Datatype run;
  MPI_Datatype gaps;
  check::ok(MPI_Type_contiguous_c(bytes, MPI_BYTE, &run));
  // All but every second block of a megabyte: half of the bytes.
  constexpr MPI_Count block = MPI_Count{1} << 20;
  check::ok(MPI_Type_vector_c(1024, block, 2 * block, MPI_BYTE, &gaps));
  check::ok(MPI_Type_commit(&run));
  check::ok(MPI_Type_commit(&gaps));
  MPI_Status status;
  if (check::rank() == 0) {
    mark(data, 2);
    check::ok(MPI_Send(data, 1, run, 1, 1, MPI_COMM_WORLD));
    check::ok(MPI_Send(data, 1, gaps, 1, 2, MPI_COMM_WORLD));
  } else {
    std::memset(data, 0, bytes);
    check::ok(MPI_Recv(data, 1, run, 0, 1, MPI_COMM_WORLD, &status));
    described(status, bytes);
    int count = 0;
    check::ok(MPI_Get_count(&status, run, &count));
    check::is(count, 1, "one element");
    look(data, 2);
    std::memset(data, 0, bytes);
    check::ok(MPI_Recv(data, 1, gaps, 0, 2, MPI_COMM_WORLD, &status));
    check::ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check::is(count, 1024 * block, "half of the bytes");
    MPI_Count wrong = 0;
    for (MPI_Count i = 0; i < bytes - 1; i += 4096) {
      const bool inside = i / block % 2 == 0 && i / block < 2048;
      const auto expected = static_cast<unsigned char>(inside ? i / 4096 + 2 : 0);
      if (data[i] != expected) ++wrong;
    }
    check::is(wrong, 0, "blocks and gaps");
  }
  check::ok(MPI_Type_free(&run));
  check::ok(MPI_Type_free(&gaps));
}

void truncated(unsigned char* data) {
  MPI_Status status;
  if (check::rank() == 0) {
    check::ok(MPI_Send_c(data, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
  } else {
    check::error(MPI_Recv(data, 1 << 20, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status),
                 MPI_ERR_TRUNCATE);
  }
}

void to_itself(unsigned char* data, unsigned char* other) {
  MPI_Request request;
  MPI_Status status;
  mark(data, 4);
  check::ok(MPI_Isend_c(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request));
  check::ok(MPI_Recv_c(other, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &status));
  described(status, bytes);
  look(other, 4);
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  if (test::sanitized) {
    if (check::rank() == 0) std::puts("skipped: gigabytes take minutes under a sanitizer");
    return check::finish();
  }
  int enough = available() > (8LL << 30) ? 1 : 0;
  int all = 0;
  check::ok(MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  if (all == 0) {
    if (check::rank() == 0) std::puts("skipped: less than 8 GB of memory are available");
    return check::finish();
  }
  {
    const auto data = Memory(new unsigned char[bytes]());
    between_ranks(data.get());
    as_one_element(data.get());
    truncated(data.get());
    check::meet();
    if (check::rank() == 0) {
      const auto other = Memory(new unsigned char[bytes]());
      to_itself(data.get(), other.get());
    }
  }
  return check::finish();
}
