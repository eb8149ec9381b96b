// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "fabric/tcp/connect/socket_options.h"
#include "fabric/tcp/stream/streams.h"

/// Progress: which connections are read when.
namespace fulmar::fabric::tcp {
namespace {

/// Reads that bring nothing before a connection is left to epoll, if another one is hot.
constexpr std::uint32_t patience = 64;
/// epoll is called every Nth poll while a connection is hot: if some connections are not, and if only the
/// watched descriptor is left.
constexpr std::uint64_t ask_interval = 16;
constexpr std::uint64_t long_ask_interval = 128;
constexpr int most_events = 64;
/// A poll reads no more than this, and the result of one more call, from a connection, so that no peer
/// starves the others.
constexpr std::size_t look_bytes = 256U << 10;
/// How often the clock is read, in polls, and the interval of keep-alive checks.
constexpr std::uint64_t clock_interval = 256;
constexpr std::int64_t check_interval_ns = 500'000'000;
/// If a check runs this late, the program has computed: the peer is not to blame.
constexpr std::int64_t late_ns = 2'000'000'000;

}  // namespace

unsigned Streams::poll(SinkRef sink) {
  ++polls_;
  unsigned count = 0;
  bool moved = false;
  if (!finished_.empty()) count += report_finished(sink);
  if (leaving_ || std::exchange(control_pending_, false)) send_fins();
  if (!unsent_.empty()) moved = flush_unsent();
  if (!blocked_.empty()) moved = retry_blocked() || moved;
  moved = read_hot(sink, count) || moved;
  const std::uint64_t interval = connections_ > hot_count_ ? ask_interval : long_ask_interval;
  if (hot_count_ == 0 || events_due_ || polls_ % interval == 0) {
    events_due_ = false;
    moved = read_ready(sink, count) || moved;
  }
  if (!unsent_.empty()) moved = flush_unsent() || moved;
  if (any_unanswered_ && (armed_ || polls_ % clock_interval == 0)) check_answers_when_due();
  armed_ = false;
  if (!ended_.empty() || !lost_.empty()) moved = reap() || moved;
  if (!finished_.empty()) count += report_finished(sink);
  return count == 0 && moved ? 1 : count;
}

unsigned Streams::report_finished(SinkRef sink) {
  std::swap(finished_, reporting_);
  for (const FinishedSend& send : reporting_) sink.sent(send.token, send.how);
  const auto told = static_cast<unsigned>(reporting_.size());
  reporting_.clear();
  return told;
}

bool Streams::read_hot(SinkRef sink, unsigned& packets) {
  bool moved = false;
  for (std::size_t i = 0; i < hot_count_; ++i) {
    Connection& connection = *hot_[i];
    if (read(connection, sink, packets)) {
      moved = true;
    } else if (connection.idle_reads > patience && hot_count_ > 1) {
      connection.hot = false;
      hot_[i--] = hot_[--hot_count_];
    }
  }
  return moved;
}

bool Streams::read_ready(SinkRef sink, unsigned& packets) {
  std::array<epoll_event, most_events> events;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), most_events, 0);
  bool moved = false;
  for (int i = 0; i < ready; ++i) {
    auto* const connection = static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
    if (connection == nullptr) {
      watched_ready_ = true;
    } else if (read(*connection, sink, packets)) {
      moved = true;
    }
  }
  return moved;
}

bool Streams::read(Connection& connection, SinkRef sink, unsigned& packets) {
  if (connection.doomed || connection.read_at == polls_) return false;
  connection.read_at = polls_;
  const std::span<std::byte> scratch(scratch_.get(), Inbox::scratch_bytes);
  std::size_t bytes = 0;
  Reading reading;
  do {
    reading =
        connection.in.read(io_, connection.socket.get(), scratch, connection.peer, sink, buffers_);
    bytes += reading.bytes;
    packets += reading.packets;
  } while (reading.state == Reading::State::more && bytes < look_bytes && !connection.doomed);
  if (bytes > 0) {
    warm(connection);
  } else {
    ++connection.idle_reads;
  }
  if (bytes > 0) count_taken(connection);
  after_reading(connection, reading);
  return bytes > 0;
}

/// Credits from the peer, and for it.
void Streams::count_taken(Connection& connection) {
  const std::uint32_t taken = connection.in.fetch_acknowledged();
  if (!connection.units.acknowledge_more(taken)) {
    return lose(connection.peer,
                base::failure(base::ErrorClass::proc_aborted,
                              "rank %u at %s sends what is no packet (it acknowledges what was not "
                              "sent); its connection is closed",
                              connection.peer, connection.address.c_str()));
  }
  if (connection.in.untold_units() >= wire::tcp_taken_step) write_signals(connection);
}

void Streams::after_reading(Connection& connection, const Reading& reading) {
  if (connection.doomed) return;
  if (connection.in.seen_received()) connection.fin.on_fin_ack();
  if (connection.in.bye_received() && connection.fin.on_fin()) {
    const Leaving how = connection.in.farewell_received() ? Leaving::for_good : Leaving::may_return;
    if (connection.lane == 0) {
      peers_[connection.peer]->life.on_fin(how, rules());
      peers_[connection.peer]->parts = connection.in.part_received();
    }
    if (connection.in.part_received()) part(connection);
    write_signals(connection);
  }
  if (connection.idle_at) [[unlikely]]
    part_if_idle(connection);
  if (connection.parting) [[unlikely]]
    end_if_parted(connection);
  const char* why = nullptr;
  switch (reading.state) {
    case Reading::State::more:
      return;
    case Reading::State::drained:
      if (connection.write_error == 0) return;
      why = std::strerror(connection.write_error);
      break;
    case Reading::State::ended:
      why = "the connection was closed without a word: the process has ended, or was killed";
      break;
    case Reading::State::failed:
      why = std::strerror(reading.error);
      break;
    case Reading::State::broken:
      lose(connection.peer,
           base::failure(base::ErrorClass::proc_aborted,
                         "rank %u at %s sends what is no packet (%s); its connection is closed",
                         connection.peer, connection.address.c_str(), reading.fault));
      return;
  }
  if (connection.fin.fin_received() && !connection.in.in_frame()) {
    connection.doomed = true;
    ended_.push_back(&connection);
    return;
  }
  lose(connection.peer, base::failure(base::ErrorClass::proc_aborted, "lost rank %u at %s: %s",
                                      connection.peer, connection.address.c_str(), why));
}

void Streams::warm(Connection& connection) {
  connection.idle_reads = 0;
  if (connection.hot) return;
  std::size_t place = hot_count_;
  if (hot_count_ == most_hot) {
    for (std::size_t i = 0; i < most_hot; ++i) {
      if (hot_[i]->idle_reads > 0 &&
          (place == most_hot || hot_[i]->idle_reads > hot_[place]->idle_reads)) {
        place = i;
      }
    }
    if (place == most_hot) return;  // all are busy; epoll finds this one
    hot_[place]->hot = false;
  } else {
    ++hot_count_;
  }
  hot_[place] = &connection;
  connection.hot = true;
}

void Streams::check_answers_when_due() {
  const auto now = static_cast<std::int64_t>(base::now_ns());
  if (next_check_ns_ < 0) next_check_ns_ = now + check_interval_ns;
  if (now < next_check_ns_) return;
  const bool is_late = now - next_check_ns_ > late_ns;
  check_all_answers(static_cast<std::uint64_t>(now), is_late);
  next_check_ns_ = any_unanswered_ ? now + check_interval_ns : -1;
}

void Streams::check_all_answers(std::uint64_t now_ns, bool is_late) {
  any_unanswered_ = false;
  for (const std::uint32_t peer : known_) {
    for (const auto& connection : peers_[peer]->lanes) {
      if (connection == nullptr || !connection->unanswered || connection->doomed) continue;
      int waiting = 0;
      const int socket = connection->socket.get();
      connection->unanswered = ::ioctl(socket, SIOCOUTQ, &waiting) == 0 && waiting > 0;
      if (!connection->unanswered) {
        connection->acked = {};
        continue;
      }
      any_unanswered_ = true;
      const ProbeTime time{now_ns, is_late, peers_[peer]->silent_since_ns};
      base::Error error =
          check_answers(socket, peers_[peer]->dead_after_ms, time, connection->unanswered_since_ns);
      if (error.ok()) error = check_acked(socket, connection->acked, now_ns);
      if (error.ok()) continue;
      lose(peer, base::failure(base::ErrorClass::proc_aborted, "lost rank %u at %s: %s", peer,
                               connection->address.c_str(), error.text().c_str()));
    }
  }
}

bool Streams::arm() {
  flush();
  if (any_unanswered_) check_answers_when_due();
  if (!finished_.empty() || !lost_.empty() || !ended_.empty()) return false;
  for (Connection* const connection : blocked_) {
    if (connection->blocked && !connection->watches_room) {
      watch_room(*connection, Interest::arrival_and_room);
    }
  }
  events_due_ = true;
  armed_ = true;
  epoll_event event{};
  return ::epoll_wait(epoll_.get(), &event, 1, 0) == 0;
}

}  // namespace fulmar::fabric::tcp
