// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../random/dice.h"
#include "../../random/memory.h"
#include "../../random/report.h"
#include "../../random/types.h"

// The windows of generated one-sided programs, and what their memory must hold.
namespace generated {

/// Elements as the model has them, whatever their length.
using Values = std::vector<std::uint64_t>;

inline std::uint64_t mask_of(Kind kind) {
  return kind.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (kind.bytes * 8)) - 1;
}
inline std::uint64_t load(Kind kind, const std::byte* from) {
  std::uint64_t value = 0;  // the first bytes are the lowest
  std::memcpy(&value, from, at(kind.bytes));
  return value;
}
inline void store(Kind kind, std::byte* to, std::uint64_t value) {
  std::memcpy(to, &value, at(kind.bytes));
}

enum class Source { own, alloc_mem, allocate, shared, dynamic };
constexpr int source_count = 5;

/// Whether all ranks of a communicator are on one node.
inline bool shares_memory(MPI_Comm comm, int size) {
  MPI_Comm node = MPI_COMM_NULL;
  good(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  int there = 0;
  good(MPI_Comm_size(node, &there));
  good(MPI_Comm_free(&node));
  return there == size;
}

/// Of a window that is made, or none.
struct Hints {
  explicit Hints(bool some) {
    if (!some) return;
    good(MPI_Info_create(&info));
    good(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
  }
  ~Hints() {
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;

  MPI_Info info = MPI_INFO_NULL;
};

/// Memory of windows of processes that give up; of all programs that run at once.
inline std::vector<std::vector<std::byte>>& kept_memory() {
  static std::vector<std::vector<std::byte>> all;
  return all;
}

/// A window of one communicator with elements of one kind, and the model of all its memory.
class TargetMemory {
 public:
  TargetMemory(Dice& dice, MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank) {
    source_ = static_cast<Source>(dice.below(source_count));
    if (source_ == Source::alloc_mem && report().interrupted != nullptr) source_ = Source::own;
    kind = any_kind(dice);
    const int most = dice.chance(30) ? 3000 : 120;
    for (int i = 0; i < size; ++i) {
      const int elements = dice.chance(12) ? 0 : dice.between(1, most);
      model.emplace_back(at(elements), 0);
      units_.push_back(is_dynamic() || dice.chance(40) ? 1 : kind.bytes);
    }
  }
  ~TargetMemory() {
    // Where MPI_Win_free has failed others may use the memory until they know.
    if (report().interrupted != nullptr) kept_memory().push_back(std::move(own_));
    if (source_ == Source::alloc_mem && memory_ != nullptr) MPI_Free_mem(memory_);
  }
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;

  [[nodiscard]] bool is_dynamic() const { return source_ == Source::dynamic; }
  [[nodiscard]] int elements(int rank) const { return length(model[at(rank)]); }
  /// The displacement of a byte of a rank's memory, which is a multiple of the element's length.
  [[nodiscard]] MPI_Aint displacement(int rank, std::int64_t byte) const {
    return bases_[at(rank)] + byte / units_[at(rank)];
  }

  /// Makes the window. Report::interrupted frees that of a program which does not come to its end.
  void open(Dice& dice) {
    if (source_ == Source::shared && !shares_memory(comm_, length(model)))
      source_ = Source::allocate;
    make(dice);
    refill(dice);
  }
  void close() {
    if (is_dynamic()) {
      MPI_Barrier(comm_);
      good(MPI_Win_detach(win, memory_));
    }
    good(MPI_Win_free(&win));
  }

  /// New values by stores of the program; no epoch is open.
  void refill(Dice& dice) {
    for (int rank = 0; rank < length(model); ++rank) {
      for (int i = 0; i < elements(rank); ++i) {
        const std::uint64_t value = dice.any() & mask_of(kind);
        model[at(rank)][at(i)] = value;
        if (rank == rank_) store(kind, memory_ + std::int64_t{i} * kind.bytes, value);
      }
    }
    good(MPI_Win_sync(win));
    good(MPI_Barrier(comm_));
  }

  /// No epoch is open, and all ranks know.
  void check() const {
    good(MPI_Win_sync(win));
    for (int i = 0; i < elements(rank_); ++i) {
      const std::uint64_t found = load(kind, memory_ + std::int64_t{i} * kind.bytes);
      if (found == model[at(rank_)][at(i)]) continue;
      fail("element " + std::to_string(i) + " of " + std::to_string(elements(rank_)) + " of " +
           std::to_string(kind.bytes) + " bytes in a window of source " +
           std::to_string(static_cast<int>(source_)) + ": " + std::to_string(found) +
           " instead of " + std::to_string(model[at(rank_)][at(i)]));
    }
  }

  MPI_Win win = MPI_WIN_NULL;
  Kind kind{};
  std::vector<Values> model;  ///< by rank

 private:
  void make(Dice& dice) {
    const MPI_Aint bytes = MPI_Aint{elements(rank_)} * kind.bytes;
    const int unit = units_[at(rank_)];
    void* given = nullptr;
    if (source_ == Source::own || source_ == Source::dynamic) {
      own_.resize(static_cast<std::size_t>(bytes) + 8);
      given = own_.data();
    }
    if (source_ == Source::alloc_mem) {
      good(MPI_Alloc_mem(bytes + 8, MPI_INFO_NULL, &memory_));
      given = memory_;
    }
    const Hints hints(dice.chance(30));
    const MPI_Info info = hints.info;
    all_have_it(call_of(given, bytes, unit, info));
    if (is_dynamic()) good(MPI_Win_attach(win, given, bytes));
    memory_ = static_cast<std::byte*>(given);
    MPI_Aint base = 0;
    if (is_dynamic()) good(MPI_Get_address(given, &base));
    bases_.resize(model.size());
    good(MPI_Allgather(&base, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, comm_));
  }

  int call_of(void*& given, MPI_Aint bytes, int unit, MPI_Info info) {
    switch (source_) {
      case Source::own:
      case Source::alloc_mem:
        return MPI_Win_create(given, bytes, unit, info, comm_, &win);
      case Source::allocate:
        return MPI_Win_allocate(bytes, unit, info, comm_, &given, &win);
      case Source::shared:
        return MPI_Win_allocate_shared(bytes, unit, info, comm_, &given, &win);
      case Source::dynamic:
        return MPI_Win_create_dynamic(info, comm_, &win);
    }
    return MPI_ERR_INTERN;
  }
  /// A window that a process failed to make, because another one has died, is used by nobody. Processes that were
  /// interrupted before take part by their agreement (failing_programs.cc).
  void all_have_it(int code) const {
    if (code == MPI_SUCCESS) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (report().interrupted == nullptr) return good(code);
    int flag = code == MPI_SUCCESS ? 1 : 0;
    const int agreed = MPIX_Comm_agree(comm_, &flag);
    good(code);
    good(agreed);
    if (flag == 0) good(MPIX_ERR_PROC_FAILED);
  }

  MPI_Comm comm_;
  int rank_;
  Source source_{};
  std::vector<std::byte> own_;
  std::byte* memory_ = nullptr;
  std::vector<MPI_Aint> bases_;
  std::vector<int> units_;
};

/// Elements in a type with gaps: `items` items, the origin of the first at byte `begin`.
struct Elements {
  const Type* type = nullptr;
  int items = 0;
  std::int64_t begin = 0;

  [[nodiscard]] int count() const { return items * type->elements(); }
  /// The byte at which each of them lies.
  [[nodiscard]] std::vector<std::int64_t> places() const {
    std::vector<std::int64_t> all;
    for (int item = 0; item < items; ++item) {
      for (const std::int64_t place : type->layout.at) {
        all.push_back(begin + item * type->layout.extent() + place);
      }
    }
    return all;
  }
};

/// `count` elements in a type whose items may lie in any way. Ones that need more than `most` bytes,
/// or begin before the first one, become a plain array.
inline Elements any_elements(Dice& dice, Types& types, Kind kind, int count, std::int64_t most) {
  std::vector<int> divisors;
  for (int d = 1; d <= std::min(count, 8); ++d) {
    if (count % d == 0) divisors.push_back(d);
  }
  const int items = divisors[at(dice.below(length(divisors)))];
  if (count <= 64 && dice.chance(60)) {
    const Type& type = types.make(dice, kind, count / items, items);
    const auto [first, last] = type.range(items);
    if (last - first <= most) return {&type, items, -first};
  }
  return {&types.plain(kind), count, 0};
}

/// The program's own buffer for some elements.
class Buffer {
 public:
  Buffer(Dice& dice, Types& types, Kind kind, int count)
      : elements_(any_elements(dice, types, kind, count, std::int64_t{1} << 20)) {
    const auto [first, last] = elements_.type->range(elements_.items);
    bytes_.resize(static_cast<std::size_t>(last - first) + 16, std::byte{0x5a});
  }

  /// Where the type of the elements is counted from.
  [[nodiscard]] void* address() { return bytes_.data() + elements_.begin; }
  /// The first element, for calls that take one.
  [[nodiscard]] void* first() { return bytes_.data() + elements_.places().front(); }
  [[nodiscard]] int items() const { return elements_.items; }
  [[nodiscard]] MPI_Datatype type() const { return elements_.type->handle; }
  void fill(const Values& values) {
    const std::vector<std::int64_t> places = elements_.places();
    for (std::size_t i = 0; i < values.size(); ++i) {
      store(elements_.type->kind, bytes_.data() + places[i], values[i]);
    }
  }
  [[nodiscard]] Values values() const {
    Values all;
    for (const std::int64_t place : elements_.places()) {
      all.push_back(load(elements_.type->kind, bytes_.data() + place));
    }
    return all;
  }

 private:
  Elements elements_;
  std::vector<std::byte> bytes_;
};

// --- reductions

inline std::array<MPI_Op, 11> all_ops() {
  return {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,   MPI_BOR,
          MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE};
}
constexpr int commuting_ops = 7;  ///< the first of them, in any order and number

inline std::uint64_t reduce(MPI_Op op, std::uint64_t old, std::uint64_t in, Kind kind) {
  std::uint64_t value = in;
  if (op == MPI_SUM) value = old + in;
  if (op == MPI_PROD) value = old * in;
  if (op == MPI_MIN) value = std::min(old, in);
  if (op == MPI_MAX) value = std::max(old, in);
  if (op == MPI_BAND) value = old & in;
  if (op == MPI_BOR) value = old | in;
  if (op == MPI_BXOR) value = old ^ in;
  if (op == MPI_LAND) value = (old != 0 && in != 0) ? 1 : 0;
  if (op == MPI_LOR) value = (old != 0 || in != 0) ? 1 : 0;
  if (op == MPI_LXOR) value = (old != 0) != (in != 0) ? 1 : 0;
  if (op == MPI_NO_OP) value = old;
  return value & mask_of(kind);
}

}  // namespace generated
