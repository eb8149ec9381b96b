// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string_view>

#include "device/regcache/memory_opener.h"
#include "fabric/network.h"
#include "study/design.h"

namespace fulmar::study {

/// A network whose packets go through one of the channel designs that the papers compare. The
/// runtime gives it to the device in place of shared memory, or of the network whose adapter writes
/// to peers' memory.
class DesignNetwork : public fabric::Network {
 public:
  using Network::Network;

  /// Before the first packet: what the design needs opened is taken from this cache, which outlives
  /// the network's last packet. Nothing is opened for designs over shared memory.
  virtual void use(device::RegistrationCache& /*opener*/) {}
  /// What the design has cost so far.
  [[nodiscard]] virtual const DesignCounters& counters() const noexcept = 0;

  /// One of the counters: "design_writes" is DesignCounters::writes.
  [[nodiscard]] std::uint64_t counted(std::string_view what) const noexcept override {
    return counted_by(counters(), what);
  }

 protected:
  /// Of any design, with chunks of so many bytes.
  [[nodiscard]] static fabric::NetworkAttributes attributes_of(std::size_t chunk_bytes) noexcept;

 private:
  [[nodiscard]] static std::uint64_t counted_by(const DesignCounters& counters,
                                                std::string_view what) noexcept;
};

}  // namespace fulmar::study
