// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/shared_word.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace fulmar::io {
namespace {

using base::Error;
using base::ErrorClass;
using base::Result;
using base::UniqueFd;

constexpr std::size_t file_bytes = 4096;

Error no_word(const char* what, int error) {
  return base::failure(ErrorClass::other, "the shared file pointer: %s failed (%s)", what,
                       std::strerror(error));
}

}  // namespace

SharedWord::~SharedWord() {
  if (content_ != nullptr) ::munmap(content_, file_bytes);
}

SharedWord::SharedWord(SharedWord&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      content_(std::exchange(other.content_, nullptr)),
      place_(other.place_) {}

SharedWord& SharedWord::operator=(SharedWord&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(content_, other.content_);
  std::swap(place_, other.place_);
  return *this;
}

Result<SharedWord> SharedWord::map(UniqueFd descriptor) {
  void* memory =
      ::mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (memory == MAP_FAILED) return no_word("mmap", errno);
  return SharedWord(std::move(descriptor), static_cast<Content*>(memory));
}

Result<SharedWord> SharedWord::make() {
  UniqueFd descriptor(::memfd_create("fulmar-file-pointer", MFD_CLOEXEC));
  if (!descriptor.valid()) return no_word("memfd_create", errno);
  if (::ftruncate(descriptor.get(), file_bytes) != 0) return no_word("ftruncate", errno);
  Result<SharedWord> made = map(std::move(descriptor));
  if (made.failed()) return made;
  std::uint64_t token = 0;
  if (::getrandom(&token, sizeof token, 0) != sizeof token) return no_word("getrandom", errno);
  made->content_->token = token;
  made->place_ = {::getpid(), made->descriptor_.get(), token};
  return made;
}

Result<SharedWord> SharedWord::open(const Place& place) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", place.process, place.descriptor);
  // Without blocking: whatever it is, if it is not what was meant.
  UniqueFd descriptor(::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor.valid()) return no_word(path, errno);
  struct stat facts{};
  if (::fstat(descriptor.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_size != static_cast<off_t>(file_bytes)) {
    return no_word(path, EINVAL);
  }
  Result<SharedWord> found = map(std::move(descriptor));
  if (found.ok() && found->content_->token != place.token) return no_word(path, ESTALE);
  if (found.ok()) found->place_ = place;
  return found;
}

void SpareWords::keep(SharedWord&& word) {
  if (!word.is_open()) return;
  if (words_.size() == most) words_.erase(words_.begin());
  words_.push_back(std::move(word));
}

template <class Fits>
SharedWord SpareWords::take_if(const Fits& fits) {
  const auto found = std::find_if(words_.begin(), words_.end(), fits);
  if (found == words_.end()) return {};
  SharedWord word = std::move(*found);
  words_.erase(found);
  return word;
}

SharedWord SpareWords::take_own() {
  const std::int32_t self = ::getpid();
  SharedWord word = take_if([&](const SharedWord& one) { return one.place().process == self; });
  if (word.is_open()) word.word().store(0);
  return word;
}

SharedWord SpareWords::take(const SharedWord::Place& place) {
  return take_if([&](const SharedWord& one) {
    return one.place().process == place.process && one.place().descriptor == place.descriptor &&
           one.place().token == place.token;
  });
}

}  // namespace fulmar::io
