// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sisci_api.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "fulmar/measure/message_path.h"

namespace fulmar::measure {

namespace {

struct SisciCalls {
  explicit SisciCalls(const LoadedLibrary& library) {
    require(library.is_there(), sisci_file);
    library.find("SCIInitialize", initialize);
    library.find("SCITerminate", terminate);
    library.find("SCIOpen", open);
    library.find("SCIClose", close);
    library.find("SCIGetLocalNodeId", local_node);
    library.find("SCICreateSegment", create);
    library.find("SCIPrepareSegment", prepare);
    library.find("SCIMapLocalSegment", map_local);
    library.find("SCISetSegmentAvailable", set_available);
    library.find("SCIRemoveSegment", remove);
    library.find("SCIConnectSegment", connect);
    library.find("SCIDisconnectSegment", disconnect);
    library.find("SCIMapRemoteSegment", map_remote);
    library.find("SCIUnmapSegment", unmap);
    library.find("SCIMemCpy", copy);
  }
  decltype(SCIInitialize)* initialize = nullptr;
  decltype(SCITerminate)* terminate = nullptr;
  decltype(SCIOpen)* open = nullptr;
  decltype(SCIClose)* close = nullptr;
  decltype(SCIGetLocalNodeId)* local_node = nullptr;
  decltype(SCICreateSegment)* create = nullptr;
  decltype(SCIPrepareSegment)* prepare = nullptr;
  decltype(SCIMapLocalSegment)* map_local = nullptr;
  decltype(SCISetSegmentAvailable)* set_available = nullptr;
  decltype(SCIRemoveSegment)* remove = nullptr;
  decltype(SCIConnectSegment)* connect = nullptr;
  decltype(SCIDisconnectSegment)* disconnect = nullptr;
  decltype(SCIMapRemoteSegment)* map_remote = nullptr;
  decltype(SCIUnmapSegment)* unmap = nullptr;
  decltype(SCIMemCpy)* copy = nullptr;
};

/// A segment holds a counter of the messages that have come, and a page later the data of the last one.
class SisciPath final : public MessagePath {
 public:
  SisciPath(const Team& team, std::size_t bytes) : calls_(LoadedLibrary(sisci_file)), data_(bytes) {
    calls_.initialize(0, &error_);
    check("SCIInitialize");
    calls_.open(&device_, 0, &error_);
    check("SCIOpen");
    make_own();
    unsigned int node = 0;
    calls_.local_node(0, &node, 0, &error_);
    check("SCIGetLocalNodeId");
    reach(swap_values(team, node));
    (void)swap_values(team, 0);
  }
  ~SisciPath() override {
    calls_.unmap(remote_map_, 0, &error_);
    calls_.disconnect(remote_, 0, &error_);
    calls_.unmap(own_map_, 0, &error_);
    calls_.remove(own_, SCI_FLAG_FORCE_REMOVE, &error_);
    calls_.close(device_, 0, &error_);
    check("SCIClose");
    calls_.terminate();
  }
  void start() override {
    if (address_ != nullptr) {
      std::memcpy(address_ + data_at, data_.data(), data_.size());
    } else {
      calls_.copy(nullptr, data_.data(), remote_map_, data_at, data_.size(), 0, &error_);
      check("SCIMemCpy");
    }
    start_empty();
  }
  void start_empty() override {
    ++sent_;
    if (address_ != nullptr) {
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(address_), sent_, __ATOMIC_RELEASE);
    } else {
      calls_.copy(nullptr, &sent_, remote_map_, 0, sizeof sent_, 0, &error_);
      check("SCIMemCpy");
    }
  }
  void complete() override {}
  void receive(int count) override {
    received_ += static_cast<std::uint64_t>(count);
    while (__atomic_load_n(counter_, __ATOMIC_ACQUIRE) < received_) {
      // What does not come by stores comes by a thread of the library, which may need this core.
      if (address_ == nullptr) std::this_thread::yield();
    }
  }

 private:
  static constexpr unsigned int number = 0x4642;
  static constexpr std::size_t data_at = 4096;

  void check(const char* call) const { require(error_ == SCI_ERR_OK, call); }
  void make_own() {
    const std::size_t bytes = data_at + data_.size();
    calls_.create(device_, &own_, number, bytes, nullptr, nullptr, 0, &error_);
    check("SCICreateSegment");
    calls_.prepare(own_, 0, 0, &error_);
    check("SCIPrepareSegment");
    counter_ = static_cast<std::uint64_t*>(
        calls_.map_local(own_, &own_map_, 0, bytes, nullptr, 0, &error_));
    check("SCIMapLocalSegment");
    calls_.set_available(own_, 0, 0, &error_);
    check("SCISetSegmentAvailable");
  }
  void reach(unsigned int node) {
    const std::size_t bytes = data_at + data_.size();
    calls_.connect(device_, &remote_, node, number, 0, nullptr, nullptr, SCI_INFINITE_TIMEOUT, 0,
                   &error_);
    check("SCIConnectSegment");
    address_ = static_cast<std::byte*>(
        const_cast<void*>(calls_.map_remote(remote_, &remote_map_, 0, bytes, nullptr, 0, &error_)));
    if (error_ != SCI_ERR_NOT_SUPPORTED) return check("SCIMapRemoteSegment");
    address_ = nullptr;
    calls_.map_remote(remote_, &remote_map_, 0, bytes, nullptr, SCI_FLAG_NO_ADDRESS_MAP, &error_);
    check("SCIMapRemoteSegment");
  }

  SisciCalls calls_;
  std::vector<std::byte> data_;
  sci_error_t error_ = SCI_ERR_OK;
  sci_desc_t device_ = nullptr;
  sci_local_segment_t own_ = nullptr;
  sci_map_t own_map_ = nullptr;
  std::uint64_t* counter_ = nullptr;
  sci_remote_segment_t remote_ = nullptr;
  sci_map_t remote_map_ = nullptr;
  std::byte* address_ = nullptr;  ///< null: by transfers
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace

std::unique_ptr<MessagePath> make_sisci_path(const Team& team, std::size_t bytes) {
  return std::make_unique<SisciPath>(team, bytes);
}

}  // namespace fulmar::measure
