// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/check/collective_check.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

constexpr const char* rule =
    "all ranks of a communicator must make the same collective calls in the same order";

template <std::size_t size>
void set(std::array<char, size>& to, std::string_view text) {
  std::snprintf(to.data(), size, "%.*s", static_cast<int>(text.size()), text.data());
}

std::string_view without_init(std::string_view name) {
  if (name.ends_with("_init")) name.remove_suffix(5);
  return name;
}

bool among_neighbours(std::string_view name) {
  return name.find("eighbor") != std::string_view::npos;
}

/// Whether the amounts of data may differ from rank to rank.
bool counts_differ(std::string_view name) {
  const std::string_view call = without_init(name);
  return call.ends_with('v') || call.ends_with('w') || call.ends_with("educe_scatter") ||
         among_neighbours(call);
}

std::string words_for(const Datatype& type) {
  const BasicType* basic = type.uniform();
  if (basic != nullptr && type.basic != nullptr) return basic->name;
  return "of a type of " + std::to_string(type.size) + " bytes";
}

/// How many are printed; more do not fit into a line.
std::string words_for(const CountArray& counts, std::size_t number) {
  constexpr std::size_t most = 8;
  std::string words;
  for (std::size_t i = 0; i < std::min(number, most); ++i) words += " " + std::to_string(counts[i]);
  return number > most ? words + " ..." : words;
}

}  // namespace

CollectiveCall::CollectiveCall(const char* name) noexcept {
  std::string_view text = name;
  if (text.ends_with("_c")) text.remove_suffix(2);
  set(body_.name, text);
  body_.bytes = -1;
  body_.root = no_root;
}

void CollectiveCall::add_op(const Op& op) noexcept { set(body_.op, op.name); }

void CollectiveCall::add_words(const std::string& words) noexcept {
  const std::string before = body_.data.data();
  set(body_.data, before.empty() ? words : before + ", " + words);
}

void CollectiveCall::refuse(const std::string& text) noexcept {
  set(body_.data, text);
  body_.unfit = has_wrong_arguments;
}

void CollectiveCall::add_data(Count count, const Datatype& type) noexcept {
  const BasicType* basic = count == 0 ? nullptr : element_of(type);
  if (counts_differ(body_.name.data())) {
    // mpi/coll/check/count_check.h compares them.
  } else if (body_.bytes < 0) {
    body_.bytes = count * type.size;
    if (basic != nullptr) set(body_.type, basic->name);
  } else if (body_.bytes != count * type.size) {
    body_.unfit = gives_other_than_expected;
  } else if (basic != nullptr && body_.type[0] != '\0' &&
             basic->name != std::string_view(body_.type.data())) {
    body_.unfit = gives_other_type;
  }
  if (given_ < 0) given_ = count * type.size;
  add_words(std::to_string(count) + " " + words_for(type));
}

bool CollectiveCall::has_common_parts() const noexcept {
  const std::string_view call = without_init(body_.name.data());
  return call.ends_with("educe_scatter") ||
         (call.ends_with("llgatherv") && !among_neighbours(call));
}

/// The bytes of a part are the same in all ranks, its elements need not be: the types may differ
/// where their signatures match.
void CollectiveCall::add_parts(const CountArray& counts, const Datatype& type,
                               const Comm& comm) noexcept {
  if (counts.is_null()) return;
  constexpr std::uint64_t fnv_prime = 0x100000001b3;
  const bool reduces = without_init(body_.name.data()).ends_with("educe_scatter");
  // A gather call lists the parts of the ranks that send to this group.
  const auto number = static_cast<std::size_t>(reduces ? comm.size() : comm.remote_size);
  Count total = 0;
  body_.parts = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < number; ++i) {
    total += counts[i];
    body_.parts = (body_.parts ^ static_cast<std::uint64_t>(counts[i] * type.size)) * fnv_prime;
  }
  body_.bytes = total * type.size;
  if (!reduces && !comm.is_inter && given_ >= 0) {
    const bool fits = given_ == counts[static_cast<std::size_t>(comm.rank)] * type.size;
    body_.unfit = fits ? 0 : gives_other_than_part;
  }
  const BasicType* basic = element_of(type);
  if (basic != nullptr && total != 0) set(body_.type, basic->name);
  add_words(std::to_string(total) + " " + words_for(type) + " in parts of" +
            words_for(counts, number));
}

/// "MPI_Reduce(root 0, 4 MPI_INT, MPI_SUM)"
std::string CollectiveCall::text_of(const Body& body) {
  std::string inside;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    if (!inside.empty()) inside += ", ";
    inside += part;
  };
  if (body.root == MPI_ROOT) {
    add("root MPI_ROOT");
  } else if (body.root == MPI_PROC_NULL) {
    add("root MPI_PROC_NULL");
  } else if (body.root != no_root) {
    add("root " + std::to_string(body.root));
  }
  add(body.data.data());
  add(body.op.data());
  return std::string(body.name.data()) + "(" + inside + ")";
}

ErrorClass CollectiveCall::difference(const Body& a, const Body& b) noexcept {
  if (a.name != b.name) return ErrorClass::other;
  if (a.root != b.root) return ErrorClass::root;
  if (a.op != b.op) return ErrorClass::op;
  if (a.bytes < 0 || b.bytes < 0) return ErrorClass::success;
  if (a.bytes != b.bytes || a.parts != b.parts) return ErrorClass::count;
  if (a.type[0] != '\0' && b.type[0] != '\0' && a.type != b.type) return ErrorClass::type;
  return ErrorClass::success;
}

/// For ranks of different groups: each group has its own amount of data and its own view of the
/// root, and arguments of ranks without a part in a rooted call are not compared.
ErrorClass CollectiveCall::difference_between(const Body& a, const Body& b) noexcept {
  if (a.name != b.name) return ErrorClass::other;
  if (a.root == MPI_PROC_NULL || b.root == MPI_PROC_NULL) return ErrorClass::success;
  return a.op != b.op ? ErrorClass::op : ErrorClass::success;
}

bool CollectiveCall::judge_arguments(std::span<const Body> calls, const char* group,
                                     CheckResult& check_result) {
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    if (calls[rank].unfit != has_wrong_arguments) continue;
    check_result.refuse(ErrorClass::other, "rank " + std::to_string(rank) + group + " called " +
                                               calls[rank].name.data() +
                                               " with a wrong argument (" +
                                               calls[rank].data.data() + ")");
    return true;
  }
  return false;
}

/// The first rank whose call does not fit that of rank 0, or does not fit in itself.
void CollectiveCall::judge(std::span<const Body> calls, CheckResult& check_result) {
  if (judge_arguments(calls, "", check_result)) return;
  for (std::size_t rank = 1; rank < calls.size(); ++rank) {
    const ErrorClass wrong = difference(calls.front(), calls[rank]);
    if (wrong == ErrorClass::success) continue;
    return check_result.refuse(wrong, "rank " + std::to_string(rank) + " called " +
                                          text_of(calls[rank]) + " where rank 0 called " +
                                          text_of(calls.front()));
  }
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    const std::int32_t unfit = calls[rank].unfit;
    if (unfit == 0) continue;
    const bool wrong_type = unfit == gives_other_type;
    const char* what = wrong_type ? "another type" : "another amount";
    const char* than = unfit == gives_other_than_part ? "its part has" : "it expects";
    return check_result.refuse(wrong_type ? ErrorClass::type : ErrorClass::count,
                               "rank " + std::to_string(rank) + " called " + text_of(calls[rank]) +
                                   " and gives " + what + " than " + than);
  }
}

/// Exactly one process passes MPI_ROOT; the others of its group pass MPI_PROC_NULL, and the other
/// group its rank.
void CollectiveCall::check_roots(std::span<const Body> first, std::span<const Body> second,
                                 CheckResult& check_result) {
  int roots = 0;
  for (const std::span<const Body> group : {first, second}) {
    const std::span<const Body> others = group.data() == first.data() ? second : first;
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
      if (group[rank].root != MPI_ROOT) continue;
      ++roots;
      for (const Body& other : others) {
        if (other.root == static_cast<std::int32_t>(rank)) continue;
        check_result.refuse(ErrorClass::root, "a rank called " + text_of(other) + " where rank " +
                                                  std::to_string(rank) +
                                                  " of the other group called " +
                                                  text_of(group[rank]));
      }
    }
  }
  if (roots == 1) return;
  check_result.refuse(ErrorClass::root,
                      std::to_string(roots) + " ranks called " + first.front().name.data() +
                          " with root MPI_ROOT, where exactly one rank of the two groups must");
}

void CollectiveCall::judge_between(std::span<const Body> first, std::span<const Body> second,
                                   CheckResult& check_result) {
  if (judge_arguments(first, "", check_result)) return;
  if (judge_arguments(second, " of the other group", check_result)) return;
  const Body& model = first.front();
  for (const std::span<const Body> group : {first, second}) {
    const bool own = group.data() == first.data();
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
      ErrorClass wrong = difference_between(model, group[rank]);
      // Within a group all send as much, except the root.
      const bool alike =
          group[rank].root == group.front().root && group[rank].root != MPI_PROC_NULL;
      if (wrong == ErrorClass::success && alike) wrong = difference(group.front(), group[rank]);
      if (wrong == ErrorClass::success) continue;
      const bool beside = group[rank].name == model.name && !own;
      return check_result.refuse(wrong, "rank " + std::to_string(rank) +
                                            (own ? "" : " of the other group") + " called " +
                                            text_of(group[rank]) + " where rank 0 called " +
                                            text_of(beside ? group.front() : model));
    }
  }
  if (model.root != no_root) check_roots(first, second, check_result);
}

/// To rank 0, which has its own already.
CollTask CollectiveCall::collect(CollContext& exchange, std::span<Body> calls) {
  const Datatype& byte = exchange.byte_type();
  if (exchange.rank() != 0) {
    co_await exchange.send({calls.data(), sizeof(Body), &byte}, 0);
    co_return;
  }
  for (int rank = 1; rank < exchange.size(); ++rank) {
    Body& theirs = calls[static_cast<std::size_t>(rank)];
    co_await exchange.receive({&theirs, sizeof(Body), &byte}, rank);
    theirs.name.back() = theirs.op.back() = theirs.type.back() = theirs.data.back() = '\0';
  }
}

CollTask CollectiveCall::compare_within(CollContext& exchange, const CollectiveCall& call) {
  std::vector<Body> calls(exchange.rank() == 0 ? static_cast<std::size_t>(exchange.size()) : 1);
  calls.front() = call.body_;
  co_await collect(exchange, calls);
  CheckResult check_result;
  if (exchange.rank() == 0) judge(calls, check_result);
  co_await CheckResult::spread(exchange, check_result);
  exchange.note(check_result.error(rule));
}

CollTask CollectiveCall::compare_between(CollContext& exchange, const CollectiveCall& call) {
  const Comm& comm = exchange.comm();
  const Datatype& byte = exchange.byte_type();
  CollContext inside(*comm.local_comm, comparing_channel, exchange.tag());
  std::vector<Body> ours(static_cast<std::size_t>(exchange.rank() == 0 ? exchange.size() : 1));
  ours.front() = call.body_;
  co_await collect(inside, ours);
  CheckResult check_result;
  if (exchange.rank() == 0) {
    std::vector<Body> theirs(static_cast<std::size_t>(comm.remote_size));
    const ConstData told{ours.data(), static_cast<Count>(ours.size() * sizeof(Body)), &byte};
    const Data heard{theirs.data(), static_cast<Count>(theirs.size() * sizeof(Body)), &byte};
    co_await exchange.send_receive(told, 0, heard, 0);
    // Both leaders must find the same: the group of the process with the lower number comes first.
    if (comm.device->config().self < comm.routes.front().peer) {
      judge_between(ours, theirs, check_result);
    } else {
      judge_between(theirs, ours, check_result);
    }
  }
  co_await CheckResult::spread(inside, check_result);
  exchange.note(inside.result());
  exchange.note(check_result.error(rule));
}

Error CollectiveCall::compare(Comm& comm) {
  // The tag that the call will take.
  const auto tag = static_cast<int>(comm.collective_calls & (largest_tag >> 1));
  CollContext exchange(comm, comparing_channel, tag);
  const Error error = exchange.run(comm.is_inter ? compare_between(exchange, *this)
                                                 : compare_within(exchange, *this));
  // The call itself is not made; where the others' call is non-blocking, they have taken a tag.
  if (error.failed()) ++comm.collective_calls;
  return error;
}

CollTask CollectiveCall::compare_first(CollContext& exchange, const CollectiveCall& call) {
  CollContext line(exchange.comm(), comparing_channel, exchange.tag());
  if (line.comm().is_inter) {
    co_await compare_between(line, call);
  } else {
    co_await compare_within(line, call);
  }
  exchange.note(line.result());
}

}  // namespace fulmar::mpi
