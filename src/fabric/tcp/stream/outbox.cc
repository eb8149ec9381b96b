// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/outbox.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/copy.h"

namespace fulmar::fabric::tcp {
namespace {

/// A frame up to this length is put together on the stack: copying it costs less than a second
/// piece costs the kernel.
constexpr std::size_t joined_bytes = 4096;

Writing outcome_of(ssize_t written, std::size_t wanted) noexcept {
  if (written >= 0) {
    const auto bytes = static_cast<std::size_t>(written);
    return {bytes < wanted ? Writing::State::blocked : Writing::State::open, 0, bytes};
  }
  if (written == -EAGAIN) return {Writing::State::blocked, 0, 0};
  return {Writing::State::failed, static_cast<int>(-written), 0};
}

}  // namespace

void Outbox::Gathered::add(const void* address, std::size_t length) noexcept {
  if (length == 0) return;
  pieces[count++] = {const_cast<void*>(address), length};
  bytes += length;
}

bool Outbox::reserve(Buffers& buffers, std::size_t body_bytes) {
  const std::size_t needed = header_bytes + body_bytes;
  const std::size_t waiting = end_ - begin_;
  if (waiting == 0) begin_ = end_ = 0;
  if (block_.bytes - end_ >= needed) return true;
  if (waiting == 0) {
    if (block_) buffers.give_back(block_);
    block_ = buffers.take(needed);
    return true;
  }
  // What is moved was written since the last move, so a byte is moved once on average.
  if (begin_ < waiting || block_.bytes - waiting < needed) return false;
  std::memcpy(block_.memory.get(), block_.memory.get() + begin_, waiting);
  begin_ = 0;
  end_ = waiting;
  return true;
}

void Outbox::put(const void* from, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  base::copy_bytes(block_.memory.get() + end_, from, bytes);
  end_ += bytes;
}

void Outbox::append(const wire::Envelope& envelope, std::span<const std::byte> body) noexcept {
  const wire::TcpFrame frame = wire::tcp_frame(envelope, 0, sequence_++);
  put(&frame, sizeof frame);
  put(body.data(), body.size());
}

void Outbox::append(wire::TcpSignal signal) noexcept {
  const wire::TcpFrame frame = wire::tcp_frame(signal, sequence_++);
  put(&frame, sizeof frame);
}

Writing Outbox::write_with(Io& io, int socket, Buffers& buffers, const wire::Envelope& envelope,
                           std::span<const std::byte> body, Io::Next next,
                           std::vector<FinishedSend>& finished) {
  const wire::TcpFrame frame = wire::tcp_frame(envelope, 0, sequence_++);
  std::array<std::byte, joined_bytes> joined;
  Gathered gathered;
  gather_front(gathered);
  if (header_bytes + body.size() <= joined.size()) {
    std::memcpy(joined.data(), &frame, header_bytes);
    base::copy_bytes(joined.data() + header_bytes, body.data(), body.size());
    gathered.add(joined.data(), header_bytes + body.size());
  } else {
    gathered.add(&frame, header_bytes);
    gathered.add(body.data(), body.size());
  }
  const Writing writing = outcome_of(io.write(socket, gathered.list(), next), gathered.bytes);
  const std::size_t written = take_front(writing.bytes, finished);
  const std::size_t rest = header_bytes + body.size() - written;
  if (rest == 0) return writing;
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (block_.bytes < rest) {
      if (block_) buffers.give_back(block_);
      block_ = buffers.take(rest);
    }
  }
  const std::size_t of_header = std::min(written, header_bytes);
  put(reinterpret_cast<const std::byte*>(&frame) + of_header, header_bytes - of_header);
  const std::size_t of_body = written - of_header;
  put(body.data() + of_body, body.size() - of_body);
  return writing;
}

void Outbox::append_in_place(const wire::Envelope& envelope, std::span<const std::byte> prefix,
                             std::span<const iovec> pieces, std::uint64_t token) {
  if (items_ == nullptr) items_ = std::make_unique_for_overwrite<std::array<InPlace, depth>>();
  InPlace& added = item(count_++);
  added.envelope = envelope;
  added.prefix_bytes = prefix.size();
  std::memcpy(added.head.data() + header_bytes, prefix.data(), prefix.size());
  std::copy(pieces.begin(), pieces.end(), added.pieces.begin());
  added.piece_count = pieces.size();
  added.payload_bytes = envelope.length - prefix.size();
  added.done = 0;
  added.token = token;
  in_place_bytes_ += added.total();
}

void Outbox::gather(const InPlace& item, Gathered& to) noexcept {
  std::size_t skip = item.done;
  const std::size_t of_head = std::min(skip, item.head_bytes());
  to.add(item.head.data() + of_head, item.head_bytes() - of_head);
  skip -= of_head;
  for (std::size_t i = 0; i < item.piece_count; ++i) {
    const iovec& piece = item.pieces[i];
    const std::size_t of_piece = std::min(skip, piece.iov_len);
    to.add(static_cast<const std::byte*>(piece.iov_base) + of_piece, piece.iov_len - of_piece);
    skip -= of_piece;
  }
}

void Outbox::gather_front(Gathered& to) noexcept {
  if (count_ > 0 && item(0).done > 0) gather(item(0), to);
  if (begin_ < end_) to.add(block_.memory.get() + begin_, end_ - begin_);
}

void Outbox::gather_waiting(Gathered& to) noexcept {
  std::uint32_t sequence = sequence_;
  for (std::size_t i = 0; i < count_; ++i) {
    InPlace& waiting = item(i);
    if (waiting.done > 0) continue;
    const wire::TcpFrame frame =
        wire::tcp_frame(waiting.envelope, waiting.prefix_bytes, sequence++);
    std::memcpy(waiting.head.data(), &frame, sizeof frame);
    gather(waiting, to);
  }
}

std::size_t Outbox::take_in_place(std::size_t bytes, std::vector<FinishedSend>& finished) {
  InPlace& front = item(0);
  const std::size_t taken = std::min(bytes, front.total() - front.done);
  if (taken > 0 && front.done == 0) ++sequence_;
  front.done += taken;
  in_place_bytes_ -= taken;
  if (front.done == front.total()) {
    finished.push_back({front.token, Sent::done});
    first_ = static_cast<std::uint32_t>((first_ + 1) % depth);
    --count_;
  }
  return bytes - taken;
}

std::size_t Outbox::take_front(std::size_t bytes, std::vector<FinishedSend>& finished) {
  if (count_ > 0 && item(0).done > 0) bytes = take_in_place(bytes, finished);
  const std::size_t taken = std::min(bytes, end_ - begin_);
  begin_ += taken;
  return bytes - taken;
}

Writing Outbox::write(Io& io, int socket, Io::Next next, std::vector<FinishedSend>& finished) {
  Gathered gathered;
  gather_front(gathered);
  gather_waiting(gathered);
  if (gathered.count == 0) return {};
  const Writing writing = outcome_of(io.write(socket, gathered.list(), next), gathered.bytes);
  std::size_t behind = take_front(writing.bytes, finished);
  while (behind > 0) behind = take_in_place(behind, finished);
  return writing;
}

void Outbox::trim(Buffers& buffers) {
  if (begin_ != end_ || !block_) return;
  buffers.give_back(block_);
  begin_ = end_ = 0;
}

void Outbox::abandon(Buffers& buffers, std::vector<FinishedSend>& finished) {
  for (; count_ > 0; --count_) {
    finished.push_back({item(0).token, Sent::lost});
    first_ = static_cast<std::uint32_t>((first_ + 1) % depth);
  }
  in_place_bytes_ = 0;
  begin_ = end_;
  trim(buffers);
}

}  // namespace fulmar::fabric::tcp
