// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Calls of the system on a file as a whole that fail at one rank: every rank of a collective call learns
// of it, by the right class and a text that names call, file, reason and remedy; and the file goes on.
// ranks: 1 2 3
// networks: tcp

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "failing_calls.h"
#include "support/files.h"

namespace {

using failing::Call;
using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

constexpr int kept = MPI_MODE_CREATE | MPI_MODE_RDWR;

/// One call of the system that fails at one rank, and what all ranks must learn of it.
struct Failure {
  Call call;
  int error;
  int error_class;
  const char* function;  ///< of MPI
  const char* remedy;
};

class Program {
 public:
  explicit Program(const test::Folder& folder) : name_(folder.file("failures")) {
    const std::string parent = folder.file("");
    parent.copy(failing::state().folder.data(), failing::state().folder.size() - 1);
  }

  /// `act` is the collective call; its result is that of the rank that fails, everywhere.
  template <class Act>
  void all_learn(const Failure& failure, int at_rank, const Act& act) const {
    failing::set(rank_ == at_rank ? failure.call : Call::none, failure.error);
    const int code = act();
    const int failed = failing::state().failed;
    failing::set(Call::none, 0);
    if (rank_ == at_rank) expect(failed > 0, "the call of the system was made");
    expect_class(code, failure.error_class, failure.function);
    check_text(code, failure, at_rank);
  }

  void check_text(int code, const Failure& failure, int at_rank) const {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    for (const char* part :
         {failure.function, name_.c_str(), static_cast<const char*>(std::strerror(failure.error)),
          failure.remedy}) {
      if (std::strstr(text.data(), part) != nullptr) continue;
      expect(false, part);
      std::fprintf(stderr, "  is not in: %s\n", text.data());
    }
    if (rank_ == at_rank) return;
    const std::string other = "rank " + std::to_string(at_rank) + " of the file";
    expect(std::strstr(text.data(), other.c_str()) != nullptr, "whose error it is");
  }

  void opening(int at_rank) const {
    const auto open = [&] {
      MPI_File file = MPI_FILE_NULL;
      const int code = MPI_File_open(MPI_COMM_WORLD, name_.c_str(), kept, MPI_INFO_NULL, &file);
      expect(file == MPI_FILE_NULL, "no rank has the file open");
      return code;
    };
    all_learn({Call::open, EMFILE, MPI_ERR_IO, "MPI_File_open", "ulimit -n"}, at_rank, open);
    all_learn({Call::open, ETXTBSY, MPI_ERR_FILE_IN_USE, "MPI_File_open", "end that one"}, at_rank,
              open);
    all_learn({Call::open, EROFS, MPI_ERR_READ_ONLY, "MPI_File_open", "write elsewhere"}, at_rank,
              open);
  }

  /// File servers say so only then.
  void closing(int at_rank) const {
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, kept);
    all_learn({Call::close, EDQUOT, MPI_ERR_QUOTA, "MPI_File_close", "have the quota raised"},
              at_rank, [&] { return MPI_File_close(&file); });
    expect(file == MPI_FILE_NULL, "it is closed all the same");
  }

  void storing(MPI_File file, int at_rank) const {
    all_learn({Call::sync, EIO, MPI_ERR_IO, "MPI_File_sync", "system's log"}, at_rank,
              [&] { return MPI_File_sync(file); });
    all_learn({Call::sync, ENOSPC, MPI_ERR_NO_SPACE, "MPI_File_sync", "free space"}, at_rank,
              [&] { return MPI_File_sync(file); });
    succeeds(MPI_File_sync(file), "sync");
  }

  void sizes(MPI_File file) const {
    all_learn({Call::set_size, EFBIG, MPI_ERR_IO, "MPI_File_set_size", "ulimit -f"}, 0,
              [&] { return MPI_File_set_size(file, 1 << 20); });
    all_learn({Call::reserve, ENOSPC, MPI_ERR_NO_SPACE, "MPI_File_preallocate", "free space"}, 0,
              [&] { return MPI_File_preallocate(file, 1 << 20); });
    succeeds(MPI_File_set_size(file, 100), "set_size");
    // Where space cannot be reserved zeros are written.
    failing::set(Call::reserve, EOPNOTSUPP);
    succeeds(MPI_File_preallocate(file, 3 << 20), "preallocate");
    failing::set(Call::none, 0);
    MPI_Offset size = 0;
    succeeds(MPI_File_get_size(file, &size), "get_size");
    expect_equal(size, MPI_Offset{3} << 20, "the size");
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_set_size(file, 0), "set_size");
  }

  void locks(MPI_File file, int at_rank) const {
    succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
    const int value = rank_;
    all_learn({Call::lock, ENOLCK, MPI_ERR_IO, "MPI_File_write_at_all", "use no atomic mode"},
              at_rank, [&] {
                return MPI_File_write_at_all(file, MPI_Offset{4} * rank_, &value, 1, MPI_INT,
                                             MPI_STATUS_IGNORE);
              });
    succeeds(
        MPI_File_write_at_all(file, MPI_Offset{4} * rank_, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
        "the file goes on");
    succeeds(MPI_File_set_atomicity(file, 0), "set_atomicity");
  }

  /// Runs that memory is not there for are moved by calls.
  void memory(MPI_File file) const {
    constexpr int count = 20000;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * size_, &type);
    MPI_Type_commit(&type);
    succeeds(MPI_File_set_view(file, MPI_Offset{4} * rank_, MPI_INT, type, "native", MPI_INFO_NULL),
             "set_view");
    MPI_Type_free(&type);
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), rank_ * count);
    for (const int error : {ENOMEM, EFAULT, EINVAL}) {
      failing::set(Call::make_usable, error);
      succeeds(MPI_File_write_at_all(file, 0, values.data(), count, MPI_INT, MPI_STATUS_IGNORE),
               "write");
      std::vector<int> back(count);
      succeeds(MPI_File_read_at_all(file, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE),
               "read");
      failing::set(Call::none, 0);
      expect(back == values, "the data");
      std::ranges::reverse(values);
    }
    succeeds(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
  }

  void deleting() const {
    MPI_File file =
        test::open_file(MPI_COMM_WORLD, name_, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    all_learn({Call::remove, EROFS, MPI_ERR_READ_ONLY, "MPI_File_close", "write elsewhere"}, 0,
              [&] { return MPI_File_close(&file); });
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      all_learn({Call::remove, EBUSY, MPI_ERR_FILE_IN_USE, "MPI_File_delete", "end that one"}, 0,
                [&] { return MPI_File_delete(name_.c_str(), MPI_INFO_NULL); });
      succeeds(MPI_File_delete(name_.c_str(), MPI_INFO_NULL), "delete");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// No system has failed, but the program.
  void wrong_memory(MPI_File file) const {
    const void* const nowhere = reinterpret_cast<const void*>(std::uintptr_t{4096});
    const int code = MPI_File_write_at(file, 0, nowhere, 100, MPI_INT, MPI_STATUS_IGNORE);
    expect_class(code, MPI_ERR_IO, "a buffer that is no memory");
    check_text(code, {Call::none, EFAULT, MPI_ERR_IO, "MPI_File_write_at", "check its address"},
               rank_);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void run() const {
    for (int rank = 0; rank < size_; ++rank) {
      opening(rank);
      closing(rank);
    }
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, kept);
    for (int rank = 0; rank < size_; ++rank) {
      storing(file, rank);
      locks(file, rank);
    }
    sizes(file);
    memory(file);
    wrong_memory(file);
    succeeds(MPI_File_close(&file), "close");
    deleting();
  }

 private:
  std::string name_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  int size_ = test::size_of(MPI_COMM_WORLD);
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    Program(folder).run();
  }
  return test::finish();
}
