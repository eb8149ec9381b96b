// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/line_mux.h"

#include <algorithm>
#include <utility>

namespace fulmar::mpiexec {

LineMux::LineMux(std::vector<std::string> labels, Limits limits)
    : limits_(limits), streams_(labels.size()) {
  for (std::size_t i = 0; i < labels.size(); ++i) streams_[i].label = std::move(labels[i]);
}

void LineMux::append(std::size_t stream, std::string_view bytes, std::int64_t now_ns) {
  if (bytes.empty()) return;
  Stream& from = streams_[stream];
  if (from.pending.empty()) ++pending_streams_;
  from.pending += bytes;
  from.last_input_ns = now_ns;
  advance(stream);
}

void LineMux::close(std::size_t stream) {
  streams_[stream].closed = true;
  streams_[stream].pause = Pause::none;
  advance(stream);
  if (holder_ == stream && !waiting_.empty()) {
    end_held_line();
    serve_waiting();
  }
}

bool LineMux::accepts(std::size_t stream) const {
  return streams_[stream].pending.size() < limits_.stream_bytes;
}

void LineMux::set_pause(std::size_t stream, Pause pause, std::int64_t now_ns) {
  streams_[stream].pause = pause;
  streams_[stream].last_input_ns = now_ns;
}

/// When a stream counts as silent, if nothing comes until then.
std::int64_t LineMux::silent_from(std::size_t stream) const {
  const Stream& from = streams_[stream];
  const bool is_read =
      from.pause == Pause::none || (from.pause == Pause::by_others && stream == holder_);
  return is_read ? from.last_input_ns + limits_.patience_ns : never_ns;
}

std::int64_t LineMux::deadline() const {
  if (pending_streams_ == 0) return never_ns;
  std::int64_t earliest = never_ns;
  const std::int64_t held_until = holder_ == nobody ? 0 : silent_from(holder_);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    if (stream.pending.empty()) continue;
    const std::int64_t overdue = stream.queued ? 0 : silent_from(i);
    earliest = std::min(earliest, i == holder_ ? overdue : std::max(overdue, held_until));
  }
  return earliest;
}

void LineMux::tick(std::int64_t now_ns) {
  const auto silent = [&](std::size_t stream) { return silent_from(stream) <= now_ns; };
  if (holder_ != nobody && silent(holder_)) {
    write(holder_, streams_[holder_].pending.size());
    if (holder_ != nobody && !waiting_.empty()) end_held_line();
    serve_waiting();
  }
  for (std::size_t i = 0; i < streams_.size() && pending_streams_ > 0; ++i) {
    if (streams_[i].pending.empty() || !silent(i)) continue;
    if (holder_ != nobody && holder_ != i) {
      if (!silent(holder_)) continue;
      end_held_line();
    }
    write(i, streams_[i].pending.size());
  }
}

/// How much of a stream's pending text may go out without waiting for more.
std::size_t LineMux::writable_bytes(const Stream& stream) const {
  if (stream.closed) return stream.pending.size();
  const std::size_t last = stream.pending.rfind('\n');
  const std::size_t lines = last == std::string::npos ? 0 : last + 1;
  return stream.pending.size() - lines > limits_.line_bytes ? stream.pending.size() : lines;
}

/// Whether the output is free for `stream`; a line that its ended holder left open is closed here.
bool LineMux::may_write(std::size_t stream) {
  if (holder_ == nobody || holder_ == stream) return true;
  if (!streams_[holder_].closed || !streams_[holder_].pending.empty()) return false;
  end_held_line();
  return true;
}

void LineMux::advance(std::size_t stream) {
  const std::size_t bytes = writable_bytes(streams_[stream]);
  if (bytes == 0) return;
  if (!may_write(stream)) {
    if (!std::exchange(streams_[stream].queued, true)) waiting_.push_back(stream);
    return;
  }
  write(stream, bytes);
  serve_waiting();
}

void LineMux::serve_waiting() {
  while (!waiting_.empty() && may_write(waiting_.front())) {
    const std::size_t stream = waiting_.front();
    waiting_.pop_front();
    streams_[stream].queued = false;
    write(stream, writable_bytes(streams_[stream]));
  }
}

void LineMux::end_held_line() {
  ready_ += '\n';
  holder_ = nobody;
}

/// Moves the first `bytes` of a stream to the output, which must be free for it.
void LineMux::write(std::size_t stream, std::size_t bytes) {
  if (bytes == 0) return;
  Stream& from = streams_[stream];
  const std::string_view text = std::string_view(from.pending).substr(0, bytes);
  if (from.label.empty() && limits_.stamp == nullptr)
    ready_ += text;
  else
    write_labelled(from, text, holder_ != stream);
  holder_ = text.back() == '\n' ? nobody : stream;
  from.pending.erase(0, bytes);
  if (from.pending.empty()) --pending_streams_;
}

void LineMux::write_labelled(const Stream& stream, std::string_view text, bool line_start) {
  while (!text.empty()) {
    if (line_start && limits_.stamp != nullptr) ready_ += limits_.stamp();
    if (line_start) ready_ += stream.label;
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    ready_ += text.substr(0, length);
    text.remove_prefix(length);
    line_start = true;
  }
}

}  // namespace fulmar::mpiexec
