// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Ranks that are unlike each other: each gives other hints, and reaches the file by another file system (rank 0 as the
// server of the others). Collective calls go the same way at all of them, with the right data.
// ranks: 1 2 3 4
// networks: tcp

#include <mpi.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <random>

#include "support/files.h"

namespace {

using test::expect;
using test::succeeds;

/// What the system says of file systems at this rank; 0: the truth.
constexpr unsigned magics[] = {0xef53, 0x6969, 0x01021994, 0x0bd00bd0, 0x9123683e};
unsigned magic_here = 0;

}  // namespace

extern "C" int statfs(const char* path, struct statfs* facts) {
  const auto result = static_cast<int>(::syscall(SYS_statfs, path, facts));
  if (result == 0 && magic_here != 0) facts->f_type = static_cast<__fsword_t>(magic_here);
  return result;
}

namespace {

constexpr int length = 6000;  ///< integers of a rank: several windows

/// In what the ranks differ: in anything, or in mapped memory alone.
enum class Differ { anyhow, mapped };

/// Each rank for itself.
class Own {
 public:
  Own(unsigned seed, Differ differ) : random_(seed), differ_(differ) {}
  template <class Value, std::size_t count>
  Value one_of(const Value (&values)[count]) {
    return values[random_() % count];
  }
  unsigned some_magic() {
    const bool is_true = differ_ == Differ::mapped || (rank_ == 0 && one_of({true, false}));
    return is_true ? 0 : one_of(magics);
  }
  test::Hints& some(test::Hints& hints) {
    if (differ_ == Differ::mapped) {
      return hints.set("fulmar_mapped", rank_ % 2 == 0 ? "automatic" : "disable");
    }
    constexpr const char* uses[] = {"enable", "disable", "automatic"};
    constexpr const char* sizes[] = {"4096", "10000", "1000000"};
    for (const char* key : {"romio_cb_write", "romio_cb_read", "romio_ds_read", "romio_ds_write",
                            "fulmar_mapped", "collective_buffering"}) {
      if (one_of({true, false})) hints.set(key, one_of(uses));
    }
    for (const char* key :
         {"cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size", "striping_unit"}) {
      if (one_of({true, false})) hints.set(key, one_of(sizes));
    }
    if (one_of({true, false})) hints.set("cb_nodes", one_of({"1", "2", "3"}));
    if (one_of({true, false})) hints.set("cb_config_list", one_of({"*:1", "*:*", "nowhere:1"}));
    if (one_of({true, false})) {
      hints.set("fulmar_shared_pointer", one_of({"memory", "messages"}));
    }
    return hints;
  }

 private:
  std::mt19937 random_;
  Differ differ_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
};

/// Blocks of `block` integers of the ranks in turns.
MPI_Datatype turns(int block) {
  const int ranks = test::size_of(MPI_COMM_WORLD);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(block, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, MPI_Aint{4} * block * ranks, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&vector);
  return type;
}

void write_and_read(MPI_File file, Own& own, int block, int round) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int ranks = test::size_of(MPI_COMM_WORLD);
  MPI_Datatype type = turns(block);
  test::Hints hints;
  succeeds(MPI_File_set_view(file, MPI_Offset{4} * block * rank, MPI_INT, type, "native",
                             own.some(hints).info()),
           "view");
  MPI_Type_free(&type);
  const int count = length / block * block;
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<int>(test::mark(round, rank, i));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_write_all(file, values.data(), count / 2, MPI_INT, MPI_STATUS_IGNORE), "write");
  succeeds(
      MPI_File_iwrite_all(file, values.data() + count / 2, count - count / 2, MPI_INT, &request),
      "iwrite");
  succeeds(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  test::Hints others;
  succeeds(MPI_File_set_info(file, own.some(others).info()), "set_info");
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<int> back(static_cast<std::size_t>(count));
  succeeds(MPI_File_read_at_all(file, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read");
  expect(back == values, "the own data");
  // Those of all, through the plain view.
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "view");
  std::vector<int> all(static_cast<std::size_t>(count * ranks));
  succeeds(MPI_File_read_at_all(file, 0, all.data(), count * ranks, MPI_INT, MPI_STATUS_IGNORE),
           "read all");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int at = static_cast<int>(i) / block;
    const int element = at / ranks * block + static_cast<int>(i) % block;
    if (all[i] != static_cast<int>(test::mark(round, at % ranks, element))) {
      return test::expect_equal(static_cast<int>(i), -1, "a wrong integer of the file");
    }
  }
}

void one_file(const std::string& name, unsigned seed, Differ differ) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  Own own(test::mark(static_cast<int>(seed), rank), differ);
  magic_here = own.some_magic();
  test::Hints hints;
  MPI_File file = test::open_file(MPI_COMM_WORLD, name, test::scratch, own.some(hints).info());
  int round = 0;
  for (const int block : {1, 40, 300, 2000}) write_and_read(file, own, block, round++);
  succeeds(MPI_File_set_size(file, 100), "set_size");
  MPI_Offset size = 0;
  succeeds(MPI_File_get_size(file, &size), "get_size");
  test::expect_equal(size, MPI_Offset{100}, "the size");
  succeeds(MPI_File_seek_shared(file, 25, MPI_SEEK_SET), "seek_shared");
  const int mine[] = {rank, rank};
  succeeds(MPI_File_write_ordered(file, mine, 2, MPI_INT, MPI_STATUS_IGNORE), "ordered");
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<int> found(2 * static_cast<std::size_t>(test::size_of(MPI_COMM_WORLD)), -1);
  const auto count = static_cast<int>(found.size());
  succeeds(MPI_File_read_at(file, 25, found.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read_at");
  for (int i = 0; i < count; ++i) {
    test::expect_equal(found[static_cast<std::size_t>(i)], i / 2, "in the order of the ranks");
  }
  succeeds(MPI_File_close(&file), "close");
  magic_here = 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    test::Shared random(argc, argv);
    const test::Folder folder;
    const std::string name = folder.file("unlike");
    one_file(name, 0, Differ::mapped);
    for (int i = 0; i < 6; ++i) {
      one_file(name, static_cast<unsigned>(random.below(1 << 30)), Differ::anyhow);
    }
  }
  return test::finish();
}
