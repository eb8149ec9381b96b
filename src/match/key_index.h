// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "match/list_node.h"
#include "match/key.h"

namespace fulmar::match {

/// A hash table of queue elements by what `project` leaves of their key. Elements of one list stand
/// in the order in which they were added. Grows with what it holds; where there is no memory for
/// that it stays as large as it is. `offset` is that of the hook in the element. Owns no element.
template <class Element, std::size_t offset, Key (*project)(const Key&) noexcept>
class KeyIndex {
 public:
  KeyIndex() = default;
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;
  ~KeyIndex() { delete[] grown_; }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  void add(Element& element) noexcept {
    if (count_ > mask_) grow();
    ++count_;
    list_of(element.key).append(hook_of(element));
  }
  void remove(Element& element) noexcept {
    --count_;
    HookList::remove(hook_of(element));
  }
  /// The element added first whose projected key equals that of `key` and which `accept`s;
  /// nullptr if there is none.
  template <class Accept>
  [[nodiscard]] Element* first(const Key& key, Accept accept) noexcept {
    if (count_ == 0) return nullptr;
    const Key wanted = project(key);
    HookList& list = list_of(key);
    for (Hook* hook = list.first(); hook != list.end(); hook = hook->next) {
      Element* element = element_of(hook);
      if (project(element->key) == wanted && accept(*element)) return element;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t first_size = 64;

  static Hook& hook_of(Element& element) noexcept {
    return *reinterpret_cast<Hook*>(reinterpret_cast<std::byte*>(&element) + offset);
  }
  static Element* element_of(Hook* hook) noexcept {
    return reinterpret_cast<Element*>(reinterpret_cast<std::byte*>(hook) - offset);
  }
  HookList& list_of(const Key& key) noexcept { return lists_[hash(project(key)) & mask_]; }

  void grow() noexcept {
    const std::size_t size = (mask_ + 1) * 4;
    auto* lists = new (std::nothrow) HookList[size];
    if (lists == nullptr) return;
    HookList* const old = lists_;
    const std::size_t old_size = mask_ + 1;
    lists_ = lists;
    mask_ = size - 1;
    for (std::size_t i = 0; i < old_size; ++i) {
      while (!old[i].empty()) {
        Hook* hook = old[i].first();
        HookList::remove(*hook);
        list_of(element_of(hook)->key).append(*hook);
      }
    }
    delete[] grown_;
    grown_ = lists;
  }

  std::size_t count_ = 0;
  std::size_t mask_ = first_size - 1;
  std::array<HookList, first_size> small_;
  HookList* lists_ = small_.data();
  HookList* grown_ = nullptr;
};

}  // namespace fulmar::match
