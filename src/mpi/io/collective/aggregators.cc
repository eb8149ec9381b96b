// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/aggregators.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "io/file_system/aggregator_list.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/node_map.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::Result;

using HostName = std::array<char, 256>;

/// By node; empty names where no rule asks for one.
Result<std::vector<std::string>> host_names(Comm& comm,
                                            const std::vector<io::AggregatorRule>& rules) {
  const auto leaders = node_map(comm).leaders();
  std::vector<std::string> names(leaders.size());
  const auto names_a_host = [](const io::AggregatorRule& rule) { return !rule.host.empty(); };
  if (std::ranges::none_of(rules, names_a_host)) return names;
  HostName own{};
  if (::gethostname(own.data(), own.size() - 1) != 0) own[0] = '\0';
  std::vector<HostName> all(static_cast<std::size_t>(comm.size()));
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  const Error error =
      allgather({own.data(), sizeof own, &byte}, {all.data(), sizeof own, &byte}, comm);
  if (error.failed()) return error;
  for (std::size_t node = 0; node < names.size(); ++node) {
    HostName& name = all[static_cast<std::size_t>(leaders[node])];
    name.back() = '\0';
    names[node] = name.data();
  }
  return names;
}

std::vector<int> without_list(Comm& comm, const io::Hints& hints) {
  const auto leaders = node_map(comm).leaders();
  const int count = hints.aggregators != 0 ? std::min(hints.aggregators, comm.size())
                                           : static_cast<int>(leaders.size());
  std::vector<int> ranks(leaders.begin(), leaders.end());
  if (static_cast<std::size_t>(count) <= leaders.size()) {
    ranks.resize(static_cast<std::size_t>(count));
    return ranks;
  }
  ranks.clear();
  for (int i = 0; i < count; ++i) {
    ranks.push_back(static_cast<int>(static_cast<std::int64_t>(i) * comm.size() / count));
  }
  return ranks;
}

}  // namespace

Result<std::vector<int>> choose_aggregators(Comm& comm, const io::Hints& hints) {
  const auto rules = io::parse_aggregator_list(hints.aggregator_list);
  if (!rules) return without_list(comm, hints);
  const Result<std::vector<std::string>> hosts = host_names(comm, *rules);
  if (hosts.failed()) return hosts.error();
  std::vector<int> node_of(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    node_of[static_cast<std::size_t>(rank)] = node_map(comm).node_of(rank);
  }
  std::vector<int> ranks = io::allowed_aggregators(*rules, node_of, hosts.value());
  if (hints.aggregators != 0 && static_cast<std::size_t>(hints.aggregators) < ranks.size()) {
    ranks.resize(static_cast<std::size_t>(hints.aggregators));
  }
  return ranks;
}

}  // namespace fulmar::mpi
