// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "match/key.h"
#include "match/list_node.h"

namespace fulmar::match {

/// A hash table of queue elements by the part of their key that `project` keeps. Elements of one
/// list are in the order in which they were added. Grows with its contents; where there is no
/// memory for that its size stays. `offset` is that of the list node in the element. Owns no
/// element.
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
    List::remove(hook_of(element));
  }
  /// The element added first whose projected key equals that of `key` and which `accept`s;
  /// nullptr if there is none.
  template <class Accept>
  [[nodiscard]] Element* first(const Key& key, Accept accept) noexcept {
    if (count_ == 0) return nullptr;
    const Key wanted = project(key);
    List& list = list_of(key);
    for (ListNode* node = list.first(); node != list.end(); node = node->next) {
      Element* element = element_of(node);
      if (project(element->key) == wanted && accept(*element)) return element;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t first_size = 64;

  static ListNode& hook_of(Element& element) noexcept {
    return *reinterpret_cast<ListNode*>(reinterpret_cast<std::byte*>(&element) + offset);
  }
  static Element* element_of(ListNode* node) noexcept {
    return reinterpret_cast<Element*>(reinterpret_cast<std::byte*>(node) - offset);
  }
  List& list_of(const Key& key) noexcept { return lists_[hash(project(key)) & mask_]; }

  void grow() noexcept {
    const std::size_t size = (mask_ + 1) * 4;
    auto* lists = new (std::nothrow) List[size];
    if (lists == nullptr) return;
    List* const old = lists_;
    const std::size_t old_size = mask_ + 1;
    lists_ = lists;
    mask_ = size - 1;
    for (std::size_t i = 0; i < old_size; ++i) {
      while (!old[i].empty()) {
        ListNode* node = old[i].first();
        List::remove(*node);
        list_of(element_of(node)->key).append(*node);
      }
    }
    delete[] grown_;
    grown_ = lists;
  }

  std::size_t count_ = 0;
  std::size_t mask_ = first_size - 1;
  std::array<List, first_size> small_;
  List* lists_ = small_.data();
  List* grown_ = nullptr;
};

}  // namespace fulmar::match
