// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fulmar::mpiexec {
namespace {

constexpr std::size_t full_bytes = 256 << 10;  ///< unwritten output at which reading stops
constexpr std::size_t read_bytes = 64 << 10;   ///< the usual capacity of a pipe

std::vector<std::string> make_labels(std::uint32_t ranks, Output::Labels labels) {
  std::vector<std::string> texts(ranks + 1);  // the last stream is mpiexec itself
  if (labels == Output::Labels::none) return texts;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    texts[rank] = "[" + std::to_string(rank) + "] ";
  return texts;
}

/// In a file nobody waits for a prompt, and a line cut by a rank that was not scheduled stays cut:
/// more patience there, unless there is one rank only.
LineMux::Limits limits_for(int fd, std::uint32_t ranks) {
  LineMux::Limits limits;
  if (ranks > 1 && ::isatty(fd) == 0) limits.patience_ns = 500 * ns_per_ms;
  return limits;
}

}  // namespace

Output::Output(Poller& poller, std::uint32_t ranks, Labels labels)
    : poller_(poller),
      ranks_(ranks),
      direct_(ranks == 1 && labels == Labels::none),
      buffer_(read_bytes) {
  const std::vector<std::string> texts = make_labels(ranks, labels);
  channels_.push_back({Sink(1), LineMux(texts, limits_for(1, ranks))});
  if (!same_destination(1, 2)) channels_.push_back({Sink(2), LineMux(texts, limits_for(2, ranks))});
}

base::Result<Output::RankEnds> Output::connect_rank(std::uint32_t rank) {
  RankEnds ends;
  if (direct_) return ends;
  auto out = open_stream(rank, 0);
  if (out.failed()) return out.error();
  ends.out = std::move(*out);
  if (channels_.size() > 1) {
    auto err = open_stream(rank, 1);
    if (err.failed()) return err.error();
    ends.err = std::move(*err);
  }
  return ends;
}

base::Result<base::UniqueFd> Output::open_stream(std::uint32_t rank, std::uint32_t channel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return base::failure(base::ErrorClass::other,
                         "no pipe for the output of rank %u: %s; raise the limit of open files "
                         "(ulimit -n) or start fewer ranks",
                         rank, std::strerror(errno));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const auto index = static_cast<std::uint32_t>(streams_.size());
  streams_.push_back({base::UniqueFd(ends[0]), channel, rank});
  (void)poller_.add(ends[0], EPOLLIN, {SourceKind::stream, index});
  return base::UniqueFd(ends[1]);
}

void Output::say(std::string_view line) {
  const std::uint32_t channel = static_cast<std::uint32_t>(channels_.size()) - 1;
  channels_[channel].mux.append(ranks_, std::string(line) + "\n", now_ns());
  flush(channel);
}

void Output::on_stream(std::uint32_t index) {
  if (streams_[index].fd.valid()) read_stream(index);
}

void Output::on_sink(std::uint32_t index) { flush(index); }

std::int64_t Output::deadline() const {
  std::int64_t earliest = never_ns;
  for (const Channel& channel : channels_) {
    if (!channel.blocked) earliest = std::min(earliest, channel.mux.deadline());
  }
  return earliest;
}

void Output::on_time(std::int64_t now_ns) {
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].blocked || channels_[i].mux.deadline() > now_ns) continue;
    channels_[i].mux.tick(now_ns);
    flush(i);
  }
}

void Output::finish() {
  finishing_ = true;
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    while (streams_[i].fd.valid() && !streams_[i].paused) read_stream(i);
  }
}

bool Output::finished() const {
  return std::all_of(channels_.begin(), channels_.end(),
                     [](const Channel& c) { return c.broken || c.mux.ready().empty(); }) &&
         std::none_of(streams_.begin(), streams_.end(),
                      [](const Stream& stream) { return stream.fd.valid(); });
}

bool Output::full(const Channel& channel) const { return channel.mux.ready().size() >= full_bytes; }

void Output::read_stream(std::uint32_t index) {
  Stream& stream = streams_[index];
  const ssize_t count = ::read(stream.fd.get(), buffer_.data(), buffer_.size());
  if (count > 0) {
    channels_[stream.channel].mux.append(
        stream.rank, {buffer_.data(), static_cast<std::size_t>(count)}, now_ns());
  } else if (count == 0 || finishing_ || (errno != EAGAIN && errno != EINTR)) {
    end_stream(stream);
  }
  flush(stream.channel);
  update_interest(index);
}

void Output::drop_stream(Stream& stream) {
  if (stream.paused)
    --paused_count_;
  else
    poller_.remove(stream.fd.get());
  stream.paused = false;
  stream.fd.reset();
}

void Output::end_stream(Stream& stream) {
  drop_stream(stream);
  channels_[stream.channel].mux.close(stream.rank);
}

/// Reads on only while there is room for what comes.
void Output::update_interest(std::uint32_t index) {
  Stream& stream = streams_[index];
  if (!stream.fd.valid()) return;
  const Channel& channel = channels_[stream.channel];
  const bool pause = full(channel) || !channel.mux.accepts(stream.rank);
  if (pause == stream.paused) return;
  stream.paused = pause;
  if (pause) {  // not watched at all: epoll would report the end of the stream again and again
    ++paused_count_;
    poller_.remove(stream.fd.get());
  } else {
    --paused_count_;
    (void)poller_.add(stream.fd.get(), EPOLLIN, {SourceKind::stream, index});
  }
}

void Output::flush(std::uint32_t index) {
  Channel& channel = channels_[index];
  if (channel.broken) {
    channel.mux.ready().clear();
    return;
  }
  const Sink::Progress progress = channel.sink.write_some(channel.mux.ready());
  const bool blocked = progress == Sink::Progress::blocked;
  if (blocked != channel.blocked) {
    channel.blocked = blocked;
    const int fd = channel.sink.poll_fd();
    if (!blocked)
      poller_.remove(fd);
    else
      (void)poller_.add(fd, EPOLLOUT, {SourceKind::sink, index});
  }
  if (progress == Sink::Progress::broken) break_channel(index);
  for (std::uint32_t i = 0; i < streams_.size() && paused_count_ > 0; ++i) {
    if (streams_[i].paused && streams_[i].channel == index) update_interest(i);
  }
}

/// Nobody reads any more: ranks that go on writing get SIGPIPE, as they would without mpiexec.
void Output::break_channel(std::uint32_t index) {
  Channel& channel = channels_[index];
  channel.broken = true;
  channel.mux.ready().clear();
  for (Stream& stream : streams_) {
    if (stream.channel == index && stream.fd.valid()) drop_stream(stream);
  }
  if (channel.sink.error() == EPIPE) return;
  lost_ = true;
  if (index + 1 == channels_.size()) return;
  say("mpiexec: cannot write standard output: " + std::string(std::strerror(channel.sink.error())));
}

}  // namespace fulmar::mpiexec
