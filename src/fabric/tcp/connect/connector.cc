// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/connector.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/routes.h"
#include "fabric/tcp/connect/socket_options.h"

namespace fulmar::fabric::tcp {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// A step() that comes later than this after it was due stands for a process that was busy.
constexpr std::uint64_t lateness_ns = 100'000'000;
constexpr std::uint64_t silence_line_ns = 60'000'000'000;
/// The side that did not begin lane 0 leaves the others to the side that did, for so long.
constexpr std::uint64_t courtesy_ns = 1'000'000'000;
/// Of the 511 bytes of an error text.
constexpr std::size_t list_bytes = 400;
/// Of a line that is reported in addition.
constexpr std::size_t line_bytes = 2000;

std::uint64_t key_of(std::uint32_t peer, std::uint16_t lane) {
  return std::uint64_t{peer} << 16 | lane;
}

/// Trying again makes sense after everything but this. (An IPv6 address cannot be used for some
/// seconds after its interface has come up, EADDRNOTAVAIL.)
Search::Hope hope_after(int problem) {
  return problem == ECONNREFUSED || problem == EAFNOSUPPORT || problem == EINVAL
             ? Search::Hope::gone
             : Search::Hope::left;
}

}  // namespace

Connector::Connector(Config config, base::KeyedHash hash, Links links)
    : config_(std::move(config)),
      identity_{hash, config_.processes},
      log_(config_.report, config_.owner),
      host_(host_identity()),
      links_(std::move(links)) {}

base::Result<std::unique_ptr<Connector>> Connector::open(Config config) {
  auto hash = base::KeyedHash::load();
  if (hash.failed()) return hash.error();
  auto choice = InterfaceChoice::parse(config.interfaces);
  if (choice.failed()) return choice.error();
  auto links = Links::open();
  if (links.failed()) return links.error();
  std::unique_ptr<Connector> connector(new Connector(std::move(config), *hash, std::move(*links)));
  if (Error error = connector->start(*choice); error.failed()) return error;
  return connector;
}

Error Connector::start(const InterfaceChoice& choice) {
  auto ports = PortRange::parse(config_.ports);
  if (ports.failed()) return ports.error();
  auto congestion = CongestionControl::choose(config_.congestion);
  if (congestion.failed()) return congestion.error();
  congestion_ = std::move(*congestion);
  auto all = local_addresses();
  if (all.failed()) return all.error();
  all_ = std::move(*all);
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(used_),
               [&](const LocalAddress& local) { return choice.takes(local); });
  if (all_.empty()) {
    return failure(ErrorClass::other,
                   "this host has no address that is up; bring an interface up (ip link, ip "
                   "address), also lo for jobs on this host alone");
  }
  if (used_.empty()) {
    return failure(ErrorClass::arg,
                   "FULMAR_TCP_INTERFACES=%s leaves no address of this host; it has %s",
                   config_.interfaces.c_str(), text_of(all_).c_str());
  }
  const auto preferred = InterfaceChoice::parse(config_.preferred);
  if (preferred.failed()) return preferred.error();
  std::stable_partition(used_.begin(), used_.end(), [&](const LocalAddress& local) {
    return preferred.value().chosen() && preferred.value().takes(local) &&
           local.address.kind == wire::AddressKind::ordinary;
  });
  if (choice.chosen()) source_ = Source::chosen;
  auto listening = listen_on(used_, choice.chosen() ? Reach::used_only : Reach::everywhere, *ports);
  if (listening.failed()) return listening.error();
  listening_ = std::move(*listening);
  for (std::size_t i = 0; i < listening_.sockets.size(); ++i) {
    congestion_.apply(listening_.sockets[i].socket.get());
    if (!links_.add_listener(listening_.sockets[i].socket.get(), i)) {
      return failure(ErrorClass::other, "epoll_ctl: %s", std::strerror(errno));
    }
  }
  return {};
}

std::vector<std::byte> Connector::address() const {
  std::vector<wire::TcpAddress> told = listening_.places;
  if (told.size() > config_.most_addresses) told.resize(config_.most_addresses);
  return wire::encode_tcp_addresses({host_, std::move(told)});
}

/// The inner clock: it stands still while step() is due and not called.
std::uint64_t Connector::attend() noexcept {
  const std::uint64_t outer =
      config_.clock == nullptr ? base::now_ns() : config_.clock(config_.owner);
  const std::uint64_t now = outer - missed_ns_;
  if (due_ns_ == Search::never || now <= due_ns_ + lateness_ns) return now;
  missed_ns_ += now - due_ns_ - lateness_ns;
  return due_ns_ + lateness_ns;
}

std::int64_t Connector::next_deadline_ns() const noexcept {
  if (due_ns_ == Search::never) return -1;
  return static_cast<std::int64_t>(due_ns_ + missed_ns_);
}

void Connector::connect(std::uint32_t peer, std::span<const std::byte> blob, unsigned lanes) {
  const std::uint64_t now = attend();
  due_ns_ = std::min(due_ns_, now);
  const ProcessTable& processes = *config_.processes;
  if (peer == processes.self() || peer >= processes.size() || lanes == 0 || lanes > max_lanes) {
    return fail(peer, 0,
                failure(ErrorClass::intern, "connecting process %u of %u to process %u by %u lanes",
                        processes.self(), processes.size(), peer, lanes));
  }
  const auto addresses = wire::decode_tcp_addresses(blob);
  Ways ways;
  if (addresses.ok()) ways = ways_to(addresses.value(), {host_, all_, used_, source_});
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint64_t bit = std::uint64_t{1} << lane;
    const auto number = static_cast<std::uint16_t>(lane);
    const auto known = peers_.find(peer);
    if (known != peers_.end() && (known->second.taken & bit) != 0) continue;
    if (search_of(peer, number) != nullptr) continue;
    if (addresses.failed()) {
      peers_[peer].given_up |= bit;
      fail(peer, lane, addresses.error());
    } else if (known != peers_.end() && (known->second.given_up & bit) != 0) {
      fail(peer, lane, failure(ErrorClass::other, "connecting to rank %u has failed before", peer));
    } else {
      begin_lane(peer, number, ways, now);
    }
  }
}

void Connector::forget(std::uint32_t peer) noexcept {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return;
  known->second.taken = 0;
  if (known->second.chosen == 0 && known->second.given_up == 0) peers_.erase(known);
}

bool Connector::connects(std::uint32_t peer) noexcept {
  const auto search = searches_.lower_bound(key_of(peer, 0));
  if (search != searches_.end() && search->second.peer() == peer) return true;
  return std::ranges::any_of(links_.accepted(), [&](const Link& guest) {
    return guest.stage == Link::Stage::talking && guest.talk->heard() && guest.talk->peer() == peer;
  });
}

void Connector::readmit(std::uint32_t peer) noexcept {
  const auto known = peers_.find(peer);
  if (known != peers_.end()) known->second.taken = known->second.given_up = 0;
}

void Connector::forget_all() noexcept {
  for (auto& [number, peer] : peers_) peer.taken = peer.given_up = 0;
}

void Connector::begin_lane(std::uint32_t peer, std::uint16_t lane, const Ways& ways,
                           std::uint64_t now_ns) {
  const auto place = searches_.try_emplace(key_of(peer, lane), peer, lane, ways).first;
  Search& search = place->second;
  const bool way_is_known = lane != 0 && (peers_[peer].taken & 1) != 0;
  if (lane == 0) {
    // A busy peer answers late: the network that others use beside this one would be ahead then.
    if (!config_.preferred.empty()) search.prefer_first();
    search.start(now_ns, now_ns + config_.deadline_ns);
    call_due(search, now_ns);
  } else if (way_is_known) {
    search.start(now_ns + courtesy_ns, now_ns + courtesy_ns + config_.deadline_ns);
  }
}

void Connector::open_other_lanes(std::uint32_t peer, std::uint64_t begin_ns, const Endpoint* way) {
  for (auto place = searches_.lower_bound(key_of(peer, 0));
       place != searches_.end() && place->second.peer() == peer; ++place) {
    Search& search = place->second;
    if (search.started()) continue;
    if (way != nullptr) search.prefer(*way);
    const std::uint64_t begin = begin_ns + (way == nullptr ? courtesy_ns : 0);
    search.start(begin, begin + config_.deadline_ns);
    due_ns_ = std::min(due_ns_, begin);
  }
}

void Connector::step(std::vector<Event>& events) {
  const std::uint64_t now = attend();
  std::array<epoll_event, 64> ready;
  const int count =
      ::epoll_wait(links_.descriptor(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t token = ready[static_cast<std::size_t>(i)].data.u64;
    if ((token & Links::listener_bit) != 0) {
      accept_some(token & ~Links::listener_bit, now);
    } else if (Link* const link = links_.find(token); link != nullptr) {
      on_event(*link, now);
    }
  }
  run_timers(now);
  due_ns_ = earliest_timer();
  events.insert(events.end(), pending_.begin(), pending_.end());
  pending_.clear();
}

std::uint64_t Connector::earliest_timer() noexcept {
  std::uint64_t due = next_guest_timer();
  const bool can_call = links_.has_place(Link::Side::called);
  for (const auto& [key, search] : searches_) {
    if (can_call) due = std::min(due, search.next_due_ns());
    std::uint64_t end = search.deadline_ns();
    if (search.in_overtime()) {
      const bool endless = config_.answer_deadline_ns == 0;
      end = endless ? (search.silence_reported ? Search::never : end + silence_line_ns)
                    : end + config_.answer_deadline_ns;
    }
    due = std::min(due, end);
  }
  return due;
}

void Connector::run_timers(std::uint64_t now_ns) {
  expire_guests(now_ns);
  listen_again(now_ns);
  // Giving up lane 0 gives up the others of the peer, so the next one is found by its key.
  for (auto place = searches_.begin(); place != searches_.end();) {
    const LaneKey key = place->first;
    call_due(place->second, now_ns);
    check_deadline(place->second, now_ns);
    place = searches_.upper_bound(key);
  }
}

void Connector::call_due(Search& search, std::uint64_t now_ns) {
  while (links_.has_place(Link::Side::called)) {
    const auto attempt = search.take_due(now_ns);
    if (!attempt) return;
    call(search, *attempt, now_ns);
  }
}

void Connector::call(Search& search, std::size_t attempt, std::uint64_t now_ns) {
  Search::Try& plan = search.tries()[attempt];
  const Way& way = plan.way;
  base::UniqueFd socket(
      ::socket(way.to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.valid() && (errno == EMFILE || errno == ENFILE)) {
    plan.outcome = "no descriptor is left (ulimit -n)";
    return search.put_back(attempt, now_ns + Search::first_pause_ns);
  }
  const auto problem = [&] {
    search.failed(attempt, now_ns, hope_after(errno), std::strerror(errno));
  };
  if (!socket.valid()) return problem();
  const std::uint64_t left = search.deadline_ns() - std::min(search.deadline_ns(), now_ns);
  prepare_socket(socket.get(),
                 static_cast<std::uint32_t>(std::max<std::uint64_t>(left / 1'000'000, 1000)));
  congestion_.apply(socket.get());
  if (way.from && ::bind(socket.get(), way.from->get(), way.from->size()) != 0) return problem();
  const bool begun = ::connect(socket.get(), way.to.get(), way.to.size()) == 0;
  if (!begun && errno != EINPROGRESS) return problem();
  Link* const link = links_.place(Link::Side::called);
  link->peer = search.peer();
  link->lane = search.lane();
  link->attempt = attempt;
  if (!links_.begin(*link, std::move(socket), Link::Stage::connecting, now_ns)) return problem();
  plan.link = link;
}

void Connector::check_deadline(Search& search, std::uint64_t now_ns) {
  if (search.exhausted()) return give_up(search);
  if (now_ns < search.deadline_ns()) return;
  const auto& tries = search.tries();
  const auto answered = std::find_if(tries.begin(), tries.end(), [](const Search::Try& attempt) {
    return attempt.link != nullptr && attempt.link->stage == Link::Stage::talking;
  });
  const std::uint64_t late = now_ns - search.deadline_ns();
  const bool too_late = config_.answer_deadline_ns != 0 && late >= config_.answer_deadline_ns;
  if (answered == tries.end() || too_late) return give_up(search);
  search.enter_overtime();
  if (late < silence_line_ns || search.silence_reported) return;
  search.silence_reported = true;
  if (config_.report == nullptr) return;
  const std::string line = "tcp: " + config_.processes->text_of(search.peer()) +
                           " does not answer rank " + std::to_string(config_.processes->self()) +
                           " at " + answered->way.to.text() +
                           "; it computes outside MPI, or something else listens there";
  config_.report(config_.owner, line.c_str());
}

/// Ends the search, which is gone afterwards.
void Connector::give_up(Search& search) {
  const std::uint32_t peer = search.peer();
  const std::uint16_t lane = search.lane();
  // If connections to all addresses are refused the process has ended.
  const bool has_ended = search.exhausted() && !search.tries().empty();
  const auto kind = has_ended ? ErrorClass::proc_aborted : ErrorClass::other;
  const Error error = failure(kind, "%s cannot be reached from rank %u: %s",
                              config_.processes->text_of(peer).c_str(), config_.processes->self(),
                              search.text(list_bytes).c_str());
  const std::string all = search.text(line_bytes);
  if (all.size() > list_bytes && config_.report != nullptr) {
    // An error has no room for them.
    config_.report(config_.owner,
                   ("tcp: the way to rank " + std::to_string(peer) + ": " + all).c_str());
  }
  for (Search::Try& attempt : search.tries()) {
    if (attempt.link == nullptr) continue;
    if (attempt.link->chosen) peers_[peer].chosen &= ~(std::uint64_t{1} << lane);
    links_.close(*attempt.link);
  }
  peers_[peer].given_up |= std::uint64_t{1} << lane;
  searches_.erase(key_of(peer, lane));
  fail(peer, lane, error);
  if (lane != 0) return;
  // Without lane 0 the others never begin.
  while (true) {
    const auto next = searches_.lower_bound(key_of(peer, 0));
    if (next == searches_.end() || next->second.peer() != peer) return;
    const std::uint16_t other = next->second.lane();
    peers_[peer].given_up |= std::uint64_t{1} << other;
    searches_.erase(next);
    fail(peer, other, error);
  }
}

void Connector::fail(std::uint32_t peer, unsigned lane, Error error) {
  pending_.push_back({Event::Kind::failed, peer, lane, -1, error});
}

Search* Connector::search_of(std::uint32_t peer, std::uint16_t lane) {
  const auto place = searches_.find(key_of(peer, lane));
  return place == searches_.end() ? nullptr : &place->second;
}

}  // namespace fulmar::fabric::tcp
