// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/agent.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "mpi/datatype/view.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/server/accumulate.h"
#include "mpi/rma/sync/epochs.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using device::RemoteChange;
using Atomics = device::RemoteSchedule::Atomics;
using Changes = fabric::Network::Changes;

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::uint64_t granularity_of(const Win& win) noexcept {
  for (const Info::Entry& hint : win.hints) {
    if (hint.key == "mpi_accumulate_granularity") {
      return std::strtoull(hint.value.c_str(), nullptr, 10);
    }
  }
  return 0;
}

bool all_have(std::span<const AdapterFacts> facts, std::uint32_t bits) noexcept {
  return std::all_of(facts.begin(), facts.end(),
                     [bits](const AdapterFacts& each) { return (each.agent & bits) == bits; });
}
bool any_has(std::span<const AdapterFacts> facts, std::uint32_t bits) noexcept {
  return std::any_of(facts.begin(), facts.end(),
                     [bits](const AdapterFacts& each) { return (each.agent & bits) != 0; });
}

/// How the adapter does an operation on one element.
enum class ChangeWay : std::uint8_t {
  add,   ///< by one order
  swap,  ///< compare and swap of MPI
  loop,  ///< read, compute, compare and swap, until nothing came between
};

ChangeWay way_of(const AgentOperation& what) noexcept {
  if (what.op == nullptr) return ChangeWay::swap;
  if (what.op->code == OpCode::no_op) return ChangeWay::add;
  const BasicType* const basic = what.element->basic;
  const bool counts = basic != nullptr && (basic->type_class == TypeClass::c_integer ||
                                           basic->type_class == TypeClass::fortran_integer ||
                                           basic->type_class == TypeClass::multi_language);
  return what.op->code == OpCode::sum && counts ? ChangeWay::add : ChangeWay::loop;
}

/// Whether the adapter is the agent of elements like these.
bool is_word(const Datatype* element) noexcept {
  return element != nullptr && element->contiguous && element->size == word_bytes &&
         element->extent == static_cast<std::int64_t>(word_bytes);
}

}  // namespace

static void start_words(WordOperations& words);

/// An operation under way. It ends itself, and starts those that waited for it.
class WordOperation {
 public:
  static constexpr std::size_t most_slots = 16;  ///< elements under way at a time

  WordOperation(Win& win, int rank, const AgentOperation& what) noexcept
      : win_(win), rank_(rank), op_(what.op), element_(what.element), way_(way_of(what)) {}

  [[nodiscard]] bool find_places(const AgentOperation& what, const AdapterPlace& at);
  Error prepare(const AgentOperation& what, MPI_Request* out);
  [[nodiscard]] bool overlaps(const WordOperation& other) const noexcept {
    return rank_ == other.rank_ && begin_ < other.end_ && other.begin_ < end_;
  }
  [[nodiscard]] bool started() const noexcept { return started_; }
  void start();

 private:
  enum class Step : std::uint8_t {
    last,   ///< the element is done with this order
    read,   ///< what is there decides about the change
    tried,  ///< done if it is still there
  };
  struct Slot : RemoteChange {
    WordOperation* owner = nullptr;
    std::size_t index = 0;
    Step step = Step::last;
  };

  void begin_next(Slot& slot);
  void give(Slot& slot);
  void ended(Slot& slot) noexcept;
  void aim(Slot& slot, std::uint64_t found) noexcept;
  void finish() noexcept;

  Win& win_;
  int rank_;
  const Op* op_;
  const Datatype* element_;
  ChangeWay way_;
  std::uint64_t compare_ = 0;
  std::vector<std::uint64_t> source_;
  std::vector<std::uint64_t> found_;
  std::vector<std::uint64_t> places_;  ///< of the elements, as orders name them
  std::uint64_t key_ = 0;
  std::uint64_t begin_ = 0;  ///< of the addresses that it touches
  std::uint64_t end_ = 0;
  Data result_;
  Request* request_ = nullptr;
  device::BounceBlock* block_ = nullptr;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  bool started_ = false;
  bool lost_ = false;
  std::array<Slot, most_slots> slots_;
};

/// False: an element does not lie at a multiple of eight.
bool WordOperation::find_places(const AgentOperation& what, const AdapterPlace& at) {
  std::size_t count = static_cast<std::size_t>(at.count * at.type->size) / word_bytes;
  if (what.origin.type != nullptr) {
    const auto bytes = static_cast<std::size_t>(what.origin.count * what.origin.type->size);
    source_.resize(std::min(count, bytes / word_bytes));
    (void)View(*what.origin.type, what.origin.count)
        .pack(what.origin.address, 0, std::as_writable_bytes(std::span(source_)));
    // What is behind the origin's data is fetched alone.
    if (what.result.type == nullptr) count = source_.size();
  }
  const fabric::RemoteAddress base = win_.origin.adapter->at(rank_, at.place);
  key_ = base.key;
  places_.reserve(count);
  const View view(*at.type, at.count);
  for (std::uint64_t done = 0; places_.size() < count; done += word_bytes) {
    iovec run{};
    if (view.segments(reinterpret_cast<const void*>(base.address), done, word_bytes, {&run, 1}) ==
        0) {
      break;
    }
    places_.push_back(reinterpret_cast<std::uint64_t>(run.iov_base));
  }
  if (places_.empty()) return true;
  const auto [low, high] = std::minmax_element(places_.begin(), places_.end());
  begin_ = *low;
  end_ = *high + word_bytes;
  return std::all_of(places_.begin(), places_.end(),
                     [](std::uint64_t place) { return place % word_bytes == 0; });
}

Error WordOperation::prepare(const AgentOperation& what, MPI_Request* out) {
  if (what.compare != nullptr) std::memcpy(&compare_, what.compare, sizeof compare_);
  if (out != nullptr) {
    request_ = make_rma_request(win_, *out);
    if (request_ == nullptr) return base::failure(ErrorClass::no_mem, "no memory for a request");
  }
  result_ = what.result;
  if (result_.type != nullptr) {
    found_.resize(places_.size());
    if (!result_.type->predefined) win_.library->acquire(const_cast<Datatype&>(*result_.type));
  }
  block_ = &win_.origin.adapter->access().take_block();
  ++win_.target(rank_).pending;
  return {};
}

void WordOperation::start() {
  started_ = true;
  under_way_ = 1;  // this call
  for (Slot& slot : slots_) {
    if (next_ == places_.size()) break;
    const auto number = static_cast<std::size_t>(&slot - slots_.data());
    slot.owner = this;
    slot.room = block_->memory.subspan(number * word_bytes, word_bytes);
    slot.lkey = block_->lkey;
    slot.ended = [](RemoteChange& change) noexcept {
      auto& done = static_cast<Slot&>(change);
      done.owner->ended(done);
    };
    begin_next(slot);
  }
  if (--under_way_ == 0) finish();
}

void WordOperation::begin_next(Slot& slot) {
  slot.index = next_++;
  const bool reads = slot.index >= source_.size();  // nothing is changed
  slot.step = way_ == ChangeWay::loop && !reads ? Step::read : Step::last;
  slot.kind = way_ == ChangeWay::swap ? RemoteChange::Kind::swap : RemoteChange::Kind::add;
  slot.value = way_ == ChangeWay::loop || reads ? 0 : source_[slot.index];
  slot.expected = compare_;
  ++under_way_;
  give(slot);
}

void WordOperation::give(Slot& slot) {
  win_.origin.adapter->access().change(static_cast<std::uint32_t>(rank_),
                                       {places_[slot.index], key_}, slot);
}

/// The change that makes what was found what the operation makes of it.
void WordOperation::aim(Slot& slot, std::uint64_t found) noexcept {
  slot.step = Step::tried;
  slot.kind = RemoteChange::Kind::swap;
  slot.expected = found;
  slot.value = op_->code == OpCode::replace ? source_[slot.index] : found;
  if (op_->code != OpCode::replace) {
    apply_op(*op_, *element_, &source_[slot.index], &slot.value, 1);
  }
}

void WordOperation::ended(Slot& slot) noexcept {
  lost_ = lost_ || slot.lost;
  const bool done =
      slot.step == Step::last || (slot.step == Step::tried && slot.was == slot.expected);
  if (!slot.lost && !done) {
    aim(slot, slot.was);
    return give(slot);
  }
  if (!found_.empty()) found_[slot.index] = slot.was;
  --under_way_;
  if (!lost_ && next_ < places_.size()) return begin_next(slot);
  if (under_way_ == 0) finish();
}

void WordOperation::finish() noexcept {
  Win& win = win_;
  RmaTarget& target = win.target(rank_);
  const ErrorClass error = lost_ ? ErrorClass::proc_failed : ErrorClass::success;
  if (!found_.empty()) {
    if (!lost_) {
      (void)View(*result_.type, result_.count)
          .unpack(result_.address, 0, std::as_bytes(std::span(found_)));
    }
    if (!result_.type->predefined) win.library->release(const_cast<Datatype&>(*result_.type));
  }
  end_for_program(win, rank_, request_, error);
  win.origin.adapter->access().give_back(*block_);
  WordOperations& words = win.origin.adapter->words();
  --words.by_rank[static_cast<std::size_t>(rank_)];
  std::erase(words.all, this);
  --target.pending;
  delete this;
  win.device->wake_waiters();
  start_words(words);
}

/// Starts those before which nothing on the same elements is under way.
static void start_words(WordOperations& words) {
  for (std::size_t i = 0; i < words.all.size(); ++i) {
    WordOperation& operation = *words.all[i];
    if (operation.started()) continue;
    const bool waits =
        std::any_of(words.all.begin(), words.all.begin() + static_cast<long>(i),
                    [&](const WordOperation* before) { return before->overlaps(operation); });
    if (waits) continue;
    operation.start();
    i = static_cast<std::size_t>(-1);  // it may have ended, and others with it
  }
}

std::uint32_t own_agent_bits(const Win& win) noexcept {
  const device::Device& device = *win.device;
  const Atomics wish = device.config().remote_schedule.atomics;
  const Changes changes = device.network()->changes_memory();
  std::uint32_t bits = 0;
  bool apart = device.network()->moves_remotely(win.comm->routes[win.rank()].peer);
  for (int rank = 0; rank < win.size(); ++rank) {
    apart = apart && (rank == win.rank() || is_reached_by_adapter(win, rank));
  }
  const bool aligned = reinterpret_cast<std::uintptr_t>(win.base) % word_bytes == 0;
  if (changes != Changes::none && apart && aligned) bits |= agent_can;
  if (changes == Changes::by_adapter) bits |= agent_alone;
  if (wish == Atomics::adapter) bits |= agent_wanted;
  if (wish == Atomics::target) bits |= agent_refused;
  const std::uint64_t granularity = granularity_of(win);
  if (granularity != 0) bits |= granularity <= word_bytes ? agent_fine : agent_coarse;
  return bits;
}

AgentChoice choose_agent(std::span<const AdapterFacts> facts) noexcept {
  using enum AccumulateAgent;
  if (any_has(facts, agent_refused)) return {target, "FULMAR_RMA_ATOMICS=target"};
  if (!all_have(facts, agent_can)) {
    return {target, "adapters do not change the memory of every rank, or ranks share a node"};
  }
  const bool open = std::all_of(facts.begin(), facts.end(), [](const AdapterFacts& each) {
    return each.open != 0 || each.size == 0;
  });
  if (!open) return {target, "the memory of a rank could not be opened to adapters"};
  if (any_has(facts, agent_wanted)) return {adapter, "FULMAR_RMA_ATOMICS=adapter"};
  if (any_has(facts, agent_coarse)) return {target, "mpi_accumulate_granularity is above 8"};
  if (!all_have(facts, agent_alone)) return {target, "adapters need the target's processor"};
  if (all_have(facts, agent_fine)) return {adapter, "mpi_accumulate_granularity is 1 to 8"};
  const bool is_short = std::all_of(facts.begin(), facts.end(), [](const AdapterFacts& each) {
    return each.size <= most_agent_bytes;
  });
  if (is_short) return {adapter, "no rank has more than 4096 bytes"};
  return {target, "the window is long, and mpi_accumulate_granularity is not set"};
}

AgentChoice agent_of(const Win& win) noexcept {
  if (win.origin.adapter != nullptr) return win.origin.adapter->choice();
  return {AccumulateAgent::target, "no memory of the window is reached by adapters"};
}

Error accumulate_by_adapter(Win& win, const AgentOperation& what, const AdapterPlace& at,
                            MPI_Request* out, bool& taken) {
  taken = false;
  if (win.origin.adapter == nullptr || win.origin.adapter->agent() != AccumulateAgent::adapter)
    return {};
  if (!is_word(what.element)) return {};
  if (const Error bad = await_lock(win, at.rank); bad.failed()) return bad;
  // All ranks have agreed on adapters: where this one cannot register memory there is no other way.
  if (const Error bad = win.origin.adapter->access().probe(); bad.failed()) return bad;
  std::unique_ptr<WordOperation> made(new (std::nothrow) WordOperation(win, at.rank, what));
  if (made == nullptr) return base::failure(ErrorClass::no_mem, "no memory for another operation");
  if (!made->find_places(what, at)) return {};
  if (const Error bad = made->prepare(what, out); bad.failed()) return bad;
  taken = true;
  WordOperations& words = win.origin.adapter->words();
  ++words.by_rank[static_cast<std::size_t>(at.rank)];
  words.all.push_back(made.release());
  start_words(words);
  return {};
}

}  // namespace fulmar::mpi
