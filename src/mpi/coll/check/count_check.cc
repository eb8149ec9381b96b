// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/check/count_check.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace fulmar::mpi {

using base::ErrorClass;

void CountCheck::add(std::vector<Amount>& count_check, int other, Count count,
                     const Datatype* type) {
  const Count bytes = type == nullptr ? 0 : count * type->size;
  const BasicType* basic = bytes == 0 ? nullptr : element_of(*type);
  const auto handle = basic == nullptr ? 0U : static_cast<std::uint32_t>(basic->handle);
  count_check.push_back({other, handle, bytes});
}

bool CountCheck::Flow::comes_before(const Flow& other) const noexcept {
  return std::tie(from, to, order) < std::tie(other.from, other.to, other.order);
}

/// "8 bytes of MPI_INT"
std::string CountCheck::words_for(const Flow& flow) const {
  const std::string words = std::to_string(flow.bytes) + " bytes";
  if (flow.type == 0) return words;
  const auto handle = static_cast<std::uintptr_t>(flow.type);
  const auto* type = library_.find<Datatype>(reinterpret_cast<MPI_Datatype>(handle));
  return type == nullptr || type->basic == nullptr ? words : words + " of " + type->basic->name;
}

/// All data between two ranks.
void CountCheck::judge_pair(std::span<const Flow> given, std::span<const Flow> expected,
                            const Sides& sides, CheckResult& check_result) const {
  const Flow& any = given.empty() ? expected.front() : given.front();
  const std::string from = "rank " + std::to_string(any.from) + sides.from;
  const std::string to = "rank " + std::to_string(any.to) + sides.to;
  for (std::size_t i = 0; i < std::max(given.size(), expected.size()); ++i) {
    if (i >= expected.size()) {
      return check_result.refuse(
          ErrorClass::count,
          from + " gives " + to + " " + words_for(given[i]) + ", which that does not expect");
    }
    if (i >= given.size()) {
      return check_result.refuse(ErrorClass::count, to + " expects " + words_for(expected[i]) +
                                                        " from " + from +
                                                        ", which that does not give");
    }
    const bool as_much = given[i].bytes == expected[i].bytes;
    const bool alike =
        given[i].type == 0 || expected[i].type == 0 || given[i].type == expected[i].type;
    if (as_much && alike) continue;
    return check_result.refuse(as_much ? ErrorClass::type : ErrorClass::count,
                               from + " gives " + to + " " + words_for(given[i]) +
                                   " where that expects " + words_for(expected[i]));
  }
}

void CountCheck::judge(Flows& given, Flows& expected, const Sides& sides,
                       CheckResult& check_result) const {
  std::ranges::sort(given, &Flow::comes_before);
  std::ranges::sort(expected, &Flow::comes_before);
  std::span<const Flow> left = given;
  std::span<const Flow> right = expected;
  while (check_result.is_good() && (!left.empty() || !right.empty())) {
    const bool left_first =
        right.empty() || (!left.empty() && std::tie(left.front().from, left.front().to) <=
                                               std::tie(right.front().from, right.front().to));
    const Flow pair = left_first ? left.front() : right.front();
    const auto cut = [&pair](std::span<const Flow>& flows) {
      const auto end =
          std::ranges::find_if(flows, [&pair](const Flow& flow) { return !flow.joins_same(pair); });
      const auto count = static_cast<std::size_t>(end - flows.begin());
      const std::span<const Flow> first = flows.first(count);
      flows = flows.subspan(count);
      return first;
    };
    const std::span<const Flow> pair_given = cut(left);
    judge_pair(pair_given, cut(right), sides, check_result);
  }
}

std::vector<CountCheck::Amount> CountCheck::all() const {
  std::vector<Amount> all = given_;
  all.insert(all.end(), expected_.begin(), expected_.end());
  return all;
}

/// To rank 0.
CollTask CountCheck::tell(CollContext& exchange, const CountCheck& mine) {
  const Datatype& byte = exchange.byte_type();
  const Head head = mine.head();
  co_await exchange.send({&head, sizeof head, &byte}, 0);
  const std::vector<Amount> all = mine.all();
  const ConstData told{all.data(), static_cast<Count>(all.size() * sizeof(Amount)), &byte};
  co_await exchange.send(told, 0);
}

/// The amounts of rank `rank`: `head.given` that it sends, then those it expects.
void CountCheck::add_flows(int rank, const Head& head, std::span<const Amount> all, Told& told) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Amount& one = all[i];
    if (std::cmp_less(i, head.given)) {
      told.given.push_back({rank, one.other, one.bytes, one.type, told.given.size()});
    } else {
      told.expected.push_back({one.other, rank, one.bytes, one.type, told.expected.size()});
    }
  }
}

/// A limit far above the number of blocks and neighbours of a rank, or group.
bool CountCheck::is_sane(const Head& head) noexcept {
  constexpr std::int64_t most = 1 << 28;
  return head.given >= 0 && head.given <= most && head.expected >= 0 && head.expected <= most;
}

/// At rank 0: all ranks.
CollTask CountCheck::hear(CollContext& exchange, const CountCheck& mine, Told& told,
                          CheckResult& check_result) {
  const Datatype& byte = exchange.byte_type();
  add_flows(0, mine.head(), mine.all(), told);
  for (int rank = 1; rank < exchange.size(); ++rank) {
    Head head{};
    co_await exchange.receive({&head, sizeof head, &byte}, rank);
    if (!is_sane(head)) {
      check_result.refuse(ErrorClass::intern, "rank " + std::to_string(rank) + " told nonsense");
      head = {};
    }
    std::vector<Amount> all(static_cast<std::size_t>(head.given + head.expected));
    const Data heard{all.data(), static_cast<Count>(all.size() * sizeof(Amount)), &byte};
    co_await exchange.receive(heard, rank);
    add_flows(rank, head, all, told);
  }
}

/// The first ranks of two groups.
CollTask CountCheck::compare_between(CollContext& exchange, const CountCheck& mine, Told& ours,
                                     CheckResult& check_result) {
  const Datatype& byte = exchange.byte_type();
  const Head told{std::ssize(ours.given), std::ssize(ours.expected)};
  Head heard{};
  co_await exchange.send_receive({&told, sizeof told, &byte}, 0, {&heard, sizeof heard, &byte}, 0);
  if (!is_sane(heard)) {
    check_result.refuse(ErrorClass::intern, "the other group told nonsense");
    heard = {};
  }
  Told theirs{Flows(static_cast<std::size_t>(heard.given)),
              Flows(static_cast<std::size_t>(heard.expected))};
  const auto bytes_of_all = [](const Flows& flows) {
    return static_cast<Count>(flows.size() * sizeof(Flow));
  };
  co_await exchange.send_receive({ours.given.data(), bytes_of_all(ours.given), &byte}, 0,
                                 {theirs.given.data(), bytes_of_all(theirs.given), &byte}, 0);
  co_await exchange.send_receive({ours.expected.data(), bytes_of_all(ours.expected), &byte}, 0,
                                 {theirs.expected.data(), bytes_of_all(theirs.expected), &byte}, 0);
  const char* const other = " of the other group";
  // Both groups must find the same error: that of the process with the lower number is compared
  // first.
  const Comm& comm = exchange.comm();
  const bool first = comm.device->config().self < comm.routes.front().peer;
  if (first) mine.judge(ours.given, theirs.expected, {"", other}, check_result);
  mine.judge(theirs.given, ours.expected, {other, ""}, check_result);
  if (!first) mine.judge(ours.given, theirs.expected, {"", other}, check_result);
}

CollTask CountCheck::compare(CollContext& exchange, const CountCheck& mine) {
  Comm& comm = exchange.comm();
  CollContext line(comm.is_inter ? *comm.local_comm : comm, comparing_channel, exchange.tag());
  CollContext between(comm, comparing_channel, exchange.tag());
  CheckResult check_result;
  if (line.rank() == 0) {
    Told told;
    co_await hear(line, mine, told, check_result);
    if (comm.is_inter) {
      co_await compare_between(between, mine, told, check_result);
    } else {
      mine.judge(told.given, told.expected, {}, check_result);
    }
  } else {
    co_await tell(line, mine);
  }
  co_await CheckResult::spread(line, check_result);
  exchange.note(line.result());
  exchange.note(between.result());
  exchange.note(check_result.error("what a rank gives another must be what that expects"));
}

}  // namespace fulmar::mpi
