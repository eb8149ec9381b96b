// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "channel/channel.h"
#include "fabric/enabled.h"

namespace fulmar::device {

/// Names a link of one of the enabled channels.
struct RailRef {
  void* link = nullptr;
  std::uint8_t provider = 0;
  std::uint32_t number = 0;  ///< the provider's own for this peer
};

/// The channels of a process, one for each provider in use, and the links to its peers. A call goes
/// to the right one by a switch over the closed set of enabled providers; with one provider there
/// is no switch.
///
/// Providers that map their peers' memory know the ranks of one node alone, and number them from 0
/// in the order of their ranks in the job; all others number peers by rank. The translation is
/// here: once when a link is made, and for what arrives in `get`.
template <class List>
class Rails;

template <fabric::Provider... P>
class Rails<fabric::ProviderList<P...>> {
 public:
  template <class Each>
  using ChannelOf = channel::Channel<Each>;
  static constexpr std::size_t provider_count = sizeof...(P);

  /// Uses `provider`, which outlives this and serves every process of the job.
  template <class Each>
    requires(!fabric::MapsPeers<Each>)
  void use(Each& provider) {
    std::get<std::unique_ptr<ChannelOf<Each>>>(channels_) =
        std::make_unique<ChannelOf<Each>>(provider);
  }
  /// The same for a provider that serves the processes `ranks`, in ascending order, alone; without
  /// `ranks` those from 0 on.
  template <fabric::MapsPeers Each>
  void use(Each& provider, std::span<const std::uint32_t> ranks = {}) {
    std::get<std::unique_ptr<ChannelOf<Each>>>(channels_) =
        std::make_unique<ChannelOf<Each>>(provider);
    node_ranks_.assign(ranks.begin(), ranks.end());
    while (node_ranks_.size() < provider.size()) {
      node_ranks_.push_back(static_cast<std::uint32_t>(node_ranks_.size()));
    }
  }

  /// Calls f(channel, link) for the channel of `rail`.
  template <class F>
  [[gnu::always_inline]] decltype(auto) visit(const RailRef& rail, F&& f) {
    return visit_from<0>(rail, std::forward<F>(f));
  }
  /// The same for a peer that is reached through shared memory, without a switch.
  template <class F>
  [[gnu::always_inline]] decltype(auto) visit_mapped(const RailRef& rail, F&& f) {
    if constexpr ((... || fabric::MapsPeers<P>)) {
      return visit_first_mapped<0>(rail, std::forward<F>(f));
    } else {
      return visit(rail, std::forward<F>(f));
    }
  }
  /// Calls f(channel) for every channel in use.
  template <class F>
  void for_each(F&& f) {
    std::apply([&](auto&... each) { (..., (each != nullptr ? f(*each) : void())); }, channels_);
  }

  /// Calls f(channel, links) for every channel in use and the links made on it.
  template <class F>
  void for_each_with_links(F&& f) {
    (..., with_links<P>(f));
  }

  /// Whether shared memory is in use.
  [[nodiscard]] bool maps_node() const noexcept { return node_ranks_.size() > 1; }

  /// Takes what arrived on one of the channels; the sink gets the senders' ranks.
  template <class Channel, class Sink>
  [[gnu::always_inline]] unsigned get(Channel& channel, Sink& sink) noexcept {
    if constexpr (numbers_node<Channel>) {
      Renumbered<Sink> renumbered{sink, node_ranks_.data()};
      return channel.get(renumbered);
    } else {
      return channel.get(sink);
    }
  }

  /// The link to a peer over the first provider that serves it: those that map its memory, then the
  /// others, in the order of the list. No link if none does.
  [[nodiscard]] RailRef connect(std::uint32_t peer) {
    const RailRef mapped = connect_from<0, true>(peer);
    return mapped.link != nullptr ? mapped : connect_from<0, false>(peer);
  }

  /// The number of a process among those of the node; `not_here` for one of another node.
  static constexpr std::uint32_t not_here = UINT32_MAX;
  [[nodiscard]] std::uint32_t number_in_node(std::uint32_t rank) const noexcept {
    const auto at = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), rank);
    return at != node_ranks_.end() && *at == rank
               ? static_cast<std::uint32_t>(at - node_ranks_.begin())
               : not_here;
  }

 private:
  /// Hands packets on under the senders' ranks.
  template <class Sink>
  struct Renumbered {
    Sink& sink;
    const std::uint32_t* ranks;
    [[gnu::always_inline]] void packet(std::uint32_t number, const wire::Envelope& envelope,
                                       const fabric::Body& body) noexcept {
      sink.packet(ranks[number], envelope, body);
    }
    [[nodiscard]] std::span<const iovec> place(std::uint32_t number, const wire::Envelope& envelope,
                                               std::span<const std::byte> prefix,
                                               std::uint64_t offset, std::uint64_t bytes) noexcept {
      return sink.place(ranks[number], envelope, prefix, offset, bytes);
    }
    void placed(std::uint32_t number, const wire::Envelope& envelope,
                std::span<const std::byte> prefix, std::uint64_t offset,
                std::uint64_t bytes) noexcept {
      sink.placed(ranks[number], envelope, prefix, offset, bytes);
    }
    void part(std::uint32_t number, const wire::Envelope& envelope,
              std::span<const std::byte> prefix, std::uint64_t offset,
              std::span<const std::byte> payload) noexcept {
      sink.part(ranks[number], envelope, prefix, offset, payload);
    }
    [[nodiscard]] bool expect(std::uint32_t number, const wire::Envelope& envelope) noexcept {
      return sink.expect(ranks[number], envelope);
    }
    void sent(std::uint64_t token, fabric::Sent how) noexcept { sink.sent(token, how); }
  };
  template <class Channel>
  static constexpr bool numbers_node =
      (... || (fabric::MapsPeers<P> && std::is_same_v<Channel, ChannelOf<P>>));

  template <class Each>
  struct Links {
    std::vector<std::unique_ptr<typename ChannelOf<Each>::Link>> owned;
    std::vector<typename ChannelOf<Each>::Link*> raw;
  };
  template <std::size_t index>
  using ProviderAt = std::tuple_element_t<index, std::tuple<P...>>;

  template <class Each, class F>
  void with_links(F& f) {
    auto& channel = std::get<std::unique_ptr<ChannelOf<Each>>>(channels_);
    if (channel != nullptr) f(*channel, std::get<Links<Each>>(links_).raw);
  }
  template <std::size_t index, class F>
  [[gnu::always_inline]] decltype(auto) visit_from(const RailRef& rail, F&& f) {
    using Each = ProviderAt<index>;
    if constexpr (index + 1 < provider_count) {
      if (rail.provider != index) return visit_from<index + 1>(rail, std::forward<F>(f));
    }
    return f(*std::get<index>(channels_), *static_cast<typename ChannelOf<Each>::Link*>(rail.link));
  }
  template <std::size_t index, class F>
  [[gnu::always_inline]] decltype(auto) visit_first_mapped(const RailRef& rail, F&& f) {
    using Each = ProviderAt<index>;
    if constexpr (!fabric::MapsPeers<Each>) {
      return visit_first_mapped<index + 1>(rail, std::forward<F>(f));
    } else {
      return f(*std::get<index>(channels_),
               *static_cast<typename ChannelOf<Each>::Link*>(rail.link));
    }
  }
  template <std::size_t index, bool mapped>
  RailRef connect_from(std::uint32_t peer) {
    if constexpr (index == provider_count) {
      return {};
    } else if constexpr (fabric::MapsPeers<ProviderAt<index>> != mapped) {
      return connect_from<index + 1, mapped>(peer);
    } else {
      using Each = ProviderAt<index>;
      auto& channel = std::get<index>(channels_);
      if (channel == nullptr) return connect_from<index + 1, mapped>(peer);
      std::uint32_t number = peer;
      if constexpr (mapped) number = number_in_node(peer);
      if (number == not_here) return connect_from<index + 1, mapped>(peer);
      auto& links = std::get<Links<Each>>(links_);
      links.owned.push_back(channel->connect(number));
      links.raw.push_back(links.owned.back().get());
      return {links.raw.back(), static_cast<std::uint8_t>(index), number};
    }
  }

  std::tuple<std::unique_ptr<ChannelOf<P>>...> channels_;
  std::tuple<Links<P>...> links_;
  std::vector<std::uint32_t> node_ranks_;  ///< by number in the node
};

using EnabledRails = Rails<fabric::EnabledProviders>;

/// Channels whose provider takes the bytes of long messages from where they lie.
template <class Channel>
inline constexpr bool sends_in_place =
    fabric::SendsInPlace<std::remove_cvref_t<decltype(std::declval<Channel&>().provider())>>;

/// Channels whose provider knows who has left.
template <class Channel>
inline constexpr bool tells_of_leaving =
    fabric::TellsOfLeaving<std::remove_cvref_t<decltype(std::declval<Channel&>().provider())>>;

/// Channels whose provider reads and writes peers' memory.
template <class Channel>
inline constexpr bool moves_remotely =
    fabric::MovesRemotely<std::remove_cvref_t<decltype(std::declval<Channel&>().provider())>>;

/// The channel of the study's designs (fabric::LendsPipes).
template <class Channel>
inline constexpr bool studies_designs = requires(Channel& channel) { channel.design_counters(); };

/// Channels of networks: their provider has a descriptor to sleep on (fabric::SleepsOnDescriptor).
template <class Channel>
inline constexpr bool sleeps_on_descriptor =
    fabric::SleepsOnDescriptor<std::remove_cvref_t<decltype(std::declval<Channel&>().provider())>>;

/// Channels of networks that can tell of the ends of own orders apart (fabric::TellsEndsApart).
template <class Channel>
inline constexpr bool tells_ends_apart =
    fabric::TellsEndsApart<std::remove_cvref_t<decltype(std::declval<Channel&>().provider())>>;

}  // namespace fulmar::device
