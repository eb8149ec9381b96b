// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "operation.h"

// Reductions and scans with predefined operations and with those of the program, commutative or
// not, on any type; and the serial model of them: one element after the other, in the order of
// ranks.
namespace generated {

/// Types that the program's own operations may be called with, by whatever thread. Each rank of
/// the process has its own handles.
class KnownTypes {
 public:
  void add(const Type& type) {
    const std::lock_guard guard(mutex_);
    types_.insert_or_assign({report().rank, type.handle}, &type);
  }
  const Type& find(MPI_Datatype handle) {
    const std::lock_guard guard(mutex_);
    const auto found = types_.find({report().rank, handle});
    if (found == types_.end()) fail("an operation was called with a type that is not its call's");
    return *found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, MPI_Datatype>, const Type*> types_;
};
inline KnownTypes& known_types() {
  static KnownTypes all;
  return all;
}

/// x -> a x + b with a and b in the halves of a word: `first` is applied first. Does not commute.
inline std::uint64_t compose(std::uint64_t first, std::uint64_t second, Kind kind) {
  const int half = 4 * kind.bytes;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  const std::uint64_t a = (first & mask) * (second & mask);
  const std::uint64_t b = (second & mask) * (first >> half) + (second >> half);
  return (a & mask) | ((b & mask) << half);
}
/// (1 + x) (1 + y) - 1
inline std::uint64_t merge(std::uint64_t x, std::uint64_t y, Kind kind) {
  return cut(x + y + x * y, kind);
}

template <std::uint64_t (*combine)(std::uint64_t, std::uint64_t, Kind)>
void combine_all(void* in, void* inout, int* count, MPI_Datatype* handle) {
  const Type& type = known_types().find(*handle);
  const Block block{&type, 0, *count, 0};
  for (int i = 0; i < block.elements(); ++i) {
    std::uint64_t left = 0;
    std::uint64_t right = 0;
    const auto bytes = at(type.kind.bytes);
    std::memcpy(&left, static_cast<std::byte*>(in) + block.place(i), bytes);
    std::memcpy(&right, static_cast<std::byte*>(inout) + block.place(i), bytes);
    right = combine(left, right, type.kind);
    std::memcpy(static_cast<std::byte*>(inout) + block.place(i), &right, bytes);
  }
}
extern "C" inline void compose_all(void* in, void* inout, int* count, MPI_Datatype* handle) {
  combine_all<compose>(in, inout, count, handle);
}
extern "C" inline void merge_all(void* in, void* inout, int* count, MPI_Datatype* handle) {
  combine_all<merge>(in, inout, count, handle);
}

/// The operations of a program.
class Ops {
 public:
  static constexpr int predefined = 6;
  static constexpr int all = predefined + 2;

  Ops() {
    good(MPI_Op_create(compose_all, 0, &compose_));
    good(MPI_Op_create(merge_all, 1, &merge_));
  }
  ~Ops() {
    MPI_Op_free(&compose_);
    MPI_Op_free(&merge_);
  }
  Ops(const Ops&) = delete;
  Ops& operator=(const Ops&) = delete;

  [[nodiscard]] MPI_Op handle(int number) const {
    const std::array<MPI_Op, all> ops = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,
                                         MPI_BXOR, MPI_BAND, compose_, merge_};
    return ops[at(number)];
  }
  [[nodiscard]] static std::uint64_t apply(int number, std::uint64_t x, std::uint64_t y,
                                           Kind kind) {
    switch (number) {
      case 0:
        return cut(x + y, kind);
      case 1:
        return cut(x * y, kind);
      case 2:
        return std::max(x, y);
      case 3:
        return std::min(x, y);
      case 4:
        return x ^ y;
      case 5:
        return x & y;
      case 6:
        return compose(x, y, kind);
      default:
        return merge(x, y, kind);
    }
  }

 private:
  MPI_Op compose_ = MPI_OP_NULL;
  MPI_Op merge_ = MPI_OP_NULL;
};

class Reduction : public Operation {
 public:
  enum class What { reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan, count };

  Reduction(Place& place, Types& types, const Ops& ops, Dice& dice, std::uint64_t type_seed)
      : Operation(place),
        what_(static_cast<What>(
            dice.below(static_cast<int>(place.inter ? What::scan : What::count)))),
        op_number_(dice.below(Ops::all)),
        op_(ops.handle(op_number_)),
        in_place_(dice.chance(25) && !place.inter),
        count_(any_count(dice)),
        root_side_(place.inter ? dice.below(2) : 0),
        root_(dice.below(place.size(root_side_))),
        salt_(dice.any()) {
    const Kind kind = any_kind(dice);
    const int elements = dice.between(1, 4);
    if (!place.mine()) return;
    at_root_ = place.side == root_side_ && place.rank == root_;
    share_out();
    const bool any_type = op_number_ >= Ops::predefined;
    // The same type everywhere, as MPI asks for.
    Dice same(type_seed);
    type_ = any_type ? &types.make(same, kind, elements, operands() + 1) : &types.plain(kind);
    if (any_type) known_types().add(*type_);
    in_ = {type_, 0, operands(), key(place.side, place.rank)};
    out_ = {type_, 0, in_place_ ? operands() : results(), 0};
    send_.include(in_);
    receive_.include(out_);
  }

  void prepare(std::uint64_t seed) override {
    if (!mine()) return;
    send_.fill();
    receive_.fill();
    (takes_in_place() ? receive_ : send_).put_content(in_, seed);
    unchanged_ = send_;
    expected_ = receive_;
    const auto [first, last] = ranks();
    if (first == last) return;
    const int per_item = type_->elements();
    for (int i = 0; i < results() * per_item; ++i) {
      const std::uint64_t element = at(begin_ * per_item + i);
      std::uint64_t sum = operand(seed, first, element);
      for (int rank = first + 1; rank < last; ++rank) {
        sum = Ops::apply(op_number_, sum, operand(seed, rank, element), type_->kind);
      }
      expected_.put(out_, i, sum);
    }
  }

  int call(Form form) override {
    const void* from = takes_in_place() ? MPI_IN_PLACE : send_.address();
    void* to = receive_.address();
    const MPI_Datatype type = type_->handle;
    const int root = !place().inter || place().side != root_side_ ? root_
                     : at_root_                                   ? MPI_ROOT
                                                                  : MPI_PROC_NULL;
    switch (what_) {
      case What::reduce:
        return make(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, from, to, count_, type, op_,
                    root);
      case What::allreduce:
        return make(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, from, to, count_, type,
                    op_);
      case What::reduce_scatter:
        return make(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, from,
                    to, counts_.data(), type, op_);
      case What::reduce_scatter_block:
        return make(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                    MPI_Reduce_scatter_block_init, from, to, counts_.front(), type, op_);
      case What::scan:
        return make(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, from, to, count_, type, op_);
      default:
        return make(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, from, to, count_, type, op_);
    }
  }

  void check() override {
    if (!mine()) return;
    if (in_place_ && is_scattered()) {
      // In place, the buffer behind the result is overwritten.
      for (int i = results() * type_->elements(); i < out_.elements(); ++i) {
        expected_.put(out_, i, receive_.get(out_, i));
      }
    }
    receive_.compare(expected_, name());
    send_.compare(unchanged_, name() + ", what was sent");
  }

 private:
  [[nodiscard]] std::string name() const {
    const std::array<const char*, static_cast<std::size_t>(What::count)> names = {
        "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};
    return std::string(names[at(static_cast<int>(what_))]) +
           (place().inter ? " between groups" : "") + (in_place_ ? " in place" : "") + ", op " +
           std::to_string(op_number_) + ", " + std::to_string(operands()) + " of " +
           std::to_string(type_->elements()) + " elements, root " + std::to_string(root_) +
           ", rank " + std::to_string(place().rank) + " of " +
           std::to_string(place().size(place().side));
  }
  [[nodiscard]] static std::uint64_t key(int side, int rank) {
    return (static_cast<std::uint64_t>(side) << 40) + static_cast<std::uint64_t>(rank);
  }
  [[nodiscard]] bool is_scattered() const {
    return what_ == What::reduce_scatter || what_ == What::reduce_scatter_block;
  }
  [[nodiscard]] bool takes_in_place() const {
    return in_place_ && (what_ != What::reduce || at_root_);
  }
  [[nodiscard]] int operands() const { return is_scattered() ? total_ : count_; }
  [[nodiscard]] int results() const { return is_scattered() ? counts_[at(place().rank)] : count_; }
  [[nodiscard]] std::uint64_t operand(std::uint64_t seed, int rank, std::uint64_t element) const {
    return cut(mix({seed, key(place().remote(), rank), element}), type_->kind);
  }

  /// How much of a scattered reduction each rank gets. Both groups have as many operands.
  void share_out() {
    const int own = place().size(place().side);
    const int other = place().inter ? place().size(place().remote()) : 1;
    total_ = count_ * own * other;
    counts_.assign(at(own), count_ * other);
    if (what_ == What::reduce_scatter) {
      for (int i = 0; i < own; ++i) {
        const auto moved = static_cast<int>(mix({salt_, at(i)}) % at(counts_[at(i)] + 1));
        counts_[at(i)] -= moved;
        counts_[at((i + 1) % own)] += moved;
      }
    }
    begin_ = 0;
    for (int rank = 0; rank < place().rank && is_scattered(); ++rank) begin_ += counts_[at(rank)];
  }

  /// Whose operands make up the result here: from the first to the one before the last.
  [[nodiscard]] std::pair<int, int> ranks() const {
    if (what_ == What::scan) return {0, place().rank + 1};
    if (what_ == What::exscan) return {0, place().rank};
    if (what_ == What::reduce && !at_root_) return {0, 0};
    return {0, place().size(place().remote())};
  }

  What what_;
  int op_number_;
  MPI_Op op_;
  bool in_place_;
  int count_;
  int root_side_;
  int root_;
  std::uint64_t salt_;
  bool at_root_ = false;
  int total_ = 0;
  int begin_ = 0;  ///< the first item of the own part
  std::vector<int> counts_;
  const Type* type_ = nullptr;
  Block in_;
  Block out_;
  Memory send_;
  Memory receive_;
  Memory expected_;
  Memory unchanged_;
};

}  // namespace generated
