// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: model [SEED [PROGRAMS]]
// Random programs on several files at a time against a model of every byte: views of any etype, all file
// pointers, all forms of calls, memory with and without gaps, atomic mode with overlaps, sizes, and a
// file system that interrupts, does half, and fails at any call. tests/soak.d/files runs more.
// ranks: 1 2 3 4
// networks: tcp
// args: 1 12
// timeout: 120

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "faulty_calls.h"
#include "model_view.h"
#include "support/files.h"

namespace {

using faulty::Fault;
using model::Views;
using test::expect;
using test::expect_equal;
using test::mark;
using test::succeeds;
using Bytes = std::vector<unsigned char>;

enum class Way { independent, collective };
enum class Form { blocking, nonblocking, split };
enum class Pointer { offset, individual, shared };

/// The functions with explicit offsets that read to or write from a `Data`, which is void or const void.
/// Arrays have first the independent function, then the collective one.
template <class Data>
struct OffsetFunctions {
  int (*blocking[2])(MPI_File, MPI_Offset, Data*, int, MPI_Datatype, MPI_Status*);
  int (*nonblocking[2])(MPI_File, MPI_Offset, Data*, int, MPI_Datatype, MPI_Request*);
  int (*begin)(MPI_File, MPI_Offset, Data*, int, MPI_Datatype);
  int (*end)(MPI_File, Data*, MPI_Status*);
};
/// The same for file pointers.
template <class Data>
struct PointerFunctions {
  int (*blocking[2])(MPI_File, Data*, int, MPI_Datatype, MPI_Status*);
  int (*nonblocking[2])(MPI_File, Data*, int, MPI_Datatype, MPI_Request*);
  int (*begin)(MPI_File, Data*, int, MPI_Datatype);
  int (*end)(MPI_File, Data*, MPI_Status*);
};
template <class Data>
struct Functions {
  OffsetFunctions<Data> at;
  PointerFunctions<Data> individual;
  PointerFunctions<Data> shared;
};
constexpr Functions<const void> write_functions = {{{MPI_File_write_at, MPI_File_write_at_all},
                                                    {MPI_File_iwrite_at, MPI_File_iwrite_at_all},
                                                    MPI_File_write_at_all_begin,
                                                    MPI_File_write_at_all_end},
                                                   {{MPI_File_write, MPI_File_write_all},
                                                    {MPI_File_iwrite, MPI_File_iwrite_all},
                                                    MPI_File_write_all_begin,
                                                    MPI_File_write_all_end},
                                                   {{MPI_File_write_shared, MPI_File_write_ordered},
                                                    {MPI_File_iwrite_shared, nullptr},
                                                    MPI_File_write_ordered_begin,
                                                    MPI_File_write_ordered_end}};
constexpr Functions<void> read_functions = {{{MPI_File_read_at, MPI_File_read_at_all},
                                             {MPI_File_iread_at, MPI_File_iread_at_all},
                                             MPI_File_read_at_all_begin,
                                             MPI_File_read_at_all_end},
                                            {{MPI_File_read, MPI_File_read_all},
                                             {MPI_File_iread, MPI_File_iread_all},
                                             MPI_File_read_all_begin,
                                             MPI_File_read_all_end},
                                            {{MPI_File_read_shared, MPI_File_read_ordered},
                                             {MPI_File_iread_shared, nullptr},
                                             MPI_File_read_ordered_begin,
                                             MPI_File_read_ordered_end}};

/// What one rank reads or writes in a step.
struct Share {
  int count = 0;   ///< etypes
  int offset = 0;  ///< in etypes
};

class Random {
 public:
  explicit Random(test::Shared& shared) : shared(shared) {}
  Share share() {
    return {shared.below(shared.coin() ? 6 : 2500), shared.below(shared.coin() ? 5 : 300)};
  }
  test::Shared& shared;
};

/// A file, and what must be in it.
class File {
 public:
  File(Random& random, const std::string& name, int number)
      : random_(random),
        rank_(test::rank_of(MPI_COMM_WORLD)),
        ranks_(test::size_of(MPI_COMM_WORLD)),
        number_(number),
        name_(name),
        views_(ranks_) {
    test::Shared& dice = random.shared;
    const char* const uses[] = {"enable", "disable", "automatic"};
    const char* const sizes[] = {"4096", "20000", "1000000"};
    const char* const lists[] = {"*:1", "*:2", "*:*"};
    const char* const nodes[] = {"1", "2", "3"};
    const char* const places[] = {"memory", "messages"};
    test::Hints hints;
    hints.set("romio_cb_write", uses[dice.below(3)]).set("romio_cb_read", uses[dice.below(3)]);
    hints.set("romio_ds_read", uses[dice.below(3)]).set("romio_ds_write", uses[dice.below(2)]);
    hints.set("cb_buffer_size", sizes[dice.below(3)]).set("cb_nodes", nodes[dice.below(3)]);
    hints.set("ind_wr_buffer_size", sizes[dice.below(3)]);
    hints.set("ind_rd_buffer_size", sizes[dice.below(3)]);
    hints.set("fulmar_shared_pointer", places[dice.below(2)]);
    if (dice.coin()) hints.set("cb_config_list", lists[dice.below(3)]);
    file_ = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { succeeds(MPI_File_close(&file_), "close"); }

  void set_view() {
    views_ = Views(random_.shared, ranks_);
    MPI_Datatype etype = MPI_DATATYPE_NULL;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    views_.make_types(rank_, etype, filetype);
    succeeds(
        MPI_File_set_view(file_, views_.displacement(), etype, filetype, "native", MPI_INFO_NULL),
        "set_view");
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
    shared_at_ = 0;
    individual_at_.assign(static_cast<std::size_t>(ranks_), 0);
  }

  void change_size() {
    const auto size = static_cast<std::size_t>(random_.shared.below(30000));
    if (random_.shared.coin()) {
      succeeds(MPI_File_set_size(file_, static_cast<MPI_Offset>(size)), "set_size");
      model_.resize(size, 0);
    } else {
      succeeds(MPI_File_preallocate(file_, static_cast<MPI_Offset>(size)), "preallocate");
      if (model_.size() < size) model_.resize(size, 0);
    }
    MPI_Offset found = -1;
    succeeds(MPI_File_get_size(file_, &found), "get_size");
    expect_equal(found, model_.size(), "the size");
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// Starts a step; `finish` ends it. Steps of several files may be under way at the same time.
  void start(bool writes) {
    test::Shared& dice = random_.shared;
    writes_ = writes;
    way_ = dice.coin() ? Way::collective : Way::independent;
    form_ = static_cast<Form>(dice.below(way_ == Way::collective ? 3 : 2));
    pointer_ = static_cast<Pointer>(dice.below(views_.same() ? 3 : 2));
    // Views that all ranks share have no owner of a byte: one rank writes, or ranks in their order.
    only_ = writes && views_.same() && !(pointer_ == Pointer::shared && way_ == Way::collective)
                ? dice.below(ranks_)
                : -1;
    if (pointer_ == Pointer::shared && way_ == Way::independent) only_ = dice.below(ranks_);
    if (pointer_ == Pointer::shared && way_ == Way::collective && form_ == Form::nonblocking) {
      form_ = Form::blocking;  // there is none
    }
    in_pieces_ = dice.coin();
    ++step_;
    lay_out();
    fill_memory();
    call();
  }

  void finish(Fault fault) {
    if (form_ == Form::nonblocking && takes_part() && code_ == MPI_SUCCESS)
      code_ = MPI_Wait(&request_, &status_);
    if (form_ == Form::split) end_split();
    faulty::set(Fault::none);
    MPI_Type_free(&memory_type_);
    const bool may_fail = fault == Fault::no_space || fault == Fault::damaged;
    if (!may_fail) succeeds(code_, "an access");
    if (writes_) {
      MPI_Barrier(MPI_COMM_WORLD);
      check_write(may_fail);
    } else {
      check_read(may_fail);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// In atomic mode all ranks write the same bytes in one call: those of one of them are there.
  void write_over_each_other() {
    succeeds(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
    views_ = Views(ranks_);
    succeeds(MPI_File_set_atomicity(file_, 1), "set_atomicity");
    const Share share = random_.share();
    const auto count = static_cast<std::size_t>(share.count);
    const Bytes data(count, static_cast<unsigned char>(rank_ + 1));
    const bool collective = random_.shared.coin();
    const auto write = collective ? MPI_File_write_at_all : MPI_File_write_at;
    succeeds(write(file_, share.offset, data.data(), share.count, MPI_BYTE, MPI_STATUS_IGNORE),
             "atomic write");
    MPI_Barrier(MPI_COMM_WORLD);
    Bytes found(count);
    succeeds(MPI_File_read_at(file_, share.offset, found.data(), share.count, MPI_BYTE,
                              MPI_STATUS_IGNORE),
             "atomic read");
    succeeds(MPI_File_set_atomicity(file_, 0), "set_atomicity");
    const auto offset = static_cast<std::size_t>(share.offset);
    if (count > 0 && model_.size() < offset + count) model_.resize(offset + count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i] != found[0]) return expect(false, "bytes of one rank");
      model_[offset + i] = found[i];
    }
    if (count > 0) expect(found[0] >= 1 && found[0] <= ranks_, "a rank");
    shared_at_ = 0;
    individual_at_.assign(static_cast<std::size_t>(ranks_), 0);
    compare();
  }

  void compare() {
    const std::vector<char> content = test::content_of(name_);
    expect_equal(content.size(), model_.size(), "the size of the file");
    for (std::size_t i = 0; i < std::min(content.size(), model_.size()); ++i) {
      if (static_cast<unsigned char>(content[i]) != model_[i]) {
        std::fprintf(stderr, "  byte %zu of file %d, step %d\n", i, number_, step_);
        return expect_equal(static_cast<unsigned char>(content[i]), model_[i],
                            "a byte of the file");
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  [[nodiscard]] bool takes_part() const {
    return way_ == Way::collective || only_ < 0 || only_ == rank_;
  }
  [[nodiscard]] std::size_t etype() const { return static_cast<std::size_t>(views_.etype_bytes()); }

  /// Where in its stream each rank begins, in etypes, and how many it has.
  void lay_out() {
    shares_.clear();
    for (int rank = 0; rank < ranks_; ++rank) {
      Share share = random_.share();
      if (only_ >= 0 && rank != only_) share.count = 0;
      int& individual = individual_at_[static_cast<std::size_t>(rank)];
      if (pointer_ == Pointer::individual) {
        if (random_.shared.coin()) {
          individual = share.offset;
          if (rank == rank_) succeeds(MPI_File_seek(file_, share.offset, MPI_SEEK_SET), "seek");
        }
        share.offset = individual;
        individual += share.count;
      } else if (pointer_ == Pointer::shared) {
        share.offset = shared_at_;
        shared_at_ += share.count;
      }
      shares_.push_back(share);
    }
  }

  [[nodiscard]] unsigned char value(int rank, std::size_t at) const {
    return static_cast<unsigned char>(mark(step_ * 16 + number_, rank, static_cast<int>(at)) >> 3);
  }

  void fill_memory() {
    const Share& own = shares_[static_cast<std::size_t>(rank_)];
    const std::size_t step = in_pieces_ ? 3 * etype() : etype();
    memory_.assign(static_cast<std::size_t>(own.count) * step + 1, 0xa5);
    MPI_Datatype solid = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(views_.etype_bytes(), MPI_BYTE, &solid);
    MPI_Type_create_resized(solid, 0, static_cast<MPI_Aint>(step), &memory_type_);
    MPI_Type_commit(&memory_type_);
    MPI_Type_free(&solid);
    for (std::size_t i = 0; writes_ && i < static_cast<std::size_t>(own.count) * etype(); ++i) {
      memory_[i / etype() * step + i % etype()] = value(rank_, i);
    }
  }

  void call() {
    const Share& own = shares_[static_cast<std::size_t>(rank_)];
    void* const data = memory_.data();
    code_ = MPI_SUCCESS;
    if (!takes_part()) return;
    if (writes_) {
      call_one_of<const void>(write_functions, own, data);
    } else {
      call_one_of<void>(read_functions, own, data);
    }
  }

  template <class Data>
  void call_one_of(const Functions<Data>& functions, const Share& own, Data* data) {
    const int collective = way_ == Way::collective ? 1 : 0;
    const int count = own.count;
    MPI_Datatype type = memory_type_;
    if (pointer_ == Pointer::offset) {
      const auto& at = functions.at;
      code_ = form_ == Form::split ? at.begin(file_, own.offset, data, count, type)
              : form_ == Form::nonblocking
                  ? at.nonblocking[collective](file_, own.offset, data, count, type, &request_)
                  : at.blocking[collective](file_, own.offset, data, count, type, &status_);
      return;
    }
    const auto& with = pointer_ == Pointer::individual ? functions.individual : functions.shared;
    code_ = form_ == Form::split ? with.begin(file_, data, count, type)
            : form_ == Form::nonblocking
                ? with.nonblocking[collective](file_, data, count, type, &request_)
                : with.blocking[collective](file_, data, count, type, &status_);
  }

  template <class Data>
  auto end_of(const Functions<Data>& functions) const {
    return pointer_ == Pointer::offset       ? functions.at.end
           : pointer_ == Pointer::individual ? functions.individual.end
                                             : functions.shared.end;
  }
  void end_split() {
    if (code_ != MPI_SUCCESS) return;
    code_ = writes_ ? end_of(write_functions)(file_, memory_.data(), &status_)
                    : end_of(read_functions)(file_, memory_.data(), &status_);
  }

  /// Whether every rank, and whether any, has an error.
  void agree(bool& all, bool& any) const {
    int failed[2] = {code_ != MPI_SUCCESS ? 1 : 0, code_ != MPI_SUCCESS ? 1 : 0};
    MPI_Allreduce(MPI_IN_PLACE, &failed[0], 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &failed[1], 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    all = failed[0] != 0;
    any = failed[1] != 0;
  }

  /// What was reported as written is there. Of a write that failed each byte is the old or the new one.
  void check_write(bool may_fail) {
    bool all = false;
    bool any = false;
    agree(all, any);
    if (way_ == Way::collective) expect(all == any, "an error at all ranks or at none");
    if (code_ == MPI_SUCCESS && takes_part()) {
      expect_equal(count_in_bytes(), shares_[own()].count * views_.etype_bytes(), "written");
    }
    std::vector<int> failed(static_cast<std::size_t>(ranks_), code_ != MPI_SUCCESS ? 1 : 0);
    const int mine = code_ != MPI_SUCCESS ? 1 : 0;
    MPI_Allgather(&mine, 1, MPI_INT, failed.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const std::vector<char> content =
        may_fail && any ? test::content_of(name_) : std::vector<char>();
    if (may_fail && any && content.size() > model_.size()) model_.resize(content.size(), 0);
    for (int rank = 0; rank < ranks_; ++rank) {
      const Share& share = shares_[static_cast<std::size_t>(rank)];
      const bool bad = failed[static_cast<std::size_t>(rank)] != 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(share.count) * etype(); ++i) {
        const std::size_t at =
            views_.offset(rank, static_cast<std::size_t>(share.offset) * etype() + i);
        if (bad &&
            (at >= content.size() || static_cast<unsigned char>(content[at]) != value(rank, i))) {
          continue;  // the old one
        }
        if (model_.size() <= at) model_.resize(at + 1, 0);
        model_[at] = value(rank, i);
      }
    }
    compare();
  }

  void check_read(bool may_fail) {
    if (!takes_part()) return;
    if (code_ != MPI_SUCCESS) {
      if (!may_fail) return;
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code_, &error_class);
      expect(error_class == MPI_ERR_IO || error_class == MPI_ERR_NO_SPACE, "the class");
      return;
    }
    const Share& share = shares_[own()];
    const std::size_t step = in_pieces_ ? 3 * etype() : etype();
    std::size_t there = 0;
    const std::size_t wanted = static_cast<std::size_t>(share.count) * etype();
    const auto at = [&](std::size_t i) {
      return views_.offset(rank_, static_cast<std::size_t>(share.offset) * etype() + i);
    };
    while (there < wanted && at(there) < model_.size()) ++there;
    expect_equal(count_in_bytes(), there, "as much as there is");
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const std::size_t within = i % step;
      const std::size_t byte = i / step * etype() + within;
      const bool is_data = within < etype() && byte < there;
      const unsigned char expected = is_data ? model_[at(byte)] : 0xa5;
      if (memory_[i] != expected) {
        std::fprintf(stderr, "  byte %zu of %zu read from file %d, step %d\n", byte, there, number_,
                     step_);
        return expect_equal(memory_[i], expected, "a byte that was read");
      }
    }
  }

  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] int count_in_bytes() const { return test::count_of(status_, MPI_BYTE); }

  Random& random_;
  int rank_;
  int ranks_;
  int number_;
  std::string name_;
  Views views_;
  MPI_File file_ = MPI_FILE_NULL;
  Bytes model_;
  int shared_at_ = 0;
  std::vector<int> individual_at_ = std::vector<int>(static_cast<std::size_t>(ranks_), 0);
  int step_ = 0;

  // Of the step that is under way.
  bool writes_ = false;
  Way way_ = Way::independent;
  Form form_ = Form::blocking;
  Pointer pointer_ = Pointer::offset;
  int only_ = -1;  ///< the one rank that has data; -1: all may
  bool in_pieces_ = false;
  std::vector<Share> shares_;
  Bytes memory_;
  MPI_Datatype memory_type_ = MPI_DATATYPE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Status status_{};
  int code_ = MPI_SUCCESS;
};

void run_program(Random& random, const test::Folder& folder) {
  test::Shared& dice = random.shared;
  const int files = 1 + dice.below(3);
  std::vector<std::unique_ptr<File>> open;
  for (int number = 0; number < files; ++number) {
    const std::string name = "model" + std::to_string(number);
    open.push_back(std::make_unique<File>(random, folder.file(name.c_str()), number));
  }
  const int ranks = test::size_of(MPI_COMM_WORLD);
  for (int step = 0; step < 10 && test::failures() == 0; ++step) {
    const int kind = dice.below(12);
    File& one = *open[static_cast<std::size_t>(dice.below(files))];
    if (kind == 0) {
      one.change_size();
    } else if (kind == 1) {
      one.write_over_each_other();
    } else if (kind < 4) {
      for (const auto& file : open) file->set_view();
    } else if (kind < 6) {
      // All files at the same time.
      const bool writes = dice.coin();
      for (const auto& file : open) file->start(writes);
      for (const auto& file : open) file->finish(Fault::none);
    } else {
      constexpr Fault faults[] = {Fault::none,   Fault::none,     Fault::interrupted,
                                  Fault::halved, Fault::no_space, Fault::damaged};
      const Fault fault = faults[dice.below(6)];
      const int failing = dice.below(ranks + 1);  // or all of them
      const int before = dice.below(dice.coin() ? 3 : 40);
      if (failing == ranks || failing == test::rank_of(MPI_COMM_WORLD)) faulty::set(fault, before);
      one.start(dice.below(3) != 0);
      one.finish(fault);
    }
  }
  for (const auto& file : open) file->compare();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const unsigned long first = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
    const unsigned long count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
    const test::Folder folder;
    for (unsigned long program = first; program < first + count && test::failures() == 0;
         ++program) {
      const std::string seed = std::to_string(program);
      std::string name = "model";
      std::string number = seed;
      char* arguments[] = {name.data(), number.data(), nullptr};
      test::Shared shared(2, arguments);
      Random random(shared);
      run_program(random, folder);
    }
  }
  return test::finish();
}
