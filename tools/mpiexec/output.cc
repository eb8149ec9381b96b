// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <utility>

#include "mpiexec/rank_pattern.h"

namespace fulmar::mpiexec {
namespace {

constexpr std::size_t full_bytes = 256 << 10;  ///< unwritten output at which reading stops
constexpr std::size_t read_bytes = 64 << 10;   ///< the usual capacity of a pipe

/// "2026-11-25T17:45:03.123 ", local time.
std::string time_stamp() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm local{};
  ::localtime_r(&now.tv_sec, &local);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &local);
  std::snprintf(text.data() + length, text.size() - length, ".%03ld ", now.tv_nsec / 1'000'000);
  return text.data();
}

}  // namespace

Output::Output(Poller& poller, std::uint32_t ranks, Wishes wishes)
    : poller_(poller), ranks_(ranks), wishes_(std::move(wishes)), buffer_(read_bytes) {
  direct_ = ranks == 1 && wishes_.label_pattern.empty() && !wishes_.timestamps &&
            !wishes_.merge_stderr && !has_files();
  std::vector<std::string> labels;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) labels.push_back(label_of(rank));
  labels.emplace_back();  // the last stream is mpiexec itself
  channels_.push_back({{}, {}, Sink(1), LineMux(labels, limits_for(1, ranks))});
  if (!same_destination(1, 2)) {
    channels_.push_back({{}, {}, Sink(2), LineMux(labels, limits_for(2, ranks))});
  }
  console_count_ = static_cast<std::uint32_t>(channels_.size());
}

std::string Output::label_of(std::uint32_t rank) const {
  return expand_pattern(wishes_.label_pattern, rank, ranks_, wishes_.host);
}

/// A file needs no prompt in time, and a line that is split by a rank that was not scheduled stays split: a
/// longer timeout there, unless there is one rank only.
LineMux::Limits Output::limits_for(int fd, std::uint32_t ranks) const {
  LineMux::Limits limits;
  if (ranks > 1 && ::isatty(fd) == 0) limits.patience_ns = 500 * ns_per_ms;
  if (wishes_.timestamps) limits.stamp = time_stamp;
  return limits;
}

bool Output::has_files() const { return !wishes_.files.out.empty() || !wishes_.files.err.empty(); }

/// Empty: none.
std::string Output::file_of(std::uint32_t rank, Which which) const {
  const bool out = which == Which::out || wishes_.merge_stderr;
  const std::string& pattern = out ? wishes_.files.out : wishes_.files.err;
  return expand_pattern(pattern, rank, ranks_, wishes_.host);
}

std::vector<Output::Lane> Output::console_lanes(std::uint32_t rank, Which which) const {
  if (!file_of(rank, which).empty() && !wishes_.files.copy) return {};
  const bool out = which == Which::out || wishes_.merge_stderr;
  return {{out ? 0 : error_channel(), rank}};
}

base::Error Output::open_files() {
  if (!has_files()) return {};
  file_lanes_.resize(ranks_);
  std::map<std::string, std::uint32_t> known;
  std::vector<std::vector<std::string>> labels;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    for (const Which which : {Which::out, Which::err}) {
      const std::string name = file_of(rank, which);
      const auto slot = static_cast<std::size_t>(which);
      if (name.empty() || (which == Which::err && wishes_.merge_stderr)) continue;
      const auto number = static_cast<std::uint32_t>(known.size());
      const auto [entry, is_new] = known.try_emplace(name, number);
      if (is_new) labels.emplace_back();
      std::vector<std::string>& lanes = labels[entry->second];
      file_lanes_[rank][slot] = {
          {console_count_ + entry->second, static_cast<std::uint32_t>(lanes.size())}};
      lanes.push_back(label_of(rank));
    }
  }
  std::vector<std::string> names(known.size());
  for (const auto& [name, number] : known) names[number] = name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (base::Error error = open_file(names[i], std::move(labels[i])); error.failed()) return error;
  }
  return {};
}

base::Error Output::open_file(const std::string& name, std::vector<std::string> labels) {
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOCTTY;
  base::UniqueFd file(::open(name.c_str(), flags, 0666));
  if (!file.valid()) {
    return base::failure(base::ErrorClass::other, "cannot write the output file \"%s\": %s",
                         name.c_str(), std::strerror(errno));
  }
  const auto writers = static_cast<std::uint32_t>(labels.size());
  const int fd = file.get();
  channels_.push_back(
      {name, std::move(file), Sink(fd), LineMux(std::move(labels), limits_for(fd, writers))});
  return {};
}

base::Result<Output::RankEnds> Output::connect_rank(std::uint32_t rank) {
  RankEnds ends;
  if (direct_) return ends;
  auto out = open_stream(rank, Which::out);
  if (out.failed()) return out.error();
  ends.out = std::move(*out);
  const bool together = console_count_ == 1 && !has_files();
  if (wishes_.merge_stderr || together) return ends;
  auto err = open_stream(rank, Which::err);
  if (err.failed()) return err.error();
  ends.err = std::move(*err);
  return ends;
}

base::Result<base::UniqueFd> Output::open_stream(std::uint32_t rank, Which which) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return base::failure(base::ErrorClass::other,
                         "no pipe for the output of rank %u: %s; raise the limit of open files "
                         "(ulimit -n) or start fewer ranks",
                         rank, std::strerror(errno));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const auto index = static_cast<std::uint32_t>(streams_.size());
  std::vector<Lane> lanes = console_lanes(rank, which);
  if (!file_lanes_.empty()) {
    const std::vector<Lane>& more = file_lanes_[rank][static_cast<std::size_t>(which)];
    lanes.insert(lanes.end(), more.begin(), more.end());
  }
  streams_.push_back({base::UniqueFd(ends[0]), std::move(lanes)});
  (void)poller_.add(ends[0], EPOLLIN, {SourceKind::stream, index});
  return base::UniqueFd(ends[1]);
}

void Output::say(std::string_view line) {
  const std::uint32_t channel = error_channel();
  constexpr std::string_view own = "mpiexec: ";
  std::string text(line);
  if (wishes_.job > 0 && line.starts_with(own)) {
    text.insert(own.size(), "spawned job " + std::to_string(wishes_.job) + ": ");
  }
  channels_[channel].mux.append(ranks_, text + "\n", now_ns());
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
    while (streams_[i].fd.valid() && streams_[i].pause == LineMux::Pause::none) read_stream(i);
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
  const std::vector<Lane> lanes = stream.lanes;  // a broken channel takes its lane away
  if (count > 0) {
    for (const Lane& lane : lanes) {
      channels_[lane.channel].mux.append(
          lane.number, {buffer_.data(), static_cast<std::size_t>(count)}, now_ns());
    }
  } else if (count == 0 || finishing_ || (errno != EAGAIN && errno != EINTR)) {
    end_stream(stream);
  }
  for (const Lane& lane : lanes) flush(lane.channel);
  update_interest(index);
}

void Output::drop_stream(Stream& stream) {
  if (stream.pause != LineMux::Pause::none)
    --paused_count_;
  else
    poller_.remove(stream.fd.get());
  stream.pause = LineMux::Pause::none;
  stream.fd.reset();
}

void Output::end_stream(Stream& stream) {
  drop_stream(stream);
  for (const Lane& lane : stream.lanes) channels_[lane.channel].mux.close(lane.number);
}

/// A stream is read only while there is room for what comes.
LineMux::Pause Output::pause_for(const Stream& stream) const {
  const auto any_lane = [&](auto condition) {
    return std::any_of(stream.lanes.begin(), stream.lanes.end(), condition);
  };
  if (any_lane([&](const Lane& lane) { return full(channels_[lane.channel]); })) {
    return LineMux::Pause::by_reader;
  }
  const bool has_room = !any_lane(
      [&](const Lane& lane) { return !channels_[lane.channel].mux.accepts(lane.number); });
  return has_room ? LineMux::Pause::none : LineMux::Pause::by_others;
}

void Output::update_interest(std::uint32_t index) {
  Stream& stream = streams_[index];
  if (!stream.fd.valid()) return;
  const LineMux::Pause pause = pause_for(stream);
  if (pause == stream.pause) return;
  const LineMux::Pause before = std::exchange(stream.pause, pause);
  for (const Lane& lane : stream.lanes) {
    channels_[lane.channel].mux.set_pause(lane.number, pause, now_ns());
  }
  if (before == LineMux::Pause::none) {
    // Not watched at all: epoll would report the end of the stream again and again.
    ++paused_count_;
    poller_.remove(stream.fd.get());
  } else if (pause == LineMux::Pause::none) {
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
    if (streams_[i].pause != LineMux::Pause::none) update_interest(i);
  }
}

/// The reader has gone: ranks that go on writing get SIGPIPE, as they would without mpiexec,
/// unless their output also goes elsewhere.
void Output::break_channel(std::uint32_t index) {
  Channel& channel = channels_[index];
  channel.broken = true;
  channel.mux.ready().clear();
  for (Stream& stream : streams_) {
    const auto left =
        std::erase_if(stream.lanes, [&](const Lane& lane) { return lane.channel == index; });
    if (left > 0 && stream.lanes.empty() && stream.fd.valid()) drop_stream(stream);
  }
  if (channel.sink.error() == EPIPE && channel.file.empty()) return;
  lost_ = true;
  if (index == error_channel()) return;
  say("mpiexec: cannot write " +
      (channel.file.empty() ? std::string("standard output") : "\"" + channel.file + "\"") + ": " +
      std::strerror(channel.sink.error()));
}

}  // namespace fulmar::mpiexec
