// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Random programs against a model of the file that every rank computes: views that spread the file over
// the ranks in any pattern, all forms of calls, hints, memory with and without gaps. After each round
// every byte is compared. Arguments: a seed, and how many programs.
// ranks: 1 2 3 4
// networks: tcp
// timeout: 120

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::mark;
using test::succeeds;

constexpr int hole = 0;  ///< bytes of the file that were not written

/// Which rank owns which integer of a tile; tiles repeat without end.
class Pattern {
 public:
  Pattern(test::Shared& random, int ranks) {
    const int tile = ranks + random.below(random.coin() ? 8 : 600);
    const bool blocks = random.coin();
    owner_.resize(static_cast<std::size_t>(tile));
    for (int i = 0; i < tile; ++i) {
      // Every rank has some; in blocks, or at random, and some are unused.
      const int block = tile / ranks;
      const int by_block = std::min(i / std::max(block, 1), ranks - 1);
      const int by_chance = random.below(ranks + 1) - 1;
      owner_[static_cast<std::size_t>(i)] = blocks ? by_block : i < ranks ? i : by_chance;
    }
    displacement_ = random.below(20);
  }

  [[nodiscard]] std::vector<int> places_of(int rank) const {
    std::vector<int> places;
    for (std::size_t i = 0; i < owner_.size(); ++i) {
      if (owner_[i] == rank) places.push_back(static_cast<int>(i));
    }
    return places;
  }
  [[nodiscard]] MPI_Datatype type_of(int rank) const {
    const std::vector<int> places = places_of(rank);
    MPI_Datatype list = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_INT,
                                  &list);
    MPI_Type_create_resized(list, 0, 4 * static_cast<MPI_Aint>(owner_.size()), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&list);
    return type;
  }
  /// The integer of the file that is number `element` of a rank's view.
  [[nodiscard]] std::size_t index(const std::vector<int>& places, int element) const {
    const auto own = static_cast<int>(places.size());
    return static_cast<std::size_t>(displacement_ +
                                    element / own * static_cast<int>(owner_.size()) +
                                    places[static_cast<std::size_t>(element % own)]);
  }
  [[nodiscard]] int displacement() const { return displacement_; }

 private:
  std::vector<int> owner_;
  int displacement_;
};

bool are_on_several_nodes() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const bool several = test::size_of(node) < test::size_of(MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  return several;
}

class Program {
 public:
  Program(test::Shared& random, const test::Folder& folder)
      : random_(random),
        rank_(test::rank_of(MPI_COMM_WORLD)),
        ranks_(test::size_of(MPI_COMM_WORLD)),
        on_several_nodes_(are_on_several_nodes()),
        name_(folder.file("random")) {
    const char* const uses[] = {"enable", "disable", "automatic"};
    const char* const sizes[] = {"4096", "20000", "1000000"};
    const char* const nodes[] = {"1", "2", "3"};
    test::Hints hints;
    hints.set("romio_cb_write", uses[random.below(3)]).set("romio_cb_read", uses[random.below(3)]);
    hints.set("romio_ds_read", uses[random.below(3)]).set("romio_ds_write", uses[random.below(2)]);
    hints.set("cb_buffer_size", sizes[random.below(3)]).set("cb_nodes", nodes[random.below(3)]);
    hints.set("ind_wr_buffer_size", sizes[random.below(3)]);
    file_ = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
    MPI_Type_create_resized(MPI_INT, 0, 12, &gaps_);
    MPI_Type_commit(&gaps_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    MPI_Type_free(&gaps_);
    succeeds(MPI_File_close(&file_), "close");
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      set_view();
      write(round);
      publish();
      compare();
      read();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }

 private:
  /// Ranks on several nodes (tests/rdma/soak_nfs.py) need more than a barrier to see each other's data: MPI 5.0
  /// section 14.6.1.
  void publish() {
    if (on_several_nodes_) succeeds(MPI_File_sync(file_), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    if (on_several_nodes_) succeeds(MPI_File_sync(file_), "sync");
  }

  void set_view() {
    pattern_.emplace_back(random_, ranks_);
    MPI_Datatype type = pattern().type_of(rank_);
    succeeds(MPI_File_set_view(file_, 4 * pattern().displacement(), MPI_INT, type, "native",
                               MPI_INFO_NULL),
             "set_view");
    MPI_Type_free(&type);
  }

  void write(int round) {
    const int form = random_.below(6);
    const bool in_pieces = random_.coin();
    const int step = in_pieces ? 3 : 1;
    MPI_Datatype type = in_pieces ? gaps_ : MPI_INT;
    for (int rank = 0; rank < ranks_; ++rank) {
      const int count = random_.below(random_.coin() ? 5 : 5000);
      const int offset = random_.below(200);
      const std::vector<int> places = pattern().places_of(rank);
      std::vector<int> values(static_cast<std::size_t>(3 * count) + 1, -1);
      for (int i = 0; i < count; ++i) {
        const int value = static_cast<int>(mark(round, rank, i) | 1U);
        values[static_cast<std::size_t>(i * step)] = value;
        const std::size_t at = pattern().index(places, offset + i);
        if (model_.size() <= at) model_.resize(at + 1, hole);
        model_[at] = value;
      }
      if (rank == rank_) put(form, offset, values.data(), count, type);
    }
  }

  void put(int form, int offset, const int* values, int count, MPI_Datatype type) {
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == 1 || form == 4) succeeds(MPI_File_seek(file_, offset, MPI_SEEK_SET), "seek");
    switch (form) {
      case 0:
        succeeds(MPI_File_write_at(file_, offset, values, count, type, &status), "write_at");
        break;
      case 1:
        succeeds(MPI_File_write_all(file_, values, count, type, &status), "write_all");
        break;
      case 2:
        succeeds(MPI_File_iwrite_at(file_, offset, values, count, type, &request), "iwrite_at");
        succeeds(MPI_Wait(&request, &status), "wait");
        break;
      case 3:
        succeeds(MPI_File_iwrite_at_all(file_, offset, values, count, type, &request), "i_all");
        succeeds(MPI_Wait(&request, &status), "wait");
        break;
      case 4:
        succeeds(MPI_File_write_all_begin(file_, values, count, type), "begin");
        succeeds(MPI_File_write_all_end(file_, values, &status), "end");
        break;
      default:
        succeeds(MPI_File_write_at_all(file_, offset, values, count, type, &status), "at_all");
        break;
    }
    expect_equal(test::count_of(status, type), count, "all were written");
  }

  void compare() {
    const std::vector<char> content = test::content_of(name_);
    expect_equal(content.size(), 4 * model_.size(), "the size of the file");
    const std::size_t common = std::min(content.size() / 4, model_.size());
    for (std::size_t i = 0; i < common; ++i) {
      int value = 0;
      std::memcpy(&value, content.data() + 4 * i, 4);
      if (value != model_[i]) return expect_equal(value, model_[i], "a value in the file");
    }
  }

  /// How much of an access is before the end of the file.
  [[nodiscard]] int readable(const std::vector<int>& places, int offset, int count) const {
    int there = 0;
    while (there < count && pattern().index(places, offset + there) < model_.size()) ++there;
    return there;
  }

  void read() {
    const int form = random_.below(4);
    const bool in_pieces = random_.coin();
    const int step = in_pieces ? 3 : 1;
    MPI_Datatype type = in_pieces ? gaps_ : MPI_INT;
    // Each rank as it likes: what one reads matters to no other.
    const int count = static_cast<int>(mark(rank_, random_.below(1000)) % 6000);
    const int offset = static_cast<int>(mark(rank_, random_.below(1000)) % 300);
    const std::vector<int> places = pattern().places_of(rank_);
    const int there = readable(places, offset, count);
    std::vector<int> values(static_cast<std::size_t>(3 * count) + 1, -1);
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (form) {
      case 0:
        succeeds(MPI_File_read_at(file_, offset, values.data(), count, type, &status), "read_at");
        break;
      case 1:
        succeeds(MPI_File_read_at_all(file_, offset, values.data(), count, type, &status), "all");
        break;
      case 2:
        succeeds(MPI_File_iread_at(file_, offset, values.data(), count, type, &request), "iread");
        succeeds(MPI_Wait(&request, &status), "wait");
        break;
      default:
        succeeds(MPI_File_read_at_all_begin(file_, offset, values.data(), count, type), "begin");
        succeeds(MPI_File_read_at_all_end(file_, values.data(), &status), "end");
        break;
    }
    expect_equal(test::count_of(status, type), there, "as much as there is");
    for (int i = 0; i < count; ++i) {
      const int expected = i < there ? model_[pattern().index(places, offset + i)] : -1;
      const int value = values[static_cast<std::size_t>(i * step)];
      if (value != expected) return expect_equal(value, expected, "a value that was read");
    }
    for (int i = 0; in_pieces && i < count; ++i) {
      if (values[static_cast<std::size_t>(3 * i + 1)] != -1) {
        return expect(false, "gaps in memory are untouched");
      }
    }
  }

  [[nodiscard]] const Pattern& pattern() const { return pattern_.back(); }

  test::Shared& random_;
  int rank_;
  int ranks_;
  bool on_several_nodes_;
  std::string name_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype gaps_ = MPI_DATATYPE_NULL;
  std::vector<Pattern> pattern_;
  std::vector<int> model_;
};

/// For those who wait where a program takes long.
void tell(int programs, double seconds) {
  if (test::rank_of(MPI_COMM_WORLD) != 0) return;
  std::printf("progress: %d programs, %.0f s\n", programs, seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    test::Shared random(argc, argv);
    const test::Folder folder;
    const int programs = argc > 2 ? std::atoi(argv[2]) : 8;
    const double begin = MPI_Wtime();
    for (int program = 0; program < programs; ++program) {
      Program(random, folder).run(6);
      if (argc > 2) tell(program + 1, MPI_Wtime() - begin);
    }
  }
  return test::finish();
}
