// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sisci_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "support/expect.h"

// What the programs that test SISCI share.
namespace test {

/// A code that no call gives.
inline constexpr auto untouched = static_cast<sci_error_t>(0x12345678);

/// The error of a call, whose last argument it is.
template <class Call, class... Arguments>
sci_error_t error_of(Call* call, Arguments... arguments) {
  sci_error_t error = untouched;
  (void)call(arguments..., &error);
  return error;
}

inline void expect_error(sci_error_t actual, sci_error_t expected, const char* what,
                         std::source_location where = std::source_location::current()) {
  if (expect(actual == expected, what, where)) return;
  std::fprintf(stderr, "  got 0x%x (%s), expected 0x%x\n", static_cast<unsigned>(actual),
               SCIGetErrorString(actual), static_cast<unsigned>(expected));
}
inline void expect_ok(sci_error_t actual, const char* what,
                      std::source_location where = std::source_location::current()) {
  expect_error(actual, SCI_ERR_OK, what, where);
}

/// The number of the node of rank 0, 1, ...: without a node file its rank.
inline unsigned int node_id() {
  unsigned int id = UINT32_MAX;
  expect_ok(error_of(SCIGetLocalNodeId, 0U, &id, 0U), "SCIGetLocalNodeId");
  return id;
}

/// A descriptor for the life of a test.
class Device {
 public:
  Device() { expect_ok(error_of(SCIOpen, &descriptor_, 0U), "SCIOpen"); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { expect_ok(error_of(SCIClose, descriptor_, 0U), "SCIClose: all is removed"); }
  operator sci_desc_t() const { return descriptor_; }

 private:
  sci_desc_t descriptor_ = nullptr;
};

/// A local segment that others can connect to.
class Exported {
 public:
  Exported(sci_desc_t device, unsigned int id, std::size_t bytes, unsigned int flags = 0) {
    expect_ok(error_of(SCICreateSegment, device, &segment, id, bytes,
                       sci_cb_local_segment_t{nullptr}, static_cast<void*>(nullptr), flags),
              "SCICreateSegment");
    expect_ok(error_of(SCIPrepareSegment, segment, 0U, 0U), "SCIPrepareSegment");
    sci_error_t error = untouched;
    memory = static_cast<unsigned char*>(
        SCIMapLocalSegment(segment, &map, 0, bytes, nullptr, 0, &error));
    expect_ok(error, "SCIMapLocalSegment");
    expect_ok(error_of(SCISetSegmentAvailable, segment, 0U, 0U), "SCISetSegmentAvailable");
  }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  /// Connections end with it.
  ~Exported() {
    expect_ok(error_of(SCIUnmapSegment, map, 0U), "SCIUnmapSegment of the own map");
    expect_ok(error_of(SCIRemoveSegment, segment, SCI_FLAG_FORCE_REMOVE), "SCIRemoveSegment");
  }
  sci_local_segment_t segment = nullptr;
  sci_map_t map = nullptr;
  unsigned char* memory = nullptr;
};

/// A connection to a segment of another node, tried until it is there.
class Imported {
 public:
  Imported(sci_desc_t device, unsigned int node, unsigned int id) {
    await(
        [&] {
          const sci_error_t error = connect(device, node, id);
          return error != SCI_ERR_NO_SUCH_SEGMENT;
        },
        "a segment");
    expect(segment != nullptr, "SCIConnectSegment");
  }
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;
  ~Imported() { expect_ok(error_of(SCIDisconnectSegment, segment, 0U), "SCIDisconnectSegment"); }
  sci_remote_segment_t segment = nullptr;

 private:
  sci_error_t connect(sci_desc_t device, unsigned int node, unsigned int id) {
    return error_of(SCIConnectSegment, device, &segment, node, id, 0U,
                    sci_cb_remote_segment_t{nullptr}, static_cast<void*>(nullptr),
                    SCI_INFINITE_TIMEOUT, 0U);
  }
};

/// A map of a remote segment: for loads and stores where that is possible, else for transfers.
class Mapped {
 public:
  Mapped(sci_remote_segment_t segment, std::size_t offset, std::size_t bytes, unsigned int flags) {
    sci_error_t error = untouched;
    memory = static_cast<volatile unsigned char*>(
        SCIMapRemoteSegment(segment, &map, offset, bytes, nullptr, flags, &error));
    expect_ok(error, "SCIMapRemoteSegment");
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { expect_ok(error_of(SCIUnmapSegment, map, 0U), "SCIUnmapSegment"); }
  sci_map_t map = nullptr;
  volatile unsigned char* memory = nullptr;
};

}  // namespace test
