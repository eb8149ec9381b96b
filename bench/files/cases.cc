// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The ways of using files that are measured. A rank moves one block of memory per operation, unless
// a case says otherwise; places go round in a part of the file that has been written before.
#include "cases.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "plain_file.h"
#include "views.h"

namespace fulmar::files {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr std::size_t region = 32 * mib;        ///< of a rank
constexpr std::size_t viewed_region = 8 * mib;  ///< the same of views with gaps

enum class Way { write, read };
enum class Together { independent, collective };

/// Blocks one after the other: in a file of the rank, or in its part of the file of all.
template <PlainFile::Sharing sharing, Way way, Together together>
class Contiguous final : public Case {
 public:
  Contiguous(const Place& place, std::size_t bytes)
      : file_(place, sharing, region),
        data_(filled(bytes)),
        start_(sharing == PlainFile::Sharing::one_for_each
                   ? 0
                   : static_cast<MPI_Offset>(region) * place.rank) {}
  void run(int count) override {
    for (int i = 0; i < count; ++i) {
      const MPI_Offset at = start_ + static_cast<MPI_Offset>(next_);
      const int bytes = static_cast<int>(data_.size());
      if constexpr (together == Together::collective) {
        check(way == Way::write ? MPI_File_write_at_all(file_.mpi(), at, data_.data(), bytes,
                                                        MPI_BYTE, MPI_STATUS_IGNORE)
                                : MPI_File_read_at_all(file_.mpi(), at, data_.data(), bytes,
                                                       MPI_BYTE, MPI_STATUS_IGNORE),
              "a contiguous collective access");
      } else if constexpr (way == Way::write) {
        file_.write_at(at, data_.data(), data_.size());
      } else {
        file_.read_at(at, data_.data(), data_.size());
      }
      next_ = (next_ + data_.size()) % region;
    }
    file_.finish_group();
  }

 private:
  PlainFile file_;
  Memory data_;
  MPI_Offset start_;
  std::size_t next_ = 0;
};

/// Records of the ranks in turns, each by a call of its own.
template <Way way>
class Small final : public Case {
 public:
  Small(const Place& place, std::size_t bytes)
      : file_(place, PlainFile::Sharing::one_for_all, span), data_(filled(bytes)), place_(place) {}
  void run(int count) override {
    const std::size_t records = span / data_.size();
    for (int i = 0; i < count; ++i) {
      const std::size_t record = next_++ % records * static_cast<std::size_t>(place_.ranks) +
                                 static_cast<std::size_t>(place_.rank);
      const auto at = static_cast<MPI_Offset>(record * data_.size());
      if constexpr (way == Way::write) {
        file_.write_at(at, data_.data(), data_.size());
      } else {
        file_.read_at(at, data_.data(), data_.size());
      }
    }
    file_.finish_group();
  }

 private:
  static constexpr std::size_t span = 4 * mib;
  PlainFile file_;
  Memory data_;
  Place place_;
  std::size_t next_ = 0;
};

/// Through a view with gaps: one operation moves a whole filetype.
template <FileView (*view_of)(const Place&, std::size_t), Way way, Together together>
class Viewed final : public Case {
 public:
  Viewed(const Place& place, std::size_t bytes)
      : view_(view_of(place, bytes)),
        steps_(std::max<std::size_t>(viewed_region / std::max<std::size_t>(view_.bytes, 1), 1)),
        file_(place, PlainFile::Sharing::one_for_all, steps_ * view_.bytes),
        data_(filled(view_.memory_bytes)) {
    check(MPI_File_set_view(file_.mpi(), view_.displacement, MPI_BYTE, view_.filetype, "native",
                            MPI_INFO_NULL),
          "MPI_File_set_view");
  }
  ~Viewed() override {
    MPI_Type_free(&view_.filetype);
    MPI_Type_free(&view_.memory);
  }
  void run(int count) override {
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<MPI_Offset>(next_++ % steps_ * view_.bytes);
      check(move(at), "an access through a view");
    }
    file_.finish_group();
  }

 private:
  int move(MPI_Offset at) {
    MPI_File file = file_.mpi();
    char* const data = data_.data();
    if constexpr (together == Together::collective) {
      return way == Way::write
                 ? MPI_File_write_at_all(file, at, data, 1, view_.memory, MPI_STATUS_IGNORE)
                 : MPI_File_read_at_all(file, at, data, 1, view_.memory, MPI_STATUS_IGNORE);
    }
    return way == Way::write ? MPI_File_write_at(file, at, data, 1, view_.memory, MPI_STATUS_IGNORE)
                             : MPI_File_read_at(file, at, data, 1, view_.memory, MPI_STATUS_IGNORE);
  }

  FileView view_;
  std::size_t steps_;
  PlainFile file_;
  Memory data_;
  std::size_t next_ = 0;
};

/// Appends by the shared pointer; each batch begins at the front of the file again.
template <Together together>
class Appended final : public Case {
 public:
  Appended(const Place& place, std::size_t bytes)
      : file_(place, PlainFile::Sharing::one_for_all, region), data_(filled(bytes)) {}
  void run(int count) override {
    check(MPI_File_seek_shared(file_.mpi(), 0, MPI_SEEK_SET), "MPI_File_seek_shared");
    const int bytes = static_cast<int>(data_.size());
    for (int i = 0; i < count; ++i) {
      check(together == Together::collective
                ? MPI_File_write_ordered(file_.mpi(), data_.data(), bytes, MPI_BYTE,
                                         MPI_STATUS_IGNORE)
                : MPI_File_write_shared(file_.mpi(), data_.data(), bytes, MPI_BYTE,
                                        MPI_STATUS_IGNORE),
            "a write with the shared pointer");
    }
    file_.finish_group();
  }

 private:
  PlainFile file_;
  Memory data_;
};

/// A new file for each operation: made, written by all ranks, closed and deleted; through a view of blocks
/// in turns, or contiguous.
class NewFile {
 public:
  explicit NewFile(const Place& place) : place_(place), path_(place.folder + "/filebench.new") {}
  template <class Write>
  void run(int count, const Write& write) {
    for (int i = 0; i < count; ++i) {
      MPI_File file = MPI_FILE_NULL;
      check(MPI_File_open(place_.comm, path_.c_str(),
                          MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                          &file),
            "MPI_File_open");
      write(file);
      check(MPI_File_close(&file), "MPI_File_close");
    }
  }

 private:
  Place place_;
  std::string path_;
};

class Fresh final : public Case {
 public:
  Fresh(const Place& place, std::size_t bytes)
      : file_(place), data_(filled(bytes)), start_(static_cast<MPI_Offset>(bytes) * place.rank) {}
  void run(int count) override {
    file_.run(count, [&](MPI_File file) {
      check(MPI_File_write_at(file, start_, data_.data(), static_cast<int>(data_.size()), MPI_BYTE,
                              MPI_STATUS_IGNORE),
            "MPI_File_write_at");
    });
  }

 private:
  NewFile file_;
  Memory data_;
  MPI_Offset start_;
};

class FreshStrided final : public Case {
 public:
  FreshStrided(const Place& place, std::size_t bytes)
      : view_(interleaved(place, bytes)), file_(place), data_(filled(view_.bytes)) {}
  ~FreshStrided() override {
    MPI_Type_free(&view_.filetype);
    MPI_Type_free(&view_.memory);
  }
  void run(int count) override {
    file_.run(count, [&](MPI_File file) {
      check(MPI_File_set_view(file, view_.displacement, MPI_BYTE, view_.filetype, "native",
                              MPI_INFO_NULL),
            "MPI_File_set_view");
      check(MPI_File_write_at(file, 0, data_.data(), 1, view_.memory, MPI_STATUS_IGNORE),
            "MPI_File_write_at");
    });
  }

 private:
  FileView view_;
  NewFile file_;
  Memory data_;
};

/// A window of non-blocking accesses that ends together.
template <Way way>
class Window final : public Case {
 public:
  Window(const Place& place, std::size_t bytes)
      : file_(place, PlainFile::Sharing::one_for_each, region), data_(filled(window * bytes)) {}
  void run(int count) override {
    std::array<MPI_Request, window> requests;
    const std::size_t bytes = data_.size() / window;
    for (int i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < window; ++k) {
        const auto at = static_cast<MPI_Offset>(k * bytes);
        char* const data = data_.data() + k * bytes;
        check(way == Way::write ? MPI_File_iwrite_at(file_.mpi(), at, data, static_cast<int>(bytes),
                                                     MPI_BYTE, &requests[k])
                                : MPI_File_iread_at(file_.mpi(), at, data, static_cast<int>(bytes),
                                                    MPI_BYTE, &requests[k]),
              "a non-blocking access");
      }
      MPI_Waitall(static_cast<int>(window), requests.data(), MPI_STATUSES_IGNORE);
    }
    file_.finish_group();
  }

 private:
  static constexpr std::size_t window = 8;
  PlainFile file_;
  Memory data_;
};

/// Reads of blocks here and there that have to be fetched from the device, many under way at a time.
class ColdWindow final : public Case {
 public:
  ColdWindow(const Place& place, std::size_t bytes)
      : file_(place, PlainFile::Sharing::one_for_each, span), data_(filled(window * bytes)) {
    file_.forget();
  }
  void run(int count) override {
    std::array<MPI_Request, window> requests;
    const std::size_t bytes = data_.size() / window;
    const std::size_t blocks = span / bytes;
    for (int i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < window; ++k) {
        next_ = (next_ * 5 + 12345) % blocks;  // all of them, as `blocks` is a power of 2
        check(MPI_File_iread_at(file_.mpi(), static_cast<MPI_Offset>(next_ * bytes),
                                data_.data() + k * bytes, static_cast<int>(bytes), MPI_BYTE,
                                &requests[k]),
              "a non-blocking access");
      }
      MPI_Waitall(static_cast<int>(window), requests.data(), MPI_STATUSES_IGNORE);
      file_.forget();
    }
  }

 private:
  static constexpr std::size_t window = 32;
  static constexpr std::size_t span = 256 * mib;
  PlainFile file_;
  Memory data_;
  std::size_t next_ = 0;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A non-blocking write beside computing that takes as long as the write alone; or one after the other.
template <bool beside>
class Overlap final : public Case {
 public:
  Overlap(const Place& place, std::size_t bytes)
      : file_(place, PlainFile::Sharing::one_for_each, region), data_(filled(bytes)) {
    constexpr int tries = 9;
    compute_ = 1e9;
    for (int i = 0; i < tries; ++i) {
      const double start = seconds();
      file_.write_at(0, data_.data(), data_.size());
      compute_ = std::min(compute_, seconds() - start);
    }
  }
  void run(int count) override {
    for (int i = 0; i < count; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_File_iwrite_at(file_.mpi(), 0, data_.data(), static_cast<int>(data_.size()),
                               MPI_BYTE, &request),
            "MPI_File_iwrite_at");
      if (!beside) MPI_Wait(&request, MPI_STATUS_IGNORE);
      const double end = seconds() + compute_;
      while (seconds() < end) {
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    file_.finish_group();
  }

 private:
  PlainFile file_;
  Memory data_;
  double compute_;
};

class OpenClose final : public Case {
 public:
  OpenClose(const Place& place, std::size_t /*bytes*/)
      : file_(place, PlainFile::Sharing::one_for_all, kib), place_(place) {}
  void run(int count) override {
    const std::string path = place_.folder + "/filebench";
    for (int i = 0; i < count; ++i) {
      MPI_File file = MPI_FILE_NULL;
      check(MPI_File_open(place_.comm, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file),
            "MPI_File_open");
      check(MPI_File_close(&file), "MPI_File_close");
    }
  }

 private:
  PlainFile file_;
  Place place_;
};

/// Views of blocks of this many bytes in turns.
class SetView final : public Case {
 public:
  SetView(const Place& place, std::size_t bytes)
      : view_(interleaved(place, bytes)), file_(place, PlainFile::Sharing::one_for_all, kib) {}
  ~SetView() override {
    MPI_Type_free(&view_.filetype);
    MPI_Type_free(&view_.memory);
  }
  void run(int count) override {
    for (int i = 0; i < count; ++i) {
      check(MPI_File_set_view(file_.mpi(), view_.displacement, MPI_BYTE, view_.filetype, "native",
                              MPI_INFO_NULL),
            "MPI_File_set_view");
    }
  }

 private:
  FileView view_;
  PlainFile file_;
};

template <class What>
std::unique_ptr<Case> make(const Place& place, std::size_t bytes) {
  return std::make_unique<What>(place, bytes);
}

constexpr auto own = PlainFile::Sharing::one_for_each;
constexpr auto shared = PlainFile::Sharing::one_for_all;
constexpr auto alone = Together::independent;
constexpr auto all = Together::collective;

bool one(int ranks) { return ranks == 1; }
bool many(int ranks) { return ranks > 1; }
bool four(int ranks) { return ranks == 4; }

}  // namespace

const std::vector<Kind>& kinds() {
  const std::vector<std::size_t> plain{4 * kib, 16 * kib, 64 * kib, 256 * kib,
                                       1 * mib, 4 * mib,  16 * mib};
  const std::vector<std::size_t> few{4 * kib, 64 * kib, 1 * mib, 16 * mib};
  const std::vector<std::size_t> blocks{1 * kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, 1 * mib};
  const std::vector<std::size_t> arrays{256 * kib, 2 * mib, 16 * mib};
  const std::vector<std::size_t> small{8, 64, 512, 4 * kib};
  const std::vector<std::size_t> appends{8, 512, 8 * kib, 64 * kib};
  const std::vector<std::size_t> windows{4 * kib, 64 * kib, 1 * mib};
  const std::vector<std::size_t> grids{24, 64};
  constexpr auto write = Way::write;
  constexpr auto read = Way::read;
  static const std::vector<Kind> list{
      {"own-write", plain, true, many, make<Contiguous<own, write, alone>>},
      {"own-read", plain, true, many, make<Contiguous<own, read, alone>>},
      {"shared-write", plain, true, many, make<Contiguous<shared, write, alone>>},
      {"shared-read", plain, true, many, make<Contiguous<shared, read, alone>>},
      {"shared-write-all", few, false, many, make<Contiguous<shared, write, all>>},
      {"shared-read-all", few, false, many, make<Contiguous<shared, read, all>>},
      {"fresh-write", few, false, many, make<Fresh>},
      {"fresh-strided", {1 * kib, 16 * kib}, false, many, make<FreshStrided>},
      {"strided-write", blocks, false, many, make<Viewed<interleaved, write, alone>>},
      {"strided-read", blocks, false, many, make<Viewed<interleaved, read, alone>>},
      {"strided-write-all", blocks, false, many, make<Viewed<interleaved, write, all>>},
      {"strided-read-all", blocks, false, many, make<Viewed<interleaved, read, all>>},
      {"cyclic-write-all", arrays, false, many, make<Viewed<block_cyclic, write, all>>},
      {"cyclic-read-all", arrays, false, many, make<Viewed<block_cyclic, read, all>>},
      {"cubes-write-all", arrays, false, many, make<Viewed<cubes, write, all>>},
      {"cubes-read-all", arrays, false, many, make<Viewed<cubes, read, all>>},
      {"bt-write-all", grids, false, four, make<Viewed<diagonal_cells, write, all>>},
      {"bt-read-all", grids, false, four, make<Viewed<diagonal_cells, read, all>>},
      {"small-write", small, true, many, make<Small<write>>},
      {"small-read", small, true, many, make<Small<read>>},
      {"append-shared", appends, false, many, make<Appended<alone>>},
      {"append-ordered", appends, false, many, make<Appended<all>>},
      {"window-iwrite", windows, false, many, make<Window<write>>},
      {"window-iread", windows, false, many, make<Window<read>>},
      {"open-close", {0}, false, many, make<OpenClose>},
      {"set-view", {64, 64 * kib}, false, many, make<SetView>},
      {"cold-window-iread", windows, false, one, make<ColdWindow>},
      {"iwrite-then-compute", {mib, 4 * mib, 16 * mib}, false, one, make<Overlap<false>>},
      {"iwrite-beside-compute", {mib, 4 * mib, 16 * mib}, false, one, make<Overlap<true>>},
  };
  return list;
}

}  // namespace fulmar::files
