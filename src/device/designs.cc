// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/designs.h"

#include "channel/mapped_channel.inl"

namespace fulmar::device {

DesignLook::DesignLook(Device& device) noexcept : device_(device) {
  step = [](Hook& hook) {
    Device& device = static_cast<DesignLook&>(hook).device_;
    unsigned moved = 0;
    device.rails().for_each([&](auto& channel) {
      using Channel = std::remove_cvref_t<decltype(channel)>;
      if constexpr (studies_designs<Channel> && !sleeps_on_descriptor<Channel>) {
        moved += device.rails().get(channel, device);
      }
    });
    return moved;
  };
  device.add_hook(*this);
}

void choose_design(Device& device, const channel::DesignPlan& plan) noexcept {
  device.rails().for_each([&](auto& channel) {
    if constexpr (studies_designs<std::remove_cvref_t<decltype(channel)>>) channel.choose(plan);
  });
}

namespace {

/// A provider that lends pipes is served by the channel of the designs: one that lacks a member
/// would quietly be given to that for every day.
template <class... P>
consteval bool designs_serve_lenders(fabric::ProviderList<P...>* /*list*/) {
  return (... && (!requires { P::lends_pipes; } || studies_designs<channel::Channel<P>>));
}
static_assert(designs_serve_lenders(static_cast<fabric::EnabledProviders*>(nullptr)));

/// Channels whose designs need memory opened.
template <class Channel>
inline constexpr bool borrows_memory = studies_designs<Channel> && moves_remotely<Channel>;

/// The caches of the device, for one channel.
template <class Channel>
class CachedLender final : public channel::Lender {
 public:
  CachedLender(MemoryOpener& opener, Channel& channel) noexcept
      : opener_(opener), channel_(channel) {}
  [[nodiscard]] base::Result<channel::Loan> take(std::span<std::byte> memory,
                                                 fabric::Access access) override {
    const auto taken = opener_.take(channel_, memory, access, Holds::all);
    if (taken.failed()) return taken.error();
    return channel::Loan{taken.value().opened, new TakenMemory(taken.value())};
  }
  void give_back(const channel::Loan& loan) override {
    const std::unique_ptr<TakenMemory> taken(static_cast<TakenMemory*>(loan.owner));
    opener_.give_back(*taken);
  }

 private:
  MemoryOpener& opener_;
  Channel& channel_;
};

}  // namespace

std::unique_ptr<channel::Lender> lend_to_designs(Device& device) {
  std::unique_ptr<channel::Lender> lender;
  device.rails().for_each([&](auto& channel) {
    using Channel = std::remove_cvref_t<decltype(channel)>;
    if constexpr (borrows_memory<Channel>) {
      lender = std::make_unique<CachedLender<Channel>>(device.memory(), channel);
      channel.use(*lender);
    }
  });
  return lender;
}

bool designs_settled(Device& device) noexcept {
  bool settled = true;
  device.rails().for_each([&](auto& channel) {
    if constexpr (borrows_memory<std::remove_cvref_t<decltype(channel)>>) {
      settled = settled && channel.is_settled();
    }
  });
  return settled;
}

channel::DesignCounters design_counters(Device& device) noexcept {
  channel::DesignCounters counters;
  device.rails().for_each([&](auto& channel) {
    if constexpr (studies_designs<std::remove_cvref_t<decltype(channel)>>) {
      counters += channel.design_counters();
    }
  });
  return counters;
}

}  // namespace fulmar::device
