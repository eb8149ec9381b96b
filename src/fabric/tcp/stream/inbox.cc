// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/inbox.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/copy.h"

namespace fulmar::fabric::tcp {
namespace {

Reading failed_read(ssize_t error) noexcept {
  Reading reading;
  if (error == 0) {
    reading.state = Reading::State::ended;
  } else if (error != -EAGAIN) {
    reading.state = Reading::State::failed;
    reading.error = static_cast<int>(-error);
  }
  return reading;
}

std::size_t bytes_in(std::span<const iovec> pieces) noexcept {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

Reading Inbox::read(Io& io, int socket, std::span<std::byte> scratch, std::uint32_t peer,
                    SinkRef sink, Buffers& buffers) {
  std::array<iovec, most_places + 1> pieces;
  const std::size_t expected = fill_iovecs(std::span(pieces).first(most_places), peer, sink);
  const std::size_t direct = bytes_in(std::span(pieces).first(expected));
  const std::size_t beyond = std::min(reach(), scratch.size());
  pieces[expected] = {scratch.data(), beyond};
  const ssize_t came = io.read(socket, std::span(pieces).first(expected + 1));
  if (came <= 0) return failed_read(came);

  Reading reading;
  reading.bytes = static_cast<std::size_t>(came);
  if (reading.bytes == direct + beyond) reading.state = Reading::State::more;
  const unsigned packets_before = packets_;
  const std::size_t hits = std::min(reading.bytes, direct);
  if (hits > 0) hit(hits, peer, sink, buffers);
  const std::size_t rest = reading.bytes - hits;
  // Only a whole stretch without a long body means that there are no more.
  const bool long_before = long_bodies_ && rest < beyond;
  if (rest == beyond) long_bodies_ = false;
  reading.fault = take(scratch.first(rest), peer, sink, buffers);
  if (reading.fault != nullptr) reading.state = Reading::State::broken;
  long_bodies_ = long_bodies_ || long_before;
  reading.packets = packets_ - packets_before;
  return reading;
}

std::size_t Inbox::reach() const noexcept {
  const bool by_parts = stage_ == Stage::payload && asked_ && places_left_ == 0;
  return long_bodies_ && !by_parts ? lead_bytes : scratch_bytes;
}

const char* Inbox::take(std::span<const std::byte> bytes, std::uint32_t peer, SinkRef sink,
                        Buffers& buffers) {
  while (!bytes.empty()) {
    switch (stage_) {
      case Stage::header: {
        if (const char* fault = take_header(bytes); fault != nullptr) return fault;
        if (have_ < header_bytes) return nullptr;
        if (const char* fault = begin_frame(bytes, peer, sink, buffers); fault != nullptr) {
          return fault;
        }
        break;
      }
      case Stage::body:
        take_body(bytes, peer, sink, buffers);
        break;
      case Stage::prefix:
        take_prefix(bytes);
        break;
      case Stage::payload:
        take_payload(bytes, peer, sink);
        break;
    }
  }
  return nullptr;
}

const char* Inbox::take_header(Bytes& bytes) {
  const std::size_t taken = std::min(header_bytes - have_, bytes.size());
  std::memcpy(head_.data() + have_, bytes.data(), taken);
  bytes = bytes.subspan(taken);
  have_ += taken;
  if (have_ < header_bytes) return nullptr;
  std::memcpy(&frame_, head_.data(), sizeof frame_);
  return wire::fault_of(frame_, sequence_++);
}

/// The header is complete.
const char* Inbox::begin_frame(Bytes& bytes, std::uint32_t peer, SinkRef sink, Buffers& buffers) {
  have_ = 0;
  if (wire::is_signal(frame_.kind)) return take_signal();
  if (bye_) return "a packet after its last";
  if (frame_.prefix_bytes != 0) {
    if (!sink.places()) return "a packet posted in place, which this side does not take";
    stage_ = Stage::prefix;
    if (payload_bytes() >= long_bytes) long_bodies_ = true;
    return nullptr;
  }
  if (bytes.size() >= frame_.length) {
    const Bytes body = bytes.first(frame_.length);
    bytes = bytes.subspan(frame_.length);
    finish_frame();
    sink.packet(peer, wire::envelope_of(frame_), Body(body));
    return nullptr;
  }
  if (sink.expect(peer, wire::envelope_of(frame_))) {
    stage_ = Stage::payload;
    asked_ = false;
    return nullptr;
  }
  stash_ = buffers.take_exactly(frame_.length);
  stage_ = Stage::body;
  return nullptr;
}

const char* Inbox::take_signal() {
  const auto signal = static_cast<wire::TcpSignal>(frame_.kind);
  if (signal == wire::TcpSignal::taken) {
    acknowledged_ += wire::tcp_taken_step;
    return nullptr;
  }
  if (signal == wire::TcpSignal::idle) {
    idle_at_ = units_.next();
    return nullptr;
  }
  bool& received = signal == wire::TcpSignal::seen ? seen_ : bye_;
  if (received) return "a signal that comes twice";
  received = true;
  farewell_ = signal == wire::TcpSignal::farewell || farewell_;
  part_ = signal == wire::TcpSignal::part || part_;
  return nullptr;
}

void Inbox::take_body(Bytes& bytes, std::uint32_t peer, SinkRef sink, Buffers& buffers) {
  const std::size_t taken = std::min(frame_.length - have_, bytes.size());
  base::copy_bytes(stash_.memory.get() + have_, bytes.data(), taken);
  bytes = bytes.subspan(taken);
  have_ += taken;
  if (have_ == frame_.length) finish_body(peer, sink, buffers);
}

void Inbox::take_prefix(Bytes& bytes) {
  const std::size_t taken = std::min(frame_.prefix_bytes - have_, bytes.size());
  std::memcpy(prefix_.data() + have_, bytes.data(), taken);
  bytes = bytes.subspan(taken);
  have_ += taken;
  if (have_ < frame_.prefix_bytes) return;
  stage_ = Stage::payload;
  have_ = 0;
  asked_ = false;
}

void Inbox::take_payload(Bytes& bytes, std::uint32_t peer, SinkRef sink) {
  ask_place(peer, sink);
  if (places_left_ == 0) {
    const Bytes part = bytes.first(std::min(payload_bytes() - have_, bytes.size()));
    bytes = bytes.subspan(part.size());
    const std::size_t offset = have_;
    have_ += part.size();
    sink.part(peer, wire::envelope_of(frame_), prefix(), offset, part);
    if (have_ == payload_bytes()) finish_frame();
    return;
  }
  std::size_t copied = 0;
  for (std::size_t i = first_place_; i < places_.size() && copied < bytes.size(); ++i) {
    const std::size_t count = std::min(places_[i].iov_len, bytes.size() - copied);
    base::copy_bytes(places_[i].iov_base, bytes.data() + copied, count);
    copied += count;
  }
  bytes = bytes.subspan(copied);
  fill_places(copied, peer, sink);
}

void Inbox::ask_place(std::uint32_t peer, SinkRef sink) {
  if (asked_) return;
  asked_ = true;
  places_.clear();
  first_place_ = 0;
  places_begin_ = have_;
  places_left_ = 0;
  const std::size_t wanted = payload_bytes() - have_;
  for (const iovec& piece : sink.place(peer, wire::envelope_of(frame_), prefix(), have_, wanted)) {
    const std::size_t length = std::min(piece.iov_len, wanted - places_left_);
    if (length > 0) places_.push_back({piece.iov_base, length});
    places_left_ += length;
    if (places_.size() == most_places || places_left_ == wanted) break;
  }
}

void Inbox::fill_places(std::size_t bytes, std::uint32_t peer, SinkRef sink) {
  have_ += bytes;
  places_left_ -= bytes;
  while (bytes > 0) {
    iovec& place = places_[first_place_];
    const std::size_t filled = std::min(bytes, place.iov_len);
    place.iov_base = static_cast<std::byte*>(place.iov_base) + filled;
    place.iov_len -= filled;
    bytes -= filled;
    if (place.iov_len == 0) ++first_place_;
  }
  if (places_left_ > 0) return;
  asked_ = false;
  const std::size_t begin = places_begin_;
  const bool complete = have_ == payload_bytes();
  if (complete) finish_frame();
  sink.placed(peer, wire::envelope_of(frame_), prefix(), begin,
              (complete ? payload_bytes() : have_) - begin);
}

std::size_t Inbox::fill_iovecs(std::span<iovec> to, std::uint32_t peer, SinkRef sink) {
  if (stage_ == Stage::body) {
    to[0] = {stash_.memory.get() + have_, frame_.length - have_};
    return 1;
  }
  if (stage_ != Stage::payload) return 0;
  ask_place(peer, sink);
  if (places_left_ == 0) return 0;
  const std::span<const iovec> left = std::span(places_).subspan(first_place_);
  std::copy(left.begin(), left.end(), to.begin());
  return left.size();
}

void Inbox::hit(std::size_t bytes, std::uint32_t peer, SinkRef sink, Buffers& buffers) {
  if (stage_ == Stage::payload) return fill_places(bytes, peer, sink);
  have_ += bytes;
  if (have_ == frame_.length) finish_body(peer, sink, buffers);
}

void Inbox::finish_body(std::uint32_t peer, SinkRef sink, Buffers& buffers) {
  finish_frame();
  sink.packet(peer, wire::envelope_of(frame_), Body(stash_.all()));
  buffers.give_back(stash_);
}

void Inbox::finish_frame() noexcept {
  stage_ = Stage::header;
  have_ = 0;
  ++packets_;
  if (frame_.prefix_bytes == 0) units_.advance(wire::tcp_units(frame_.length));
}

void Inbox::abandon(Buffers& buffers) {
  if (stash_) buffers.give_back(stash_);
  stage_ = Stage::header;
  places_.clear();
}

}  // namespace fulmar::fabric::tcp
