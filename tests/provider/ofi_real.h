// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/ofi/messages.h"
#include "fabric/ofi/ofi.h"
#include "fabric/ofi/open.h"

namespace fulmar::fabric {

/// Why there is no real libfabric to test with; empty if there is.
inline std::string lacking_libfabric() {
  return ofi::is_built() ? std::string() : "built without libfabric-dev";
}

/// Ranks of one process over the real libfabric: its tcp;ofi_rxm, which needs no hardware.
struct RealOfi {
  struct Habits {
    std::int64_t keep_alive_interval_ns = ofi::Config().keep_alive_interval_ns;
  };
  struct Rank {
    RealOfi* net = nullptr;
    std::unique_ptr<Ofi> ofi;
    std::vector<std::byte> address;
    std::vector<std::string> losses;
  };
  std::vector<Rank> ranks;
  Habits habits;

  explicit RealOfi(std::uint32_t size) : RealOfi(size, {}) {}
  RealOfi(std::uint32_t size, const Habits& how) : ranks(size), habits(how) {
    for (std::uint32_t self = 0; self < size; ++self) open(self);
  }
  RealOfi(const RealOfi&) = delete;
  RealOfi& operator=(const RealOfi&) = delete;

  Ofi& operator[](std::size_t rank) { return *ranks[rank].ofi; }

 private:
  void open(std::uint32_t self) {
    ranks[self].net = this;
    auto opened = Ofi::open(config(self), "tcp;ofi_rxm");
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    ranks[self].ofi = std::move(*opened);
    const auto address = ranks[self].ofi->address();
    ASSERT_TRUE(address.ok()) << address.error().text();
    ranks[self].address = address.value();
  }
  ofi::Config config(std::uint32_t self) {
    ofi::Config config;
    config.processes = one_job({77, self}, static_cast<std::uint32_t>(ranks.size()), {9});
    config.owner = &ranks[self];
    config.find = [](void* owner, std::uint32_t peer) -> base::Result<std::vector<std::byte>> {
      return static_cast<Rank*>(owner)->net->ranks[peer].address;
    };
    config.keep_alive_interval_ns = habits.keep_alive_interval_ns;
    config.lost = [](void* owner, std::uint32_t, const base::Error& why) {
      static_cast<Rank*>(owner)->losses.push_back(why.text());
    };
    return config;
  }
};

}  // namespace fulmar::fabric
