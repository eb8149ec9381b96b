// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/context_agreement.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "mpi/comm/failure.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// How many ranks the subtree of a rank would have without end: those from itself on.
int span_of(int rank, int size) noexcept {
  const auto all = std::bit_ceil(static_cast<unsigned>(size));
  return rank == 0 ? static_cast<int>(all) : rank & -rank;
}

}  // namespace

bool makes_common_contexts(const Comm& comm) noexcept {
  return !comm.is_inter && comm.size() >= comm.library->world->common_context_ranks;
}

void AgreementRecord::merge(const AgreementRecord& next, std::uint32_t first) noexcept {
  index = std::max(index, next.index);
  failed_rank = std::min(failed_rank, next.failed_rank);
  if (other_rank == none) other_rank = next.word >> 32 != word >> 32 ? first : next.other_rank;
  flags |= next.flags;
  if (static_cast<std::uint32_t>(next.word) != static_cast<std::uint32_t>(word)) {
    flags |= lows_differ;
  }
  word_bits |= next.word_bits;
  free_boards &= next.free_boards;
  newest_round = std::max(newest_round, next.newest_round);
}

AgreementRecord record_of(const MemberInfo& member) noexcept {
  AgreementRecord record;
  record.word = std::uint64_t{static_cast<std::uint32_t>(member.color)} << 32 |
                static_cast<std::uint32_t>(member.key);
  record.word_bits = static_cast<std::uint16_t>(record.word >> 32);
  record.free_boards = member.free_boards;
  record.newest_round = member.newest_round;
  return record;
}

ContextAgreement::ContextAgreement(const Line& line, const MemberInfo& own, Splits splits)
    : comm_(line.comm),
      contexts_(line.comm.library->world->common_contexts),
      slot_(CommonContexts::slot_of(line.tag)),
      own_(own),
      splits_(splits == Splits::yes),
      exchange_(line.comm, line.channel, line.tag) {
  const CommonContexts::Offer offer = contexts_.offer(slot_);
  all_ = record_of(own);
  all_.index = offer.index;
  if (offer.shared) all_.flags |= AgreementRecord::shared;
  if (own.failed != 0) all_.failed_rank = static_cast<std::uint32_t>(comm_.rank);
  if (splits_ && own.color != MPI_UNDEFINED && own.failed == 0) {
    table_.add(comm_.rank, own.color, own.key, own.free_boards, own.newest_round);
  }
}

ContextAgreement::~ContextAgreement() {
  if (active_) contexts_.end(slot_);
}

int ContextAgreement::own_place() const noexcept {
  const auto below = [&](std::uint32_t rank) { return static_cast<int>(rank) < comm_.rank; };
  return comm_.rank - static_cast<int>(std::ranges::count_if(missing_, below));
}

int ContextAgreement::rank_at(int place) const noexcept {
  for (const std::uint32_t rank : missing_) {
    if (static_cast<int>(rank) > place) break;
    ++place;
  }
  return place;
}

/// What is received says that it is incomplete until it is there.
CollTask ContextAgreement::receive(CollContext& exchange, ContextAgreement& self, int place,
                                   int ranks) {
  const Datatype& byte = exchange.byte_type();
  const int from = self.rank_at(place);
  AgreementRecord& record = self.record_;
  record = {};
  record.flags = AgreementRecord::incomplete;
  self.received_ = {};
  co_await exchange.receive({&record, sizeof record, &byte}, from);
  if (record.colors == 0) co_return;
  const auto most = static_cast<std::uint32_t>(ranks);
  if (record.colors > most || record.runs > most) {
    record.flags |= AgreementRecord::bad_table;
    co_return;
  }
  self.encoded_.assign(ColorTable::bytes(record.colors, record.runs), std::byte{});
  const auto bytes = static_cast<Count>(self.encoded_.size());
  co_await exchange.receive({self.encoded_.data(), bytes, &byte}, from);
  if (!self.received_.decode(self.encoded_, record.colors, record.runs, exchange.size())) {
    record.flags |= AgreementRecord::bad_table;
  }
}

/// Sends `record_` with `received_`.
CollTask ContextAgreement::send(CollContext& exchange, ContextAgreement& self, int place) {
  const Datatype& byte = exchange.byte_type();
  const int to = self.rank_at(place);
  self.record_.colors = static_cast<std::uint32_t>(self.received_.colors().size());
  self.record_.runs = self.received_.run_count();
  co_await exchange.send({&self.record_, sizeof self.record_, &byte}, to);
  if (self.record_.colors == 0) co_return;
  self.encoded_ = self.received_.encode();
  const auto bytes = static_cast<Count>(self.encoded_.size());
  co_await exchange.send({self.encoded_.data(), bytes, &byte}, to);
}

void ContextAgreement::take_child(int place) {
  all_.merge(record_, static_cast<std::uint32_t>(rank_at(place)));
  table_.merge(received_);
  children_.push_back({place, received_.names()});
}

CollTask ContextAgreement::exchange_all(CollContext& exchange, ContextAgreement& self) {
  const int place = self.own_place();
  const int size = self.size();
  const int span = span_of(place, size);
  for (int distance = 1; distance < span && distance < size - place; distance *= 2) {
    co_await receive(exchange, self, place + distance, distance);
    self.take_child(place + distance);
  }
  if (place != 0) {
    self.record_ = self.all_;
    self.received_ = std::move(self.table_);
    co_await send(exchange, self, place - span);
    co_await receive(exchange, self, place - span, size);
    self.all_ = self.record_;
    self.table_ = std::move(self.received_);
  } else if (self.is_usable()) {
    self.table_.order_by_key();
  } else {
    self.table_ = {};
  }
  for (auto child = self.children_.crbegin(); child != self.children_.crend(); ++child) {
    self.record_ = self.all_;
    self.received_ = self.table_.part(child->colors);
    co_await send(exchange, self, child->place);
  }
}

bool ContextAgreement::is_usable() const noexcept {
  constexpr std::uint16_t obstacles =
      AgreementRecord::shared | AgreementRecord::incomplete | AgreementRecord::bad_table;
  return (all_.flags & obstacles) == 0 && all_.failed_rank == AgreementRecord::none &&
         contexts_.has(all_.index);
}

void ContextAgreement::start(device::Operation& completion) noexcept {
  exchange_.start(exchange_all(exchange_, *this), completion);
}

Error ContextAgreement::run() {
  (void)exchange_.run(exchange_all(exchange_, *this));
  const Error error = finish();
  if (error.failed() && (all_.flags & AgreementRecord::incomplete) != 0) {
    return missing_member(comm_);
  }
  return error;
}

Error ContextAgreement::check_exchange() const {
  if (exchange_.result().failed()) return exchange_.result();
  if ((all_.flags & AgreementRecord::incomplete) != 0) return incomplete_exchange();
  bool good = (all_.flags & AgreementRecord::bad_table) == 0;
  if (good && splits_ && own_.color != MPI_UNDEFINED && is_usable()) {
    const ColorTable::Color* const own = table_.find(own_.color);
    good = own != nullptr && place_of(own->runs, comm_.rank) >= 0;
  }
  if (good) return {};
  return base::failure(ErrorClass::intern,
                       "the communicator was not made: a message about its members makes no "
                       "sense; check that all processes run the same version of the library");
}

Error ContextAgreement::finish() noexcept {
  active_ = false;
  const Error error = check_exchange();
  found_ = error.ok() && is_usable();
  if (found_) {
    contexts_.end(slot_, all_.index);
  } else {
    contexts_.end(slot_);
  }
  return error;
}

Error ContextAgreement::check() const {
  if (all_.failed_rank == AgreementRecord::none) return {};
  return failed_member("old one", all_.failed_rank, 0);
}

AgreedMembers ContextAgreement::everybody(const ProcessList& processes) const {
  return {processes, own_place(), context(), all_.free_boards, all_.newest_round};
}

std::optional<AgreedMembers> ContextAgreement::own_color(const ProcessList& processes) const {
  if (own_.color == MPI_UNDEFINED) return std::nullopt;
  const ColorTable::Color* const own = table_.find(own_.color);
  return AgreedMembers{select(processes, own->runs), place_of(own->runs, comm_.rank), context(),
                       own->free_boards, own->newest_round};
}

}  // namespace fulmar::mpi
