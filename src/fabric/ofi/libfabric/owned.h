// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <rdma/fabric.h>

#include <utility>

namespace fulmar::fabric::ofi {

/// An object of libfabric, closed at the end.
template <class Object>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { close(); }

  void close() noexcept {
    if (object_ != nullptr) ::fi_close(&object_->fid);
    object_ = nullptr;
  }
  [[nodiscard]] Object* get() const noexcept { return object_; }
  [[nodiscard]] Object* operator->() const noexcept { return object_; }
  /// Where libfabric puts a new one; only of one that is empty.
  [[nodiscard]] Object** out() noexcept { return &object_; }

 private:
  Object* object_ = nullptr;
};

}  // namespace fulmar::fabric::ofi
