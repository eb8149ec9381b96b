// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fuzz/targets.h"
#include "wire/interfaces/vipl.h"

namespace fulmar::fuzz {
namespace {

template <class Entry>
void fill(Entry& entry, std::span<const std::uint8_t> input) {
  std::memcpy(static_cast<void*>(&entry), input.data(), std::min(input.size(), sizeof entry));
}

}  // namespace

/// The first byte chooses whether the checks of entries are made right, so that what is behind them is reached.
void vipl_entries(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const bool is_whole = input[0] % 2 == 0;
  input = input.subspan(1);
  wire::ViplCompletion completion{};
  fill(completion, input);
  if (is_whole) completion.check = vipl_check_of(completion);
  const auto taken = wire::read_vipl_completion(completion, completion.number);
  if (taken.has_value() != (completion.check == vipl_check_of(completion))) std::abort();
  if (taken && ((taken->status & ~0x1feU) != 0 || taken->flags > 7)) std::abort();
  if (wire::read_vipl_completion(completion, completion.number + 1)) std::abort();

  const auto push = std::make_unique<wire::ViplPush>();
  const auto read = std::make_unique<wire::ViplPush>();
  fill(*push, input);
  const bool fits = push->head.targets <= wire::vipl_most_segments;
  if (is_whole && fits) push->head.check = vipl_check_of(*push);
  const bool is_read = wire::read_vipl_push(*push, push->head.number, *read);
  if (is_read && !fits) std::abort();
  if (is_whole && fits && !is_read) std::abort();

  const auto message = wire::decode_vipl_message(std::as_bytes(input));
  if (!message) return;
  if (message->from_bytes + message->to_bytes > message->text.size()) std::abort();
  const auto kind = static_cast<std::uint32_t>(message->kind);
  if (kind == 0 || kind > static_cast<std::uint32_t>(wire::ViplKind::last)) std::abort();
}

}  // namespace fulmar::fuzz
