// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/strings.h"

#include <cstring>

namespace fulmar::fortran {
namespace {

std::size_t trimmed_length(const char* text, std::size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

std::size_t leading_blanks(const char* text, std::size_t length) {
  std::size_t blanks = 0;
  while (blanks < length && text[blanks] == ' ') ++blanks;
  return blanks;
}

std::size_t count_of_strings(const char* texts, std::size_t length, std::size_t step) {
  std::size_t count = 0;
  while (trimmed_length(texts + count * step, length) > 0) ++count;
  return count;
}

}  // namespace

InString::InString(const char* text, std::size_t length, Trim trim)
    : text_(static_cast<MPI_Count>(length + 1)) {
  if (text_.failed()) return;
  std::size_t first = 0;
  length = trimmed_length(text, length);
  if (trim == Trim::both) first = leading_blanks(text, length);
  std::memcpy(text_.data(), text + first, length - first);
  text_[static_cast<MPI_Count>(length - first)] = 0;
}

void OutString::store(char* text, std::size_t length) {
  const std::size_t found = ::strnlen(text_.data(), static_cast<std::size_t>(text_.size()));
  const std::size_t copied = found < length ? found : length;
  std::memcpy(text, text_.data(), copied);
  std::memset(text + copied, ' ', length - copied);
}

StringList::StringList(const char* texts, std::size_t length, std::size_t step, int count) {
  const std::size_t strings =
      count < 0 ? count_of_strings(texts, length, step) : static_cast<std::size_t>(count);
  const std::size_t pointers = (strings + 1) * sizeof(char*);
  list_ = static_cast<char**>(std::malloc(pointers + strings * (length + 1)));
  if (list_ == nullptr) return;
  char* place = reinterpret_cast<char*>(list_) + pointers;
  for (std::size_t i = 0; i < strings; ++i) {
    const char* text = texts + i * step;
    const std::size_t end = trimmed_length(text, length);
    const std::size_t first = leading_blanks(text, end);
    const std::size_t size = end - first;
    std::memcpy(place, text + first, size);
    place[size] = 0;
    list_[i] = place;
    place += size + 1;
  }
  list_[strings] = nullptr;
}

StringList::~StringList() { std::free(list_); }

}  // namespace fulmar::fortran
