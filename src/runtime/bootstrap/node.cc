// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/node.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/os/processors.h"
#include "runtime/bootstrap/segment_server.h"
#include "wire/node/job.h"
#include "wire/node/job_file.h"

namespace fulmar::runtime::bootstrap {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

// Keys in the launcher's space.
constexpr const char* key_machine = "machine";
constexpr const char* key_job = "job";
constexpr const char* key_card = "card";
constexpr const char* key_members = "members";
constexpr const char* key_alone = "alone";
constexpr const char* none_alone = "-";  ///< value of `key_alone`
/// Up to so many nodes every rank reads the members of each.
constexpr std::ptrdiff_t few_nodes = 4;

Result<wire::JobInfo> make_job_card() {
  wire::JobInfo card;
  if (::getrandom(&card.job_id, sizeof card.job_id, 0) != sizeof card.job_id ||
      ::getrandom(card.key.data(), card.key.size(), 0) != static_cast<ssize_t>(card.key.size())) {
    return failure(ErrorClass::other, "getrandom: %s", std::strerror(errno));
  }
  card.job_id = std::max<std::uint32_t>(card.job_id, 1);
  return card;
}

/// Equal for processes that can connect through an abstract socket: of one boot of one kernel, in
/// one network name space, of one user.
std::string machine_name() {
  std::string boot = base::read_small_file("/proc/sys/kernel/random/boot_id");
  std::erase_if(boot, [](char letter) { return letter <= ' '; });
  struct stat net{};
  if (::stat("/proc/self/ns/net", &net) != 0) net.st_ino = 0;
  if (boot.empty()) {
    char host[256] = {};
    (void)::gethostname(host, sizeof host - 1);
    boot = host;
  }
  return "m." + boot + "." + std::to_string(net.st_ino) + "." + std::to_string(::geteuid());
}

/// Where the launcher does not report which ranks are on one node, the ranks find out.
Result<std::vector<std::uint32_t>> nodes_by_machine(Bootstrap& bootstrap) {
  Error error = bootstrap.publish(key_machine, machine_name());
  if (error.ok()) error = bootstrap.fence();
  if (error.failed()) return error;
  std::map<std::string, std::uint32_t> machines;
  std::vector<std::uint32_t> node_of;
  for (std::uint32_t rank = 0; rank < bootstrap.size(); ++rank) {
    auto name = bootstrap.lookup(rank, key_machine);
    if (name.failed()) return name.error();
    const auto next = static_cast<std::uint32_t>(machines.size());
    node_of.push_back(machines.try_emplace(std::move(*name), next).first->second);
  }
  return node_of;
}

Error other_ranks(std::uint32_t leader) {
  return failure(
      ErrorClass::other,
      "rank %u names other ranks of its node than the launcher does; start the job again", leader);
}

/// The launcher's nodes, as lists of ranks in the order of their lowest ones.
std::vector<std::vector<std::uint32_t>> group(const std::vector<std::uint32_t>& node_of) {
  std::map<std::uint32_t, std::size_t> place;
  std::vector<std::vector<std::uint32_t>> nodes;
  for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) {
    const auto [entry, is_new] = place.try_emplace(node_of[rank], nodes.size());
    if (is_new) nodes.emplace_back();
    nodes[entry->second].push_back(rank);
  }
  return nodes;
}

wire::RankInfo own_info(const Bootstrap& bootstrap) {
  wire::RankInfo info;
  info.rank = bootstrap.rank();
  info.appnum = static_cast<std::uint32_t>(bootstrap.appnum());
  const auto processors = base::allowed_processors();
  info.processor_count = static_cast<std::uint32_t>(processors.size());
  for (const std::uint32_t id : processors) {
    if (id / 64 < info.processor_mask.size()) {
      info.processor_mask[id / 64] |= std::uint64_t{1} << id % 64;
    }
  }
  return info;
}

/// Processors that the ranks together may run on; those beyond the masks count as shared.
std::uint32_t count_processors(std::span<const wire::RankInfo> infos) {
  decltype(wire::RankInfo::processor_mask) together{};
  std::uint32_t beyond = 0;
  for (const wire::RankInfo& info : infos) {
    std::uint32_t inside = 0;
    for (std::size_t i = 0; i < together.size(); ++i) {
      inside += static_cast<std::uint32_t>(std::popcount(info.processor_mask[i]));
      together[i] |= info.processor_mask[i];
    }
    if (info.processor_count > inside) beyond = std::max(beyond, info.processor_count - inside);
  }
  std::uint32_t count = beyond;
  for (const std::uint64_t word : together)
    count += static_cast<std::uint32_t>(std::popcount(word));
  return std::max(count, 1U);
}

/// A rank whose mask covers all usable processors counts as unbound.
void fill_record(wire::RankRecord& record, const wire::RankInfo& info, std::uint32_t processors) {
  record.rank = info.rank;
  record.appnum = info.appnum;
  record.state.store(static_cast<std::uint32_t>(wire::RankState::started),
                     std::memory_order_release);
  if (info.processor_count >= processors) return;
  record.core_count = info.processor_count;
  record.core_mask = info.processor_mask;
  for (std::uint32_t i = 0; i < record.core_mask.size(); ++i) {
    if (record.core_mask[i] == 0) continue;
    record.first_core = i * 64 + static_cast<std::uint32_t>(std::countr_zero(record.core_mask[i]));
    return;
  }
}

Result<base::UniqueFd> make_segment(const wire::JobInfo& job,
                                    std::span<const wire::RankInfo> infos) {
  const auto ranks = static_cast<std::uint32_t>(infos.size());
  auto file = wire::make_job_file(ranks, wire::area_bytes_for(ranks));
  if (file.failed()) return file.error();
  wire::JobPlan plan;
  plan.rank_count = ranks;
  plan.core_count = count_processors(infos);
  plan.flags = ranks > plan.core_count ? wire::job_flag_oversubscribed : 0;
  plan.job_id = job.job_id;
  plan.job_key = job.key;
  plan.mpiexec_pid = ::getppid();
  plan.area_bytes = file->area_bytes;
  const std::size_t bytes = wire::control_bytes_for(ranks);
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd.get(), 0);
  if (start == MAP_FAILED) {
    return failure(ErrorClass::no_mem, "cannot map %zu bytes of the node's shared memory: %s",
                   bytes, std::strerror(errno));
  }
  const auto made = wire::format_job({static_cast<std::byte*>(start), bytes}, plan);
  for (std::uint32_t i = 0; made.ok() && i < ranks; ++i) {
    fill_record(made.value().records[i], infos[i], plan.core_count);
  }
  ::munmap(start, bytes);
  if (made.failed()) return made.error();
  return std::move(file->fd);
}

/// How a rank joins its node; the steps in order.
class Meeting {
 public:
  explicit Meeting(Bootstrap& bootstrap) : bootstrap_(bootstrap), self_(bootstrap.rank()) {}

  Result<Node> run() {
    Error error = find_groups();
    if (error.ok()) error = publish_cards();
    if (error.ok()) error = bootstrap_.fence();
    if (error.ok()) error = read_job_card();
    if (error.ok()) error = leads() ? open_segment_server() : visit();
    if (error.ok()) error = bootstrap_.fence();
    if (error.ok()) error = leads() ? share() : take_share();
    if (error.ok()) error = agree_on_nodes();
    if (error.failed()) return error;
    return std::move(node_);
  }

 private:
  [[nodiscard]] const std::vector<std::uint32_t>& expected() const { return groups_[own_group_]; }
  [[nodiscard]] std::uint32_t leader() const { return expected().front(); }
  [[nodiscard]] bool leads() const { return leader() == self_; }

  Error find_groups() {
    auto nodes = bootstrap_.launcher_nodes();
    if (nodes.ok() && nodes->size() != bootstrap_.size()) nodes = nodes_by_machine(bootstrap_);
    if (nodes.failed()) return nodes.error();
    groups_ = group(nodes.value());
    while (!std::binary_search(expected().begin(), expected().end(), self_)) ++own_group_;
    return {};
  }

  Error publish_cards() {
    if (self_ == 0) {
      const auto job = make_job_card();
      if (job.failed()) return job.error();
      const Error error = publish_bytes(bootstrap_, key_job, wire::encode(job.value()));
      if (error.failed()) return error;
    }
    if (!leads() || expected().size() == 1) return {};
    auto server = SegmentServer::make();
    if (server.failed()) return server.error();
    server_ = std::move(*server);
    return publish_bytes(bootstrap_, key_card, wire::encode(server_->card()));
  }

  Error read_job_card() {
    const auto bytes = lookup_bytes(bootstrap_, 0, key_job);
    if (bytes.failed()) return bytes.error();
    const auto card = wire::decode_job_card(bytes.value());
    if (card.failed()) return card.error();
    node_.job = card.value();
    return {};
  }

  Error open_segment_server() {
    return server_ == nullptr ? Error{} : server_->open(node_.job.job_id, self_, expected());
  }

  Error visit() {
    const auto bytes = lookup_bytes(bootstrap_, leader(), key_card);
    if (bytes.failed()) return bytes.error();
    const auto card = wire::decode_node_card(bytes.value());
    if (card.failed()) return card.error();
    auto socket = request_segment(card.value(), leader(), node_.job.job_id, own_info(bootstrap_));
    if (socket.failed()) return socket.error();
    socket_ = std::move(*socket);
    return {};
  }

  Error share() {
    std::vector<SegmentServer::Client> clients;
    if (server_ != nullptr) clients = server_->close();
    server_.reset();
    std::vector<wire::RankInfo> infos = {own_info(bootstrap_)};  // the lowest
    for (const SegmentServer::Client& client : clients) infos.push_back(client.info);
    if (const Error error = make_own_segment(infos); error.failed()) return error;
    for (const SegmentServer::Client& client : clients) {
      const Error error = send_segment(client.socket.get(), node_.segment.get(), node_.members);
      if (error.failed()) return error;
    }
    return {};
  }

  Error take_share() {
    if (!socket_.valid()) {  // out of the leader's reach
      return make_own_segment({{own_info(bootstrap_)}});
    }
    auto granted = receive_grant(socket_.get(), leader(), bootstrap_.size());
    if (granted.failed()) return granted.error();
    socket_.reset();
    node_.segment = std::move(granted->segment);
    node_.members = std::move(granted->members);
    const auto& members = node_.members;
    const bool ascending =
        std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end();
    const auto& all = expected();
    if (ascending && std::includes(all.begin(), all.end(), members.begin(), members.end()) &&
        std::binary_search(members.begin(), members.end(), self_)) {
      return {};
    }
    return other_ranks(leader());
  }

  Error make_own_segment(const std::vector<wire::RankInfo>& infos) {
    for (const wire::RankInfo& info : infos) node_.members.push_back(info.rank);
    auto segment = make_segment(node_.job, infos);
    if (segment.failed()) return segment.error();
    node_.segment = std::move(*segment);
    return {};
  }

  /// Not needed where there is only one node with all ranks, which all its ranks know. Where there
  /// are many nodes, rank 0 alone reads all lists of members, and publishes where they differ from
  /// the launcher's: each rank looks up one value, and not one for each node.
  Error agree_on_nodes() {
    node_.node_of.assign(bootstrap_.size(), 0);
    if (groups_.size() == 1 && node_.members.size() == expected().size()) return {};
    Error error;
    if (leads()) error = bootstrap_.publish(key_members, wire::encode_ranks(node_.members));
    if (error.ok()) error = bootstrap_.fence();
    if (error.failed()) return error;
    const auto shared =
        std::ranges::count_if(groups_, [](const auto& ranks) { return ranks.size() > 1; });
    auto alone = shared > few_nodes ? read_summary() : read_members();
    if (alone.failed()) return alone.error();
    number_nodes(alone.value());
    return {};
  }

  /// The ranks that are not on the node where the launcher sees them, ascending: each is alone.
  Result<std::vector<std::uint32_t>> read_members() {
    std::vector<std::uint32_t> alone;
    for (const auto& ranks : groups_) {
      if (ranks.size() == 1) continue;
      const auto text = bootstrap_.lookup(ranks.front(), key_members);
      if (text.failed()) return text.error();
      const auto members = wire::decode_ranks(text.value(), bootstrap_.size());
      if (members.failed()) return members.error();
      if (!std::ranges::includes(ranks, members.value())) return other_ranks(ranks.front());
      std::ranges::set_difference(ranks, members.value(), std::back_inserter(alone));
    }
    std::ranges::sort(alone);
    return alone;
  }

  Result<std::vector<std::uint32_t>> read_summary() {
    Error error;
    if (self_ == 0) {
      const auto alone = read_members();
      if (alone.failed()) return alone.error();
      const std::string text =
          alone.value().empty() ? none_alone : wire::encode_ranks(alone.value());
      error = publish_bytes(bootstrap_, key_alone, std::as_bytes(std::span(text)));
    }
    if (error.ok()) error = bootstrap_.fence();
    if (error.failed()) return error;
    auto bytes = lookup_bytes(bootstrap_, 0, key_alone);
    if (bytes.failed()) return bytes.error();
    const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (text == none_alone) return std::vector<std::uint32_t>();
    return wire::decode_ranks(text, bootstrap_.size());
  }

  /// By their lowest ranks.
  void number_nodes(std::span<const std::uint32_t> alone) {
    std::vector<std::uint32_t> lowest(bootstrap_.size());  // rank of each rank's node
    for (const auto& ranks : groups_) {
      for (const std::uint32_t rank : ranks) {
        const bool is_alone = std::ranges::binary_search(alone, rank);
        lowest[rank] = is_alone ? rank : ranks.front();
      }
    }
    node_.node_count = 0;
    for (std::uint32_t rank = 0; rank < lowest.size(); ++rank) {
      node_.node_of[rank] = lowest[rank] == rank ? node_.node_count++ : node_.node_of[lowest[rank]];
    }
  }

  Bootstrap& bootstrap_;
  std::uint32_t self_;
  std::vector<std::vector<std::uint32_t>> groups_;  ///< of ranks, as the launcher sees them
  std::size_t own_group_ = 0;
  std::unique_ptr<SegmentServer> server_;  ///< of a leader of several
  base::UniqueFd socket_;                  ///< of a rank that was welcomed
  Node node_;
};

}  // namespace

Result<Node> form_node(Bootstrap& bootstrap) { return Meeting(bootstrap).run(); }

}  // namespace fulmar::runtime::bootstrap
