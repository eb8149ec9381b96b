// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
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
};

/// The channels of a process, one for each provider in use, and the links to its peers. A call goes
/// to the right one by a switch over the closed set of enabled providers; with one provider there
/// is no switch.
template <class List>
class Rails;

template <fabric::Provider... P>
class Rails<fabric::ProviderList<P...>> {
 public:
  template <class Each>
  using ChannelOf = channel::Channel<Each>;
  static constexpr std::size_t provider_count = sizeof...(P);

  /// Uses `provider`, which outlives this.
  template <class Each>
  void use(Each& provider) {
    std::get<std::unique_ptr<ChannelOf<Each>>>(channels_) =
        std::make_unique<ChannelOf<Each>>(provider);
  }

  /// Calls f(channel, link) for the channel of `rail`.
  template <class F>
  [[gnu::always_inline]] decltype(auto) visit(const RailRef& rail, F&& f) {
    return visit_from<0>(rail, std::forward<F>(f));
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

  /// The link to a peer over the first provider in use. Providers come in the order of the list.
  [[nodiscard]] RailRef connect(std::uint32_t peer) { return connect_from<0>(peer); }

 private:
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
  template <std::size_t index>
  RailRef connect_from(std::uint32_t peer) {
    if constexpr (index == provider_count) {
      return {};
    } else {
      using Each = ProviderAt<index>;
      auto& channel = std::get<index>(channels_);
      if (channel == nullptr) return connect_from<index + 1>(peer);
      auto& links = std::get<Links<Each>>(links_);
      links.owned.push_back(channel->connect(peer));
      links.raw.push_back(links.owned.back().get());
      return {links.raw.back(), static_cast<std::uint8_t>(index)};
    }
  }

  std::tuple<std::unique_ptr<ChannelOf<P>>...> channels_;
  std::tuple<Links<P>...> links_;
};

using EnabledRails = Rails<fabric::EnabledProviders>;

}  // namespace fulmar::device
