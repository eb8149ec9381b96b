// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/epoll.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "fuzz/targets.h"
#include "wire/bundle/bundle_address.h"

namespace fulmar::fuzz {
namespace {

using fabric::Post;
using fabric::Sent;
using fabric::bundle::RailOwner;

struct Item {
  wire::Envelope envelope;
  std::vector<std::byte> bytes;
  std::size_t prefix_bytes = 0;
  bool loses = false;   ///< the rail ends here
  bool leaves = false;  ///< its connections end in good order
};

/// Brings what it is given, as if from rank 1. What is sent goes nowhere.
class InputRail final : public fabric::Network {
 public:
  explicit InputRail(RailOwner& seat)
      : Network("input", {.body_bytes = 64U << 10,
                          .prefix_bytes = 64,
                          .pieces = 64,
                          .in_place_bytes = 1U << 20,
                          .drops_peers = true}),
        seat_(seat),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  std::deque<Item> input;
  bool ended = false;

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>(4);
  }
  [[nodiscard]] bool alive(std::uint32_t) const noexcept override { return !ended; }
  Post post(std::uint32_t, const wire::Envelope&, std::span<const std::byte>) override {
    return Post::done;
  }
  Post post_in_place(std::uint32_t, const wire::Envelope&, std::span<const std::byte>,
                     std::span<const iovec>, std::uint64_t token) override {
    tokens_.push_back(token);
    return Post::done;
  }
  unsigned poll(fabric::SinkRef sink) override {
    for (const std::uint64_t token : std::exchange(tokens_, {})) {
      sink.sent(token, ended ? Sent::lost : Sent::done);
    }
    if (input.empty() || ended) return 0;
    const Item item = std::move(input.front());
    input.pop_front();
    if (item.loses) {
      ended = true;
      RailOwner::lost(&seat_, 1, base::failure(base::ErrorClass::other, "it ends"));
    } else if (item.leaves) {
      RailOwner::left(&seat_, 1);
    } else if (item.prefix_bytes == 0) {
      sink.packet(1, item.envelope, fabric::Body(std::span<const std::byte>(item.bytes)));
    } else {
      in_place(sink, item);
    }
    return 1;
  }
  [[nodiscard]] bool has_unsent() const noexcept override { return false; }
  void flush() override {}
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }
  [[nodiscard]] bool arm() override { return input.empty(); }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }
  void set_patience(std::uint32_t, Patience) override {}
  void drop(std::uint32_t) override { ended = true; }
  void leave(fabric::Leaving /*how*/) override {}
  void close() noexcept override {}
  [[nodiscard]] bool gone(std::uint32_t /*peer*/) const noexcept override { return false; }
  [[nodiscard]] bool quiesced() const noexcept override { return true; }
  void end() noexcept override {}
  [[nodiscard]] bool readmit(std::uint32_t) override { return false; }
  [[nodiscard]] bool closing(std::uint32_t) const noexcept override { return false; }
  [[nodiscard]] bool reconnects() const noexcept override { return true; }
  [[nodiscard]] base::Error resume() override {
    epoll_ = base::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    ended = false;
    return {};
  }

 private:
  static void in_place(fabric::SinkRef sink, const Item& item) {
    const auto prefix = std::span<const std::byte>(item.bytes).first(item.prefix_bytes);
    const auto payload = std::span<const std::byte>(item.bytes).subspan(item.prefix_bytes);
    const auto places = sink.place(1, item.envelope, prefix, 0, payload.size());
    if (places.empty()) return sink.part(1, item.envelope, prefix, 0, payload);
    const std::size_t first = places[0].iov_len;
    std::memcpy(places[0].iov_base, payload.data(), first);
    sink.placed(1, item.envelope, prefix, 0, first);
    if (first < payload.size()) sink.part(1, item.envelope, prefix, first, payload.subspan(first));
  }

  RailOwner& seat_;
  base::UniqueFd epoll_;
  std::vector<std::uint64_t> tokens_;
};

/// Its memory is exactly as large as it says, so that a sanitizer sees a byte too many.
struct GreedySink {
  unsigned ended = 0;
  std::vector<std::byte> memory;
  iovec piece{};

  void packet(std::uint32_t, const wire::Envelope& envelope, const fabric::Body& body) {
    if (body.size() != envelope.length) std::abort();
  }
  void sent(std::uint64_t token, Sent) {
    if (token >= 64) std::abort();
    ++ended;
  }
  std::span<const iovec> place(std::uint32_t, const wire::Envelope& envelope,
                               std::span<const std::byte> prefix, std::uint64_t offset,
                               std::uint64_t bytes) {
    if (prefix.size() + offset + bytes != envelope.length || bytes == 0) std::abort();
    memory.assign((bytes + 1) / 2, std::byte{0});
    memory.shrink_to_fit();
    piece = {memory.data(), memory.size()};
    return {&piece, 1};
  }
  void placed(std::uint32_t, const wire::Envelope&, std::span<const std::byte>, std::uint64_t,
              std::uint64_t bytes) {
    if (bytes != memory.size()) std::abort();
  }
  void part(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) {
    if (prefix.size() + offset + payload.size() > envelope.length) std::abort();
  }
};

/// Most headers are nearly right: small numbers, known kinds, the lives of now.
Item next_item(std::span<const std::uint8_t>& input) {
  Item item;
  wire::BundlePacket head;
  head.number = input[0] < 250 ? input[0] % 8 : input[0] * 0x01010101U;
  head.ack = input[1] % 64 == 63 ? input[1] : 0;
  head.what = input[2] % 8;
  head.flags = input[3] == 255 ? 2 : input[3] % 2;
  head.reserved = input[3] == 254 ? 1 : 0;
  head.life = input[3] % 16 == 15 ? input[0] % 4 : 1;
  head.to_life = input[3] % 16 == 14 ? input[0] % 4 : 0;
  item.loses = input[4] == 255;
  item.leaves = input[4] == 253;
  const bool is_piece = head.what == static_cast<std::uint8_t>(wire::BundleWhat::piece);
  const std::size_t length = std::min<std::size_t>(input[5] % 64, input.size() - 6);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&head);
  const auto* const rest = reinterpret_cast<const std::byte*>(input.data() + 6);
  item.bytes.assign(bytes, bytes + sizeof head);
  if (input[4] == 254) item.bytes.resize(input[0] % sizeof head);
  item.bytes.insert(item.bytes.end(), rest, rest + length);
  if (is_piece && item.bytes.size() > 34) item.prefix_bytes = 17 + input[1] % 17;
  item.envelope = {wire::PacketKind::data, 0, 0, 0, static_cast<std::uint32_t>(item.bytes.size())};
  input = input.subspan(6 + length);
  return item;
}

struct Fixture {
  std::unique_ptr<fabric::Bundle> bundle;
  std::vector<InputRail*> rails;
  unsigned losses = 0;
  unsigned returns = 0;
  bool leaving = false;

  /// The process leaves, or comes back when it can.
  void go_or_come() {
    if (!leaving) {
      bundle->leave(fabric::Leaving::may_return);
      leaving = true;
    } else if (bundle->quiesced()) {
      bundle->end();
      if (bundle->resume().failed()) std::abort();
      leaving = false;
      ++returns;
    }
  }

  Fixture() {
    fabric::bundle::Config config;
    config.processes = fabric::one_job({1, 0}, 2);
    config.owner = this;
    config.find = [](void*, std::uint32_t) {
      const wire::BundleRail rails[] = {{"tcp", std::vector<std::byte>(4)},
                                        {"tcp#2", std::vector<std::byte>(4)}};
      return wire::encode_bundle_address(rails);
    };
    config.lost = [](void* owner, std::uint32_t, const base::Error&) {
      ++static_cast<Fixture*>(owner)->losses;
    };
    bundle = std::move(*fabric::Bundle::open(config));
    for (const char* label : {"tcp", "tcp#2"}) {
      auto rail = std::make_unique<InputRail>(bundle->next_owner());
      rails.push_back(rail.get());
      if (bundle->add(std::move(rail), label, 1e9).failed()) std::abort();
    }
  }
};

}  // namespace

void bundle_packets(std::span<const std::uint8_t> input) {
  static_cast<void>(wire::decode_bundle_address(std::as_bytes(input)));
  if (input.size() < 2) return;
  Fixture fixture;
  GreedySink sink;
  // So that there is something to acknowledge.
  std::byte body[64]{};
  unsigned posted = 0;
  for (unsigned i = 0; i < input[0] % 6U; ++i) {
    const wire::Envelope envelope{wire::PacketKind::eager, 0, 0, 0, sizeof body};
    static_cast<void>(fixture.bundle->post(1, envelope, body));
    const iovec piece{body, 48};
    if (fixture.bundle->post_in_place(1, envelope, std::span(body).first(16), {&piece, 1},
                                      posted) == Post::done) {
      ++posted;
    }
  }
  input = input.subspan(1);
  while (input.size() >= 6) {
    if (input[4] == 252) fixture.go_or_come();
    InputRail& rail = *fixture.rails[input[4] % 2];
    rail.input.push_back(next_item(input));
    fixture.bundle->poll(sink);
  }
  if (fixture.leaving) fixture.go_or_come();
  for (InputRail* rail : fixture.rails) rail->input.push_back({{}, {}, 0, true, false});
  for (unsigned i = 0; i < 8; ++i) fixture.bundle->poll(sink);
  // Everything ends, whatever has come: once, for posts, and in each life for the peer.
  if (sink.ended != posted || fixture.losses > 1 + fixture.returns) std::abort();
}

}  // namespace fulmar::fuzz
