// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/deadlock.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fulmar::mpiexec {
namespace {

constexpr std::uint32_t looks_to_be_sure = 2;
constexpr std::size_t most_lines = 64;

Departure departure_of(const wire::RankRecord& record) {
  const wire::RankState state = wire::state_of(record);
  if (wire::never_joined(record)) return Departure::never_joined;
  const bool left = state == wire::RankState::finalized || state == wire::RankState::exited;
  return left ? Departure::finalized : Departure::none;
}

/// What stands behind "rank 1 has" and "ranks 1 2 have".
const char* text_of(Departure departure) {
  return departure == Departure::never_joined ? "ended without calling MPI_Init" : "left MPI";
}

bool is_member(const wire::WaitBody& body, std::uint32_t rank) {
  return rank / 64 < body.members.size() && (body.members[rank / 64] >> rank % 64 & 1) != 0;
}

bool is_collective(const wire::WaitBody& body) {
  return body.kind == static_cast<std::uint32_t>(wire::WaitKind::collective) && body.comm != 0;
}

bool is_exposure(const wire::WaitBody& body) {
  return body.kind == static_cast<std::uint32_t>(wire::WaitKind::exposure);
}

bool is_lock(const wire::WaitBody& body) {
  return body.kind == static_cast<std::uint32_t>(wire::WaitKind::lock) && body.peer_count == 1;
}

const char* text_of(wire::LockCall call) {
  switch (call) {
    case wire::LockCall::lock:
      return "MPI_Win_lock";
    case wire::LockCall::lock_all:
      return "MPI_Win_lock_all";
    case wire::LockCall::start:
      return "MPI_Win_start";
    case wire::LockCall::unknown:
      break;
  }
  return "MPI_Win_lock or MPI_Win_lock_all";
}

bool in_same_call(const wire::WaitBody& a, const wire::WaitBody& b) {
  return is_collective(a) && is_collective(b) && a.comm == b.comm && a.call == b.call;
}

std::string rank_list(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  constexpr std::size_t most = 16;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i) {
    text += " " + std::to_string(ranks[i]);
  }
  if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

/// The text of one standstill.
class Explanation {
 public:
  explicit Explanation(const Standstill& standstill)
      : standstill_(standstill), waits_(standstill.departures.size(), nullptr) {
    for (const Standstill::Wait& wait : standstill.waits) waits_[wait.rank] = &wait.body;
  }

  std::vector<std::string> lines() {
    const std::vector<std::uint32_t> cycle = find_cycle();
    if (!cycle.empty()) add_cycle(cycle);
    std::vector<std::uint32_t> rest;
    for (const Standstill::Wait& wait : standstill_.waits) {
      if (std::find(cycle.begin(), cycle.end(), wait.rank) == cycle.end())
        rest.push_back(wait.rank);
    }
    if (!rest.empty() && !cycle.empty()) add("mpiexec:   besides them:");
    for (const std::uint32_t rank : rest) add_rank(rank);
    add_collectives();
    add_departed(Departure::finalized, "left MPI (MPI_Finalize)");
    add_departed(Departure::never_joined, text_of(Departure::never_joined));
    return std::move(lines_);
  }

 private:
  void add(std::string line) {
    if (lines_.size() < most_lines) return lines_.push_back(std::move(line));
    if (lines_.size() == most_lines) lines_.push_back("mpiexec:   and more of the same");
  }

  /// The ranks that hold the lock that a rank waits for, or whose access epochs to it are open. None where
  /// it holds the lock itself: then what it waits for is the target.
  [[nodiscard]] std::vector<wire::HeldLock> holders_of(std::uint32_t rank) const {
    std::vector<wire::HeldLock> holders;
    const wire::WaitBody* body = waits_[rank];
    if (body == nullptr || (!is_lock(*body) && !is_exposure(*body))) return holders;
    const std::uint32_t target = is_lock(*body) ? body->peers[0] : rank;
    for (const Standstill::Wait& wait : standstill_.waits) {
      for (std::uint32_t i = 0; i < wait.body.lock_count; ++i) {
        const wire::HeldLock& lock = wait.body.locks[i];
        if (lock.comm != body->comm || lock.target != target) continue;
        const bool is_start = lock.call == static_cast<std::uint32_t>(wire::LockCall::start);
        if (is_start != is_exposure(*body)) continue;
        if (lock.holder == rank && is_lock(*body)) return {};
        holders.push_back(lock);
      }
    }
    return holders;
  }

  /// Whom a rank waits for.
  [[nodiscard]] std::vector<std::uint32_t> peers_of(std::uint32_t rank) const {
    const wire::WaitBody* body = waits_[rank];
    if (body == nullptr) return {};
    std::vector<std::uint32_t> peers(body->peers.begin(), body->peers.begin() + body->peer_count);
    if (const std::vector<wire::HeldLock> holders = holders_of(rank); !holders.empty()) {
      peers.clear();
      for (const wire::HeldLock& lock : holders) peers.push_back(lock.holder);
    }
    if (!is_collective(*body) || !peers.empty()) return peers;
    for (std::uint32_t other = 0; other < waits_.size(); ++other) {
      if (other == rank || !is_member(*body, other)) continue;
      if (waits_[other] == nullptr || !in_same_call(*body, *waits_[other])) peers.push_back(other);
    }
    return peers;
  }

  /// The ranks of one cycle, each waiting for the next and the last for the first; the shortest
  /// from the first rank that is in one. Empty: there is none.
  [[nodiscard]] std::vector<std::uint32_t> find_cycle() const {
    for (const Standstill::Wait& wait : standstill_.waits) {
      std::vector<std::uint32_t> cycle = cycle_through(wait.rank);
      if (!cycle.empty()) return cycle;
    }
    return {};
  }

  [[nodiscard]] std::vector<std::uint32_t> cycle_through(std::uint32_t start) const {
    constexpr std::uint32_t unseen = UINT32_MAX;
    std::vector<std::uint32_t> before(waits_.size(), unseen);
    std::vector<std::uint32_t> queue{start};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const std::uint32_t rank = queue[next];
      for (const std::uint32_t peer : peers_of(rank)) {
        if (peer == start) {
          std::vector<std::uint32_t> cycle;
          for (std::uint32_t at = rank; at != start; at = before[at]) cycle.push_back(at);
          cycle.push_back(start);
          std::reverse(cycle.begin(), cycle.end());
          return cycle;
        }
        if (before[peer] != unseen || waits_[peer] == nullptr) continue;
        before[peer] = rank;
        queue.push_back(peer);
      }
    }
    return {};
  }

  void add_cycle(const std::vector<std::uint32_t>& cycle) {
    std::string line = "mpiexec:   a cycle: rank " + std::to_string(cycle.front());
    for (std::size_t i = 1; i < cycle.size(); ++i) {
      line += (i == 1 ? " waits for rank " : ", that for rank ") + std::to_string(cycle[i]);
    }
    if (cycle.size() == 1) {
      line += " waits for itself";
    } else {
      line += ", and that for rank " + std::to_string(cycle.front());
    }
    add(line);
    for (const std::uint32_t rank : cycle) add_rank(rank);
  }

  void add_rank(std::uint32_t rank) {
    const wire::WaitBody& body = *waits_[rank];
    const std::string call = body.call.data();
    const std::string what = body.what.data();
    add("mpiexec:   rank " + std::to_string(rank) + ": " + call + (what.empty() ? "" : " ") + what);
    for (const wire::HeldLock& lock : holders_of(rank)) {
      const std::string holder = "mpiexec:     rank " + std::to_string(lock.holder);
      if (is_exposure(body)) {
        add(holder + " has not called it since MPI_Win_start");
      } else {
        add(holder + " holds it (" + (lock.exclusive != 0 ? "exclusive" : "shared") + ") since " +
            text_of(static_cast<wire::LockCall>(lock.call)));
      }
    }
    std::string hints = body.hint.data();
    while (!hints.empty()) {
      const std::size_t end = std::min(hints.find('\n'), hints.size());
      if (end > 0) add("mpiexec:     " + hints.substr(0, end));
      hints.erase(0, end + 1);
    }
    for (std::uint32_t i = 0; i < body.peer_count && body.peer_count <= 4; ++i) {
      const Departure departure = standstill_.departures[body.peers[i]];
      if (departure == Departure::none) continue;
      add("mpiexec:     rank " + std::to_string(body.peers[i]) + " has " + text_of(departure));
    }
  }

  /// For each collective call: the ranks in it, and where the others are.
  void add_collectives() {
    std::vector<const wire::WaitBody*> done;
    for (const Standstill::Wait& wait : standstill_.waits) {
      const wire::WaitBody& body = wait.body;
      const bool seen = std::any_of(done.begin(), done.end(), [&](const wire::WaitBody* other) {
        return in_same_call(*other, body);
      });
      if (!is_collective(body) || seen) continue;
      done.push_back(&body);
      add_collective(body);
    }
  }

  void add_collective(const wire::WaitBody& body) {
    std::vector<std::uint32_t> inside;
    std::map<std::string, std::vector<std::uint32_t>> elsewhere;
    std::map<std::string, std::vector<std::uint32_t>> departed;
    for (std::uint32_t rank = 0; rank < waits_.size(); ++rank) {
      if (!is_member(body, rank)) continue;
      const wire::WaitBody* other = waits_[rank];
      if (other == nullptr) {
        const Departure departure = standstill_.departures[rank];
        if (departure == Departure::none) {
          elsewhere["not in MPI"].push_back(rank);
        } else {
          departed[text_of(departure)].push_back(rank);
        }
      } else if (in_same_call(body, *other)) {
        inside.push_back(rank);
      } else {
        elsewhere[std::string("in ") + other->call.data()].push_back(rank);
      }
    }
    std::string line = std::string("mpiexec:   ") + body.call.data() + " " + body.what.data() +
                       ": " + rank_list(inside) + (inside.size() == 1 ? " is" : " are") + " in it";
    for (const auto& [where, ranks] : elsewhere) {
      line += ", " + rank_list(ranks) + (ranks.size() == 1 ? " is " : " are ") + where;
    }
    for (const auto& [how, ranks] : departed) {
      line += ", " + rank_list(ranks) + (ranks.size() == 1 ? " has " : " have ") + how;
    }
    if (elsewhere.empty() && departed.empty())
      line += ", which are all its ranks; they may be in different calls of it";
    add(line);
  }

  void add_departed(Departure how, const char* text) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < standstill_.departures.size(); ++rank) {
      if (standstill_.departures[rank] == how) ranks.push_back(rank);
    }
    if (ranks.empty()) return;
    add("mpiexec:   " + rank_list(ranks) + (ranks.size() == 1 ? " has " : " have ") + text);
  }

  const Standstill& standstill_;
  std::vector<const wire::WaitBody*> waits_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> explain(const Standstill& standstill) {
  return Explanation(standstill).lines();
}

/// Those that have not left it, each with what it waits for. Nothing where one of them does something
/// else.
std::optional<std::vector<DeadlockWatch::Rank>> DeadlockWatch::ranks_in_mpi() const {
  std::vector<Rank> ranks;
  for (std::uint32_t number = 0; number < records_.size(); ++number) {
    const wire::RankRecord& record = records_[number];
    if (departure_of(record) != Departure::none) continue;
    if (wire::state_of(record) != wire::RankState::initialised) return std::nullopt;
    const auto wait = wire::read_wait(record.wait, static_cast<std::uint32_t>(records_.size()));
    if (!wait) return std::nullopt;
    ranks.push_back({number, *wait});
  }
  return ranks;
}

bool DeadlockWatch::have_waited_long(const std::vector<Rank>& ranks, std::int64_t now_ns) const {
  std::int64_t latest = 0;
  bool polled = false;
  for (const Rank& rank : ranks) {
    latest = std::max(latest, rank.wait.body.since_ns);
    polled = polled || rank.wait.body.polled != 0;
  }
  return latest <= now_ns - (polled ? times_.polled_ns : times_.blocked_ns);
}

const wire::JobStillness& DeadlockWatch::look(std::int64_t now_ns) {
  using State = wire::JobStillness::State;
  auto ranks = ranks_in_mpi();
  if (!ranks || ranks->empty() || !have_waited_long(*ranks, now_ns)) {
    stillness_ = {.job = stillness_.job,
                  .state = ranks && ranks->empty() ? State::left : State::moving};
    noted_.clear();
    return stillness_;
  }
  const auto same_wait = [](const Rank& before, const Rank& now) {
    return before.number == now.number && before.wait.body.since_ns == now.wait.body.since_ns;
  };
  const auto has_looked = [](const Rank& before, const Rank& now) {
    return now.wait.beats - before.wait.beats >= looks_to_be_sure;
  };
  if (!std::equal(noted_.begin(), noted_.end(), ranks->begin(), ranks->end(), same_wait)) {
    stillness_ = {.job = stillness_.job, .state = State::standing, .noted_ns = now_ns};
  } else if (std::equal(noted_.begin(), noted_.end(), ranks->begin(), ranks->end(), has_looked)) {
    stillness_.checked_ns = begun_ns_;
  } else {
    return stillness_;
  }
  begun_ns_ = now_ns;
  noted_ = std::move(*ranks);
  describe();
  return stillness_;
}

/// What `noted_` says.
void DeadlockWatch::describe() {
  std::set<std::uint32_t> needs;
  for (const Rank& rank : noted_) {
    const wire::WaitBody& body = rank.wait.body;
    stillness_.since_ns = std::max(stillness_.since_ns, body.since_ns);
    stillness_.needs_more = stillness_.needs_more || body.job_count > body.jobs.size();
    const std::size_t count = std::min<std::size_t>(body.job_count, body.jobs.size());
    needs.insert(body.jobs.begin(), body.jobs.begin() + static_cast<std::ptrdiff_t>(count));
  }
  stillness_.needs.assign(needs.begin(), needs.end());
  // Once: in a job that waits for another one for hours, and may have many ranks.
  if (stillness_.checked_ns != 0 && stillness_.lines.empty()) stillness_.lines = explain_waits();
}

std::vector<std::string> DeadlockWatch::explain_waits() const {
  Standstill standstill;
  for (const Rank& rank : noted_) standstill.waits.push_back({rank.number, rank.wait.body});
  for (const wire::RankRecord& record : records_) {
    standstill.departures.push_back(departure_of(record));
  }
  return explain(standstill);
}

}  // namespace fulmar::mpiexec
