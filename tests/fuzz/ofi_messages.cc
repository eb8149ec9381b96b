// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "fabric/ofi/messages.h"
#include "fuzz/targets.h"
#include "wire/ofi/ofi_address.h"

namespace fulmar::fuzz {
namespace {

using fabric::ofi::Event;
using fabric::ofi::PostResult;
using fabric::ofi::Ticket;

constexpr std::uint32_t ranks = 4;
constexpr std::uint32_t job = 5;

/// Brings what it is given, each message in memory of its own that ends with it, so that a
/// sanitizer sees a byte too many. What is sent succeeds and goes nowhere; some orders fail.
class InputEndpoint final : public fabric::ofi::Endpoint {
 public:
  explicit InputEndpoint(bool ordered) {
    can_.provider = "input";
    can_.most_message_bytes = 1U << 20;
    can_.receive_depth = 4;
    can_.ordered = ordered;
    can_.inject_bytes = 64;
    can_.moves_remotely = true;
    can_.send_depth = 16;
  }
  std::deque<std::vector<std::byte>> input;

  [[nodiscard]] const fabric::ofi::Capabilities& capabilities() const noexcept override {
    return can_;
  }
  [[nodiscard]] std::span<const std::byte> name() const noexcept override { return name_; }
  [[nodiscard]] base::Result<std::uint64_t> insert(std::span<const std::byte>) override {
    return std::uint64_t{0};
  }
  [[nodiscard]] std::string text_of(std::span<const std::byte>) const override { return "input"; }
  [[nodiscard]] base::Result<void*> enlist(std::span<std::byte>) override {
    return static_cast<void*>(nullptr);
  }
  PostResult inject(std::uint64_t, std::span<const std::byte>) override { return PostResult::yes; }
  PostResult send(std::uint64_t, std::span<const iovec>, void*, Ticket& ticket) override {
    sent_.push_back(&ticket);
    return PostResult::yes;
  }
  PostResult receive(std::span<std::byte>, void*, Ticket& ticket) override {
    posted_.push_back(&ticket);
    return PostResult::yes;
  }
  [[nodiscard]] base::Result<fabric::MemoryRegion> open_memory(std::span<std::byte>,
                                                               fabric::Access) override {
    return fabric::MemoryRegion{1, 1, 1};
  }
  void close_memory(const fabric::MemoryRegion&) override {}
  PostResult rdma_read(std::uint64_t, std::span<std::byte>, std::uint32_t,
                       const fabric::RemoteAddress&, Ticket& ticket) override {
    sent_.push_back(&ticket);
    return PostResult::yes;
  }
  PostResult rdma_write(std::uint64_t, std::span<const std::byte>, std::uint32_t,
                        const fabric::RemoteAddress&, Ticket& ticket) override {
    sent_.push_back(&ticket);
    return PostResult::yes;
  }
  PostResult atomic(std::uint64_t, std::span<std::byte>, const fabric::ofi::AtomicOperation&,
                    Ticket& ticket) override {
    sent_.push_back(&ticket);
    return PostResult::yes;
  }
  std::size_t read(std::span<Event> events) override {
    events[0] = {};
    if (!sent_.empty()) {
      events[0].ticket = sent_.front();
      const bool fails = sent_.front()->use == Ticket::Use::order && ++operations_ % 32 == 0;
      if (fails) events[0].kind = Event::Kind::failed;
      sent_.pop_front();
      return 1;
    }
    if (input.empty() || posted_.empty()) return 0;
    current_ = std::move(input.front());
    current_.shrink_to_fit();
    input.pop_front();
    events[0].ticket = posted_.front();
    events[0].frees = true;
    events[0].bytes = current_;
    posted_.pop_front();
    return 1;
  }
  [[nodiscard]] std::string last_error() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm() override { return true; }

 private:
  fabric::ofi::Capabilities can_;
  std::vector<std::byte> name_ = std::vector<std::byte>(8);
  std::vector<std::byte> current_;
  std::deque<Ticket*> sent_;
  std::deque<Ticket*> posted_;
  unsigned operations_ = 0;
};

/// Gives orders to all ranks, of which no more end than were given.
struct PendingOperations {
  std::vector<std::byte> memory = std::vector<std::byte>(8);
  std::uint64_t given = 0;
  std::uint64_t ended = 0;

  void give(fabric::ofi::Messages& messages, unsigned look) {
    const std::uint32_t rank = 1 + look % (ranks - 1);
    const fabric::Post answer = look % 2 == 0
                                    ? messages.rdma_read(rank, memory, 1, {look, look}, given)
                                    : messages.rdma_write(rank, memory, 1, {look, look}, given);
    if (answer == fabric::Post::done) ++given;
  }
  void note_ends(fabric::ofi::Messages& messages) {
    for (fabric::ofi::EndedSend each; messages.next_ended(each); ++ended) {
      if (each.token >= given) std::abort();
    }
    if (ended > given) std::abort();
  }
};

base::Result<std::vector<std::byte>> find_input(void*, std::uint32_t) {
  return wire::encode_ofi_address({"input", 0, std::vector<std::byte>(8)});
}

/// Messages from the input: most with a header that is nearly right, some of nothing but noise.
std::vector<std::byte> next_message(std::span<const std::uint8_t>& input,
                                    const base::KeyedHash& hash) {
  const auto* const noise = reinterpret_cast<const std::byte*>(input.data());
  const std::size_t body = std::min<std::size_t>(input[6] % 64, input.size() - 7);
  std::vector<std::byte> message(noise + 7, noise + 7 + body);
  if (input[0] % 16 != 0) {
    wire::OfiPacket head;
    const std::uint32_t source = input[0] % 8 == 7 ? ranks + input[1] : input[0] % ranks;
    const wire::ProcessName from{input[1] == 254 ? job + 1 : job, source,
                                 static_cast<std::uint8_t>(input[1] == 253 ? 1 : 0)};
    wire::set_sender(head, from);
    head.cookie = fabric::ofi::pair_cookie(hash, {}, from, {job, 0}) + (input[1] == 255 ? 1 : 0);
    head.sequence = input[2] == 255 ? 0x80000000U + input[1] : input[2] % 8;
    head.ack = input[3] == 255 ? 1 : 0;
    head.kind = input[4] < 240 ? input[4] % 16 : input[4];
    head.prefix_bytes = input[5] % 4 == 0 ? input[5] % 40 : 0;
    head.length = static_cast<std::uint32_t>(body) + (input[3] == 254 ? 1 : 0);
    if (wire::is_ofi_signal(head.kind)) {
      head.context = input[5] % 3;
    } else {
      head.tag = input[1];
    }
    if (head.prefix_bytes != 0) head.sequence = 0;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&head);
    message.insert(message.begin(), bytes, bytes + sizeof head);
  }
  input = input.subspan(7 + body);
  return message;
}

}  // namespace

void ofi_messages(std::span<const std::uint8_t> input) {
  if (input.size() < 8) return;
  (void)wire::decode_ofi_address(std::as_bytes(input));
  auto endpoint = std::make_unique<InputEndpoint>(input[0] % 2 == 0);
  InputEndpoint& feed = *endpoint;
  static const auto hash = base::KeyedHash::load();
  if (hash.failed()) return;
  fabric::ofi::Config config;
  config.processes = fabric::one_job({job, 0}, ranks);
  config.find = find_input;
  auto opened = fabric::ofi::Messages::open(config, std::move(endpoint));
  if (opened.failed()) std::abort();
  fabric::ofi::Messages& messages = *opened.value();
  input = input.subspan(1);
  while (input.size() > 7) feed.input.push_back(next_message(input, hash.value()));
  unsigned looks = 0;
  std::uint64_t sum = 0;
  PendingOperations orders;
  while (!feed.input.empty() && ++looks < 10'000) {
    messages.begin();
    for (fabric::ofi::Arrival arrival; messages.next(arrival);) {
      if (arrival.peer >= ranks || arrival.body.size() != arrival.envelope.length) std::abort();
      if (arrival.prefix_bytes >= arrival.body.size() && arrival.prefix_bytes != 0) std::abort();
      for (const std::byte byte : arrival.body) sum += std::to_integer<std::uint8_t>(byte);
    }
    orders.give(messages, looks);
    orders.note_ends(messages);
    messages.finish();
  }
  if (!feed.input.empty() || messages.held() > ranks * (fabric::ofi::Messages::window + 1)) {
    std::abort();
  }
  if (sum == UINT64_MAX) std::abort();  // so that it is computed
}

}  // namespace fulmar::fuzz
