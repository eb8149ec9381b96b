// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>
#include <netdb.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "fabric/process_table.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/interfaces.h"
#include "fulmar/doctor/child.h"
#include "fulmar/doctor/gather.h"
#include "fulmar/doctor/loops.h"

namespace fulmar::doctor {

namespace {

using fabric::tcp::Connector;
using fabric::tcp::LocalAddress;

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t loop_deadline_ns = 3 * second_ns;
constexpr std::uint64_t name_deadline_ns = 5 * second_ns;
/// A host of containers has hundreds of addresses that are all alike.
constexpr std::size_t most_addresses = 64;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// How many loops may run at a time: each takes some descriptors.
std::size_t loops_at_a_time() {
  constexpr std::size_t descriptors = 10;
  constexpr std::size_t most = 16;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return std::clamp<std::size_t>(limit.rlim_cur / (2 * descriptors), 1, most);
}

/// Opens tcp as a job would do it with the present settings.
wire::TcpAddresses open_as_set(NetworkFacts& facts) {
  Connector::Config config;
  config.processes = fabric::one_job({1, 0}, 2);
  config.interfaces = facts.interfaces;
  config.ports = variable("FULMAR_TCP_PORTS");
  config.congestion = variable("FULMAR_TCP_CONGESTION");
  const auto connector = Connector::open(config);
  if (connector.failed()) {
    facts.open_problem = connector.error().text();
    return {};
  }
  const auto told = wire::decode_tcp_addresses(connector.value()->address());
  if (told.failed()) {
    facts.open_problem = told.error().text();
    return {};
  }
  std::set<std::uint16_t> ports;
  for (const wire::TcpAddress& address : told.value().list) {
    ports.insert(address.port);
  }
  facts.listens_at = ports.size() == 1 ? "port " : "ports ";
  facts.listens_at += fmt::format("{}", fmt::join(ports, ", "));
  return told.value();
}

void try_all(std::span<const LocalAddress> addresses, NetworkFacts& facts,
             const Progress& progress) {
  const std::size_t step = loops_at_a_time();
  for (std::size_t begin = 0; begin < addresses.size(); begin += step) {
    const auto part = addresses.subspan(begin, std::min(step, addresses.size() - begin));
    progress(fmt::format("connections to the own addresses {} to {} of {}", begin + 1,
                         begin + part.size(), addresses.size()));
    const std::vector<Loop> loops = try_loops(part, loop_deadline_ns);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      AddressFacts& address = facts.addresses[begin + i];
      address.problem = loops[i].problem;
      address.loop_ms = loops[i].ms;
      address.loop =
          loops[i].problem.empty() ? AddressFacts::Loop::reached : AddressFacts::Loop::failed;
    }
  }
}

/// The addresses of a name, with blanks between them; empty if there are none.
std::string look_up(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &first) != 0) {
    return {};
  }
  std::string text;
  for (const addrinfo* entry = first; entry != nullptr; entry = entry->ai_next) {
    std::array<char, NI_MAXHOST> address{};
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, address.data(), address.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      text += (text.empty() ? "" : " ") + std::string(address.data());
    }
  }
  ::freeaddrinfo(first);
  return text;
}

/// The best that any of the addresses means.
NameFacts::Leads leads_of(const std::string& addresses, std::span<const LocalAddress> own) {
  using Leads = NameFacts::Leads;
  if (addresses.empty()) {
    return Leads::nowhere;
  }
  Leads best = Leads::elsewhere;
  std::size_t at = 0;
  while (at < addresses.size()) {
    const std::size_t end = std::min(addresses.find(' ', at), addresses.size());
    std::string text = addresses.substr(at, end - at);
    at = end + 1;
    const auto address = fabric::tcp::parse_address(text.substr(0, text.find('%')));
    if (!address) {
      continue;
    }
    if (text == "::1" || text.starts_with("127.")) {
      best = Leads::loopback;
      continue;
    }
    const bool here = std::any_of(own.begin(), own.end(), [&](const LocalAddress& local) {
      return local.address.same_place(*address);
    });
    if (here) {
      return Leads::here;
    }
  }
  return best;
}

NameFacts gather_name(std::span<const LocalAddress> own) {
  NameFacts facts;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  facts.name = name.data();
  const std::uint64_t begin_ns = base::now_ns();
  const auto answer = ask_child([&] { return look_up(facts.name); }, name_deadline_ns);
  facts.seconds = static_cast<double>(base::now_ns() - begin_ns) / 1e9;
  facts.addresses = answer.value_or("");
  facts.leads = answer ? leads_of(*answer, own) : NameFacts::Leads::late;
  return facts;
}

}  // namespace

NetworkFacts gather_network(const Progress& progress) {
  NetworkFacts facts;
  facts.interfaces = variable("FULMAR_TCP_INTERFACES");
  const auto hash = base::KeyedHash::load();
  if (hash.ok()) {
    facts.crypto_library = hash.value().library();
  } else {
    facts.crypto_problem = hash.error().text();
  }
  auto found = fabric::tcp::local_addresses();
  if (found.failed()) {
    facts.open_problem = found.error().text();
    return facts;
  }
  std::vector<LocalAddress>& addresses = found.value();
  const wire::TcpAddresses told = open_as_set(facts);
  if (addresses.size() > most_addresses) {
    facts.left_out = addresses.size() - most_addresses;
    addresses.resize(most_addresses);
  }
  for (const LocalAddress& local : addresses) {
    AddressFacts address;
    address.interface = local.interface;
    address.address =
        fmt::format("{}/{}", fabric::tcp::text_of(local.address), local.address.prefix_bits);
    address.kind = local.address.kind;
    address.told =
        std::any_of(told.list.begin(), told.list.end(), [&](const wire::TcpAddress& other) {
          return other.same_place(local.address) && other.scope == local.address.scope;
        });
    facts.addresses.push_back(std::move(address));
  }
  if (hash.ok()) {
    try_all(addresses, facts, progress);
  }
  progress("the name of this host");
  facts.name = gather_name(addresses);
  return facts;
}

}  // namespace fulmar::doctor
