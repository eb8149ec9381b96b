// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/os/fd.h"
#include "fabric/verbs/messages.h"
#include "fuzz/targets.h"
#include "wire/verbs/verbs_address.h"
#include "wire/verbs/verbs_ring.h"

namespace fulmar::fuzz {
namespace {

using fabric::verbs::Completion;
using fabric::verbs::PostResult;

constexpr std::uint32_t queue_number = 9;

/// Orders go nowhere; most succeed.
class SinkQueue final : public fabric::verbs::Queue {
 public:
  SinkQueue(std::deque<std::uint64_t>& sent, std::uint64_t& cookie)
      : sent_(sent), cookie_(cookie) {}
  [[nodiscard]] std::uint32_t number() const noexcept override { return queue_number; }
  [[nodiscard]] std::size_t inline_bytes() const noexcept override { return 64; }
  [[nodiscard]] std::size_t depth() const noexcept override { return 32; }
  [[nodiscard]] base::Error connect(const wire::VerbsConnectionInfo& own,
                                    const wire::VerbsConnectionInfo&) override {
    cookie_ = own.cookie;
    return {};
  }
  PostResult send(const fabric::verbs::SendWorkRequest& order) override {
    if (order.is_signaled) sent_.push_back(order.id);
    return PostResult::yes;
  }
  PostResult rdma_read(std::span<std::byte>, const fabric::verbs::RdmaWorkRequest& order) override {
    sent_.push_back(order.id);
    return PostResult::yes;
  }
  PostResult rdma_write(std::span<const std::byte>,
                        const fabric::verbs::WriteWorkRequest& order) override {
    if (order.is_signaled) sent_.push_back(order.id);
    return PostResult::yes;
  }
  PostResult atomic(std::span<std::byte>, const fabric::verbs::AtomicWorkRequest& order) override {
    sent_.push_back(order.id);
    return PostResult::yes;
  }
  [[nodiscard]] std::string last_error() const override { return {}; }

 private:
  std::deque<std::uint64_t>& sent_;
  std::uint64_t& cookie_;
};

/// Brings what it is given.
class InputAdapter final : public fabric::verbs::Adapter {
 public:
  InputAdapter() {
    traits_.name = "input:1";
    traits_.gid[15] = std::byte{1};
    traits_.receive_depth = 4;
    traits_.completion_depth = 200;
    traits_.max_rdma_bytes = fabric::verbs::max_remote_bytes;
    traits_.atomics = true;
    traits_.writes_in_order = traits_.places_in_order = true;
  }
  /// A packet, what comes with a put that tells of itself, or what is written into a slot of the
  /// ring that was lent, or into the first gate.
  struct Message {
    enum class Where : std::uint8_t { buffer, slot, gate };
    std::vector<std::byte> bytes;
    std::optional<std::uint32_t> word;
    Where where = Where::buffer;
    std::uint32_t slot = 0;
  };
  std::deque<Message> input;
  std::uint64_t cookie = 0;  ///< that the peer has to show, once it is connected
  bool fails_next = false;   ///< the next order that ends

  [[nodiscard]] const fabric::verbs::Traits& traits() const noexcept override { return traits_; }
  [[nodiscard]] base::Result<fabric::MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               fabric::Access access) override {
    if (access == fabric::Access::peers_write) {
      (memory.size() == wire::verbs_ring_bytes ? ring_ : gates_) = memory;
    }
    return fabric::MemoryRegion{1, 1, 1};
  }
  std::size_t close_memory(std::uint64_t) override { return 0; }
  [[nodiscard]] base::Result<std::unique_ptr<fabric::verbs::Queue>> open_queue() override {
    return std::unique_ptr<fabric::verbs::Queue>(std::make_unique<SinkQueue>(sent_, cookie));
  }
  std::size_t receive(std::span<const fabric::verbs::ReceiveWorkRequest> requests,
                      std::uint32_t) override {
    posted_.insert(posted_.end(), requests.begin(), requests.end());
    return requests.size();
  }
  std::size_t read(std::span<Completion> completions) override {
    completions[0] = {};
    completions[0].queue = queue_number;
    if (!sent_.empty()) {
      completions[0].id = sent_.front();
      sent_.pop_front();
      if (std::exchange(fails_next, false)) completions[0].kind = Completion::Kind::failed;
      return 1;
    }
    if (input.empty() || posted_.empty()) return 0;
    const Message message = std::move(input.front());
    input.pop_front();
    if (message.where != Message::Where::buffer) {
      write(message);
      return 0;
    }
    if (!message.bytes.empty() && !message.word) {
      std::memcpy(posted_.front().memory.data(), message.bytes.data(), message.bytes.size());
    }
    completions[0].kind = message.word ? Completion::Kind::immediate : Completion::Kind::received;
    completions[0].id = posted_.front().id;
    // Of a put as many as the peer likes, wherever they went.
    completions[0].bytes = message.word ? std::size_t{1} << 30 : message.bytes.size();
    completions[0].word = message.word.value_or(0);
    posted_.pop_front();
    return 1;
  }
  [[nodiscard]] std::string text_of(int) const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  void arm() override {}
  [[nodiscard]] int event_descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool next_event(fabric::verbs::Event&) override { return false; }

 private:
  /// The last byte where a slot or word ends, if there is such memory.
  void write(const Message& message) {
    const bool is_slot = message.where == Message::Where::slot;
    const std::span<std::byte> memory = is_slot ? ring_ : gates_;
    const std::size_t end =
        is_slot ? (message.slot % wire::verbs_ring_slots + 1) * wire::verbs_slot_bytes
                : sizeof(std::uint64_t);
    if (memory.size() < end || message.bytes.size() > end) return;
    std::memcpy(memory.data() + end - message.bytes.size(), message.bytes.data(),
                message.bytes.size());
  }

  fabric::verbs::Traits traits_;
  std::deque<std::uint64_t> sent_;
  std::deque<fabric::verbs::ReceiveWorkRequest> posted_;
  std::span<std::byte> ring_;
  std::span<std::byte> gates_;
};

/// Hands over one socket.
class OneSocket final : public fabric::verbs::OobConnector {
 public:
  explicit OneSocket(int socket) : socket_(socket) {}
  [[nodiscard]] std::vector<std::byte> address() const override { return {std::byte{1}}; }
  void connect(std::uint32_t, std::span<const std::byte>) override {}
  void forget(std::uint32_t) noexcept override {}
  void forget_all() noexcept override {}
  void step(std::vector<Event>& events) override {
    if (socket_.valid()) events.push_back({1, socket_.release(), {}});
  }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return 0; }

 private:
  base::UniqueFd socket_;
};

wire::VerbsConnectionInfo info() {
  wire::VerbsConnectionInfo made;
  made.from = {7, 1};
  made.queue = 3;
  made.gid[15] = std::byte{2};
  made.cookie = 4;
  made.window = 8;
  made.buffer_bytes = wire::verbs_max_packet_bytes;
  return made;
}

/// Fetches and puts: how many were posted, and have ended.
struct PendingRdma {
  std::uint64_t posted = 0;
  std::uint64_t ended = 0;
};

void look(fabric::verbs::Messages& messages, std::uint64_t& sum, PendingRdma& pending_rdma) {
  messages.begin();
  for (fabric::verbs::Arrival arrival; messages.next(arrival);) {
    if (arrival.peer != 1 || arrival.body.size() != arrival.envelope.length) std::abort();
    if (arrival.body.size() > wire::verbs_max_body_bytes) std::abort();
    if (arrival.prefix_bytes >= arrival.body.size() && arrival.prefix_bytes != 0) std::abort();
    sum += arrival.word;
    for (const std::byte byte : arrival.body) sum += std::to_integer<std::uint8_t>(byte);
  }
  for (fabric::verbs::EndedSend ended; messages.next_ended(ended); ++pending_rdma.ended) {
    if (ended.token >= pending_rdma.posted) std::abort();
  }
  messages.finish();
}

void order(fabric::verbs::Messages& messages, std::uint8_t which, PendingRdma& pending_rdma) {
  static std::array<std::byte, 8> memory;
  const fabric::RemoteAddress place{4096, 1};
  const std::uint64_t token = pending_rdma.posted;
  fabric::Post answer = fabric::Post::again;
  switch (which % 5) {
    case 0:
      answer = messages.rdma_read(1, memory, 1, place, token);
      break;
    case 1:
      answer = messages.rdma_write(1, memory, 1, place, token);
      break;
    case 2:
      answer = messages.rdma_write_with_immediate(1, memory, 1, place, 3, token);
      break;
    case 3:
      answer = messages.atomic(1, memory, {{1, place, 0}}, token);
      break;
    default:
      (void)messages.rdma_write_unsignaled(1, memory, 1, place);  // nobody hears of its end
  }
  if (answer == fabric::Post::done) ++pending_rdma.posted;
}

std::vector<std::byte> bytes_of(const void* from, std::size_t count) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  return {bytes, bytes + count};
}

using Where = InputAdapter::Message::Where;

/// Puts a packet where `where` says: in a slot it has a mark ahead of it and an end behind it, one of
/// which may be spoilt. Without a header it is bare.
InputAdapter::Message placed(Where where, const wire::VerbsPacket& head, bool has_head,
                             std::vector<std::byte> packet, std::uint64_t spoilt) {
  if (has_head) {
    const auto bytes = bytes_of(&head, sizeof head);
    packet.insert(packet.begin(), bytes.begin(), bytes.end());
  }
  if (where == Where::slot) {
    std::uint64_t mark = wire::verbs_slot_mark(head.cookie, head.sequence);
    std::uint64_t end = has_head ? wire::verbs_slot_end(mark, packet.size())
                                 : wire::verbs_bare_end(mark, head, packet.size());
    (std::popcount(spoilt) % 2 == 0 ? end : mark) ^= spoilt;
    const auto bytes = bytes_of(&end, sizeof end);
    packet.insert(packet.end(), bytes.begin(), bytes.end());
    const auto front = bytes_of(&mark, sizeof mark);
    packet.insert(packet.begin(), front.begin(), front.end());
  }
  return {std::move(packet), std::nullopt, where, head.sequence};
}

/// Messages from the input: most with a header that is nearly right.
InputAdapter::Message next_message(std::span<const std::uint8_t>& input, std::uint64_t cookie,
                                   std::uint32_t sequence) {
  const auto* const noise = reinterpret_cast<const std::byte*>(input.data());
  const bool tells_place = input[3] == 0xf3 || input[3] == 0xf4;
  const std::size_t wanted = tells_place ? wire::verbs_place_bytes : input[5] % 64;
  const std::size_t body = std::min<std::size_t>(wanted, input.size() - 6);
  std::vector<std::byte> message(noise + 6, noise + 6 + body);
  if (input[0] % 16 == 3) {
    const std::uint64_t shown = cookie + (input[1] == 255 ? 1 : 0);
    input = input.subspan(6 + body);
    return {{}, wire::verbs_word(shown, sequence, 7)};
  }
  if (input[0] % 16 == 5) {
    const std::uint64_t gate = wire::verbs_gate(cookie + (input[1] == 255 ? 1 : 0), input[2]);
    input = input.subspan(6 + body);
    return {bytes_of(&gate, sizeof gate), std::nullopt, Where::gate};
  }
  const Where where = input[0] % 2 == 0 && input[0] != 0 ? Where::slot : Where::buffer;
  const std::uint64_t spoilt = input[4] >= 250 ? std::uint64_t{input[4]} << input[1] % 64 : 0;
  wire::VerbsPacket head;
  head.cookie = cookie + (input[0] == 255 ? 1 : 0);
  head.sequence = sequence + (input[1] == 255 ? 1 : 0);
  head.taken = input[2] == 255 ? input[1] : 0;
  head.kind = input[3] < 240 ? 1 + input[3] % 8 : input[3];
  head.heard = input[1];
  head.prefix_bytes = input[4] % 16 == 0 ? input[4] % 40 : 0;
  head.length = static_cast<std::uint32_t>(body) + (input[2] == 254 ? 1 : 0);
  const bool has_head = input[0] != 0 && (where != Where::slot || input[3] % 4 != 0);
  input = input.subspan(6 + body);
  return placed(where, head, has_head, std::move(message), spoilt);
}

/// What a peer sends until a ring is lent to it and its gate is known. Returns how many packets.
std::uint32_t borrow_ring(InputAdapter& feed) {
  wire::VerbsPacket head;
  head.cookie = feed.cookie;
  head.kind = static_cast<std::uint8_t>(wire::PacketKind::eager);
  for (; head.sequence < fabric::verbs::Messages::shorts_until_ring; ++head.sequence) {
    feed.input.push_back({bytes_of(&head, sizeof head), std::nullopt});
  }
  wire::VerbsPacket answer = wire::verbs_packet(wire::VerbsSignal::gate);
  answer.cookie = feed.cookie;
  answer.sequence = head.sequence;
  const wire::VerbsPlace place{4096, 1};
  auto packet = bytes_of(&answer, sizeof answer);
  const auto body = bytes_of(&place, sizeof place);
  packet.insert(packet.end(), body.begin(), body.end());
  feed.input.push_back({std::move(packet), std::nullopt});
  return head.sequence + 1;
}

}  // namespace

void verbs_messages(std::span<const std::uint8_t> input) {
  if (input.size() < 8) return;
  (void)wire::decode_verbs_address(std::as_bytes(input));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return;
  base::UniqueFd mine(ends[0]);
  auto adapter = std::make_unique<InputAdapter>();
  InputAdapter& feed = *adapter;
  fabric::verbs::Config config;
  config.processes = fabric::one_job({7, 0}, 2);
  if (input[1] % 2 == 0) config.left = [](void*, std::uint32_t) {};
  auto opened = fabric::verbs::Messages::open(config, std::move(adapter),
                                              std::make_unique<OneSocket>(ends[1]));
  if (opened.failed()) std::abort();
  fabric::verbs::Messages& messages = *opened.value();
  std::uint64_t sum = 0;
  // A card that is right or nearly right, and what follows it.
  auto exchange = wire::encode_verbs_card(info());
  const bool honest = input[0] % 8 != 0;
  if (!honest) exchange[input[1] % exchange.size()] ^= static_cast<std::byte>(input[2]);
  (void)::send(mine.get(), exchange.data(), exchange.size(), MSG_NOSIGNAL);
  const auto ready = wire::verbs_ready();
  const void* const word = honest ? static_cast<const void*>(ready.data()) : input.data();
  (void)::send(mine.get(), word, ready.size(), MSG_NOSIGNAL);
  PendingRdma pending_rdma;
  for (unsigned i = 0; i < 130; ++i) look(messages, sum, pending_rdma);
  if (honest && !messages.alive(1)) std::abort();
  const bool borrows = honest && input[0] % 2 == 1;
  std::uint32_t sequence = borrows ? borrow_ring(feed) : 0;
  for (unsigned i = 0; i < 10'000 && !feed.input.empty(); ++i) look(messages, sum, pending_rdma);
  if (borrows && (!messages.alive(1) || messages.counters().gates_turned != 1)) std::abort();
  input = input.subspan(3);
  for (; input.size() > 6; ++sequence) {
    feed.input.push_back(next_message(input, feed.cookie, sequence));
    if (feed.input.back().where == Where::gate) --sequence;
  }
  for (unsigned i = 0; i < 10'000 && !feed.input.empty(); ++i) {
    look(messages, sum, pending_rdma);
    if (input.size() > 2 && input[0] % 2 == 0) {
      (void)messages.post(1, {wire::PacketKind::eager, 0, 0, 0, 0}, {});
    }
    if (input.size() > 2) order(messages, input[1], pending_rdma);
    if (input.size() > 2 && i == input[2]) feed.fails_next = true;
  }
  if (!feed.input.empty()) std::abort();
  messages.end();
  look(messages, sum, pending_rdma);
  if (pending_rdma.ended != pending_rdma.posted) std::abort();
  if (sum == UINT64_MAX) std::abort();  // so that it is computed
}

}  // namespace fulmar::fuzz
