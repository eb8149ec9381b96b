// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/error.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace fulmar::base {
namespace {

/// One remembered text. A writer takes the next ticket and makes `ticket` odd while it writes, so
/// that a reader can tell whether what it copied is still the text of its Error. Bytes are relaxed
/// atomics: a reader may race with a writer 256 errors later, and then throws the copy away.
struct Note {
  std::atomic<std::uint64_t> version{0};
  std::array<std::atomic<char>, 512> text{};
};

constinit std::array<Note, note_capacity> notes{};
constinit std::atomic<std::uint32_t> next_note{1};

std::uint64_t version_of(std::uint32_t ticket) { return static_cast<std::uint64_t>(ticket) * 2; }

}  // namespace

Error failure(ErrorClass error_class, const char* format, ...) {
  std::array<char, 512> text;
  va_list args;
  va_start(args, format);
  std::vsnprintf(text.data(), text.size(), format, args);
  va_end(args);

  std::uint32_t ticket = next_note.fetch_add(1, std::memory_order_relaxed);
  if (ticket == 0) ticket = next_note.fetch_add(1, std::memory_order_relaxed);
  Note& note = notes[ticket % note_capacity];
  note.version.store(version_of(ticket) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < text.size(); ++i) {
    note.text[i].store(text[i], std::memory_order_relaxed);
    if (text[i] == '\0') break;
  }
  note.version.store(version_of(ticket), std::memory_order_release);
  return {error_class, ticket};
}

std::string Error::text() const {
  if (ok()) return {};
  if (note_ != 0) {
    const Note& note = notes[note_ % note_capacity];
    if (note.version.load(std::memory_order_acquire) == version_of(note_)) {
      std::string copy;
      for (const auto& letter : note.text) {
        const char value = letter.load(std::memory_order_relaxed);
        if (value == '\0') break;
        copy += value;
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      if (note.version.load(std::memory_order_relaxed) == version_of(note_)) return copy;
    }
  }
  return error_class_text(class_);
}

}  // namespace fulmar::base
