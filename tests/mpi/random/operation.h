// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "memory.h"
#include "places.h"

// What all collective operations of a generated program have in common.
namespace generated {

enum class Form { blocking, nonblocking, persistent };

/// One collective call of this process. Its arguments lie still from `call` to its completion.
class Operation {
 public:
  MPI_Request request = MPI_REQUEST_NULL;

  explicit Operation(Place& place) : place_(place) { ++place_.users; }
  virtual ~Operation() { --place_.users; }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  [[nodiscard]] bool mine() const { return place_.mine(); }
  /// Fills the buffers, and works out what has to come of it; before each run.
  virtual void prepare(std::uint64_t seed) = 0;
  /// Makes the call. A persistent one is not started.
  virtual int call(Form form) = 0;
  /// After a run.
  virtual void check() = 0;

 protected:
  [[nodiscard]] Place& place() const { return place_; }
  /// One of the three forms with these arguments.
  template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
  int make(Form form, Blocking blocking, Nonblocking nonblocking, Persistent persistent,
           Arguments... arguments) {
    switch (form) {
      case Form::blocking:
        return blocking(arguments..., place_.comm);
      case Form::nonblocking:
        return nonblocking(arguments..., place_.comm, &request);
      default:
        return persistent(arguments..., place_.comm, MPI_INFO_NULL, &request);
    }
  }

 private:
  Place& place_;
};

/// An operation that moves data and does nothing else to them: where blocks lie, and whose they
/// are.
class Movement : public Operation {
 public:
  using Operation::Operation;

  void prepare(std::uint64_t seed) override {
    if (!mine()) return;
    send_.fill();
    receive_.fill();
    for (const Block& block : out_) (is_in_place_ ? receive_ : send_).put_content(block, seed);
    expected_ = receive_;
    for (const Block& block : in_) expected_.put_content(block, seed);
    unchanged_ = send_;
  }
  void check() override {
    if (!mine()) return;
    receive_.compare(expected_, name_);
    send_.compare(unchanged_, name_ + ", what was sent");
  }

 protected:
  /// For the report.
  void set_name(std::string name) { name_ = std::move(name); }
  void set_in_place() { is_in_place_ = true; }
  void clear_in_place() { is_in_place_ = false; }
  [[nodiscard]] bool is_in_place() const { return is_in_place_; }
  void add_out(const Block& block) {
    (is_in_place_ ? receive_ : send_).include(block);
    out_.push_back(block);
  }
  void add_in(const Block& block) {
    receive_.include(block);
    in_.push_back(block);
  }
  [[nodiscard]] const void* from() { return is_in_place_ ? MPI_IN_PLACE : send_.address(); }
  [[nodiscard]] void* to() { return receive_.address(); }

 private:
  std::string name_;
  bool is_in_place_ = false;
  std::vector<Block> out_;
  std::vector<Block> in_;
  Memory send_;
  Memory receive_;
  Memory expected_;
  Memory unchanged_;
};

/// Blocks of different lengths in any order with gaps: what the v-forms take.
struct Ragged {
  std::vector<int> counts;
  std::vector<int> displs;  ///< in items
  int items = 0;            ///< from the first to the last

  Ragged() = default;
  Ragged(std::vector<int> lengths, Dice& dice) : counts(std::move(lengths)), displs(counts.size()) {
    for (const int i : dice.order(length(counts))) {
      items += dice.below(3);
      displs[at(i)] = items;
      items += counts[at(i)];
    }
  }
};

/// The same in bytes, each block with a type of its own: what the w-forms take.
struct Mixed {
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<MPI_Aint> wide_displs;
  std::vector<MPI_Datatype> types;
  std::int64_t end = 0;

  /// Where the block goes.
  std::int64_t add(const Type& type, int items) {
    const auto [first, last] = type.range(items);
    const std::int64_t base = (end - first + 15) / 8 * 8;
    end = base + last;
    counts.push_back(items);
    displs.push_back(static_cast<int>(base));
    wide_displs.push_back(base);
    types.push_back(type.handle);
    return base;
  }
};

/// How many items there are in a call: mostly few, sometimes many.
/// Some are so long that they go in pieces, or by messages where short ones do not.
inline int any_count(Dice& dice) {
  if (dice.chance(2)) return dice.below(5000);
  if (dice.chance(8)) return dice.below(700);
  return dice.chance(10) ? 0 : dice.below(12);
}

}  // namespace generated
