// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: beside [SEED [PROGRAMS]]
// Several operations on one file that are under way at the same time, in parts of it that lie between each
// other: non-blocking collective ones beside independent ones, which may sieve, completed in any order; and
// beside calls that change hints and atomic mode.
// ranks: 1 2 4
// args: 1 15
// timeout: 60

#include <mpi.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "support/files.h"

namespace {

/// Whoever sieves takes its time between reading and writing back, so that others would come between.
std::atomic<bool> is_slow{false};

}  // namespace

extern "C" ssize_t pread(int file, void* memory, size_t bytes, off_t offset) {
  const ssize_t moved = ::syscall(SYS_pread64, file, memory, bytes, offset);
  constexpr double seconds = 0.0005;
  if (is_slow) {
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) ::sched_yield();
  }
  return moved;
}

namespace {

using test::expect;
using test::succeeds;
using Bytes = std::vector<unsigned char>;

constexpr int operations = 6;

enum class Kind { collective, split, independent, blocking };

/// Of one rank: which part of its view, and what is read or must be written there.
struct Operation {
  Kind kind = Kind::collective;
  bool writes = false;
  MPI_Offset offset = 0;  ///< in etypes
  int count = 0;
  Bytes memory;
  MPI_Request request = MPI_REQUEST_NULL;
};

class Program {
 public:
  Program(test::Shared& dice, const test::Folder& folder) : dice_(dice) {
    const char* const uses[] = {"enable", "disable", "automatic"};
    const char* const sizes[] = {"4096", "20000", "1000000"};
    test::Hints hints;
    hints.set("romio_cb_write", uses[dice.below(3)]).set("romio_cb_read", uses[dice.below(3)]);
    hints.set("romio_ds_read", uses[dice.below(3)]).set("romio_ds_write", uses[dice.below(2)]);
    hints.set("cb_buffer_size", sizes[dice.below(3)]).set("cb_config_list", "*:*");
    hints.set("ind_wr_buffer_size", sizes[dice.below(3)]);
    hints.set("cb_nodes", std::to_string(1 + dice.below(3)).c_str());
    hints.set("fulmar_mapped", uses[1 + dice.below(2)]);
    file_ = test::open_file(MPI_COMM_WORLD, folder.file("beside"), test::scratch, hints.info());
    etype_bytes_ = 1 + dice.below(40);
    each_ = 1 + dice.below(dice.coin() ? 40 : 2000);
    set_view();
    content_.resize(bytes(operations * each_));
    succeeds(MPI_File_write_at_all(file_, 0, content_.data(), operations * each_, etype_,
                                   MPI_STATUS_IGNORE),
             "the first write");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    MPI_Type_free(&etype_);
    succeeds(MPI_File_close(&file_), "close");
  }

  void round(int number) {
    std::vector<int> slots(operations);
    std::iota(slots.begin(), slots.end(), 0);
    shuffle(slots);
    std::vector<Operation> all(operations);
    for (std::size_t i = 0; i < all.size(); ++i) {
      choose(all[i], slots[i], number);
      start(all[i]);
    }
    std::vector<int> order(operations);
    std::iota(order.begin(), order.end(), 0);
    shuffle(order);
    for (const int i : order) {
      Operation& one = all[static_cast<std::size_t>(i)];
      succeeds(MPI_Wait(&one.request, MPI_STATUS_IGNORE), "wait");
      check(one);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    Bytes found(content_.size());
    succeeds(
        MPI_File_read_at(file_, 0, found.data(), operations * each_, etype_, MPI_STATUS_IGNORE),
        "read");
    expect(found == content_, "what was written is there");
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  [[nodiscard]] std::size_t bytes(MPI_Offset etypes) const {
    return static_cast<std::size_t>(etypes) * static_cast<std::size_t>(etype_bytes_);
  }

  /// The etypes of the ranks take turns in the file.
  void set_view() {
    MPI_Type_contiguous(etype_bytes_, MPI_BYTE, &etype_);
    MPI_Type_commit(&etype_);
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(etype_, 0, MPI_Aint{etype_bytes_} * size_, &filetype);
    MPI_Type_commit(&filetype);
    succeeds(MPI_File_set_view(file_, MPI_Offset{etype_bytes_} * rank_, etype_, filetype, "native",
                               MPI_INFO_NULL),
             "set_view");
    MPI_Type_free(&filetype);
  }

  void shuffle(std::vector<int>& list) {
    for (std::size_t i = list.size() - 1; i > 0; --i) {
      std::swap(list[i], list[static_cast<std::size_t>(dice_.below(static_cast<int>(i) + 1))]);
    }
  }

  void choose(Operation& one, int slot, int number) {
    constexpr Kind kinds[] = {Kind::collective,  Kind::collective,  Kind::split,
                              Kind::independent, Kind::independent, Kind::blocking};
    one.kind = kinds[dice_.below(6)];
    one.writes = dice_.below(3) != 0;
    one.offset = MPI_Offset{slot} * each_;
    const int with_data = dice_.below(1 << size_);  // a bit for each rank
    one.count = ((with_data >> rank_) & 1) != 0 ? each_ : 0;
    one.memory.assign(bytes(one.count), 0xee);
    for (std::size_t i = 0; one.writes && i < one.memory.size(); ++i) {
      one.memory[i] = static_cast<unsigned char>(number * 31 + rank_ * 13 + slot * 5 + i);
      content_[bytes(one.offset) + i] = one.memory[i];
    }
  }

  void start(Operation& one) {
    int code = MPI_SUCCESS;
    void* const data = one.memory.data();
    if (one.kind == Kind::collective) {
      code = one.writes
                 ? MPI_File_iwrite_at_all(file_, one.offset, data, one.count, etype_, &one.request)
                 : MPI_File_iread_at_all(file_, one.offset, data, one.count, etype_, &one.request);
    } else if (one.kind == Kind::split) {
      code = one.writes ? MPI_File_write_at_all_begin(file_, one.offset, data, one.count, etype_)
                        : MPI_File_read_at_all_begin(file_, one.offset, data, one.count, etype_);
      succeeds(one.writes ? MPI_File_write_at_all_end(file_, data, MPI_STATUS_IGNORE)
                          : MPI_File_read_at_all_end(file_, data, MPI_STATUS_IGNORE),
               "the end");
    } else if (one.kind == Kind::independent) {
      code = one.writes
                 ? MPI_File_iwrite_at(file_, one.offset, data, one.count, etype_, &one.request)
                 : MPI_File_iread_at(file_, one.offset, data, one.count, etype_, &one.request);
    } else {
      code = one.writes
                 ? MPI_File_write_at(file_, one.offset, data, one.count, etype_, MPI_STATUS_IGNORE)
                 : MPI_File_read_at(file_, one.offset, data, one.count, etype_, MPI_STATUS_IGNORE);
    }
    succeeds(code, "an operation");
  }

  void check(const Operation& one) const {
    const auto from = content_.begin() + static_cast<std::ptrdiff_t>(bytes(one.offset));
    expect(std::equal(one.memory.begin(), one.memory.end(), from), "what was read");
  }

  test::Shared& dice_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  int size_ = test::size_of(MPI_COMM_WORLD);
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype etype_ = MPI_DATATYPE_NULL;
  int etype_bytes_ = 1;
  int each_ = 1;
  Bytes content_;  ///< of this rank's view
};

/// Rank 0 writes for itself as the only aggregator, in many windows, while the others sieve around its data.
void an_aggregator_beside_sieves(const test::Folder& folder) {
  constexpr int count = 20000;
  constexpr int piece = 16;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  test::Hints hints;
  hints.set("romio_cb_write", "enable").set("romio_ds_write", "enable");
  hints.set("cb_buffer_size", "65536").set("ind_wr_buffer_size", "65536");
  MPI_File file =
      test::open_file(MPI_COMM_WORLD, folder.file("sieves"), test::scratch, hints.info());
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(piece, MPI_BYTE, &etype);
  MPI_Type_create_resized(etype, 0, MPI_Aint{piece} * test::size_of(MPI_COMM_WORLD), &filetype);
  MPI_Type_commit(&filetype);
  succeeds(MPI_File_set_view(file, MPI_Offset{piece} * rank, MPI_BYTE, filetype, "native",
                             MPI_INFO_NULL),
           "set_view");
  for (int round = 1; round <= 5; ++round) {
    const Bytes data(std::size_t{count} * piece, static_cast<unsigned char>(round * 16 + rank));
    MPI_Request request = MPI_REQUEST_NULL;
    const int bytes = count * piece;
    succeeds(
        MPI_File_iwrite_at_all(file, 0, data.data(), rank == 0 ? bytes : 0, MPI_BYTE, &request),
        "iwrite_at_all");
    if (rank != 0) {
      is_slow = true;
      succeeds(MPI_File_write_at(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE),
               "write_at");
      is_slow = false;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    Bytes found(data.size());
    succeeds(MPI_File_read_at(file, 0, found.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    expect(found == data, "nothing is lost");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  succeeds(MPI_File_close(&file), "close");
}

/// Hints and atomic mode change while a non-blocking collective write is under way, which goes on as it began.
void changes_beside_a_write(const test::Folder& folder) {
  constexpr int count = 20000;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  test::Hints hints;
  hints.set("romio_cb_write", "enable").set("cb_buffer_size", "65536");
  MPI_File file =
      test::open_file(MPI_COMM_WORLD, folder.file("changes"), test::scratch, hints.info());
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * size, &filetype);
  MPI_Type_commit(&filetype);
  succeeds(
      MPI_File_set_view(file, MPI_Offset{4} * rank, MPI_INT, filetype, "native", MPI_INFO_NULL),
      "set_view");
  MPI_Type_free(&filetype);
  const char* const sizes[] = {"4096", "1000000", "20000"};
  for (int round = 0; round < 60; ++round) {
    const std::vector<int> data(count, round * size + rank);
    MPI_Request request = MPI_REQUEST_NULL;
    succeeds(MPI_File_iwrite_at_all(file, 0, data.data(), count, MPI_INT, &request), "iwrite");
    hints.set("cb_buffer_size", sizes[round % 3]);
    hints.set("romio_cb_write", round % 2 == 0 ? "disable" : "enable");
    succeeds(MPI_File_set_atomicity(file, round % 4 == 1 ? 1 : 0), "set_atomicity");
    succeeds(MPI_File_set_info(file, hints.info()), "set_info");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> found(count);
    succeeds(MPI_File_read_at(file, 0, found.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read");
    expect(found == data, "the data");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    const unsigned long first = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
    const unsigned long count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
    for (unsigned long seed = first; seed < first + count && test::failures() == 0; ++seed) {
      std::string name = "beside";
      std::string number = std::to_string(seed);
      char* arguments[] = {name.data(), number.data(), nullptr};
      test::Shared dice(2, arguments);
      Program program(dice, folder);
      for (int round = 0; round < 4; ++round) program.round(round);
    }
    an_aggregator_beside_sieves(folder);
    changes_beside_a_write(folder);
  }
  return test::finish();
}
