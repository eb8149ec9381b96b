// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/memory_events.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fulmar::base {
namespace {

uffdio_range kernel_range(const AddressRange& range) noexcept {
  return {range.begin, range.bytes()};
}

MemoryEvent event_of(const uffd_msg& message) noexcept {
  MemoryEvent event;
  if (message.event == UFFD_EVENT_REMAP) {
    const auto& remap = message.arg.remap;
    event.kind = MemoryEvent::Kind::moved;
    event.range = {remap.from, remap.from + remap.len};
    event.moved_to = {remap.to, remap.to + remap.len};
    return event;
  }
  event.kind =
      message.event == UFFD_EVENT_REMOVE ? MemoryEvent::Kind::emptied : MemoryEvent::Kind::unmapped;
  event.range = {message.arg.remove.start, message.arg.remove.end};
  return event;
}

Error refused(int error) {
  if (error == EPERM || error == EACCES) {
    return failure(ErrorClass::other,
                   "userfaultfd is denied (%s); allow it in the seccomp profile of the container",
                   std::strerror(error));
  }
  return failure(ErrorClass::other, "userfaultfd does not work here (%s); it needs Linux 5.15",
                 std::strerror(error));
}

}  // namespace

Result<MemoryEvents> MemoryEvents::open() {
  UniqueFd fd(
      static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (!fd.valid()) return refused(errno);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_REMAP |
                 UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP;
  if (::ioctl(fd.get(), UFFDIO_API, &api) != 0) return refused(errno);
  return MemoryEvents(std::move(fd));
}

Error MemoryEvents::watch(const AddressRange& pages) const {
  uffdio_register request{};
  request.range = kernel_range(pages);
  request.mode = UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fd_.get(), UFFDIO_REGISTER, &request) == 0) return {};
  const int error = errno;
  const char* const why = error == EBUSY    ? "somebody else's userfaultfd has it"
                          : error == ENOMEM ? "too many mappings; raise vm.max_map_count"
                                            : std::strerror(error);
  return failure(ErrorClass::other, "memory at %#zx of %zu bytes cannot be watched: %s",
                 static_cast<std::size_t>(pages.begin), pages.bytes(), why);
}

void MemoryEvents::unwatch(const AddressRange& pages) const noexcept {
  uffdio_range range = kernel_range(pages);
  (void)::ioctl(fd_.get(), UFFDIO_UNREGISTER, &range);
}

MemoryEvents::Activity MemoryEvents::activity_of(int descriptor) noexcept {
  // The kernel answers EAGAIN before it looks at the range, and EINVAL to this one, without a lock
  // and without touching a page table. `prove_memory_events` checks that it does.
  uffdio_writeprotect nothing{};
  if (::ioctl(descriptor, UFFDIO_WRITEPROTECT, &nothing) == 0) return Activity::lost;
  if (errno == EINVAL) return Activity::quiet;
  return errno == EAGAIN ? Activity::changing : Activity::lost;
}

std::size_t MemoryEvents::read(std::span<MemoryEvent> events) const noexcept {
  std::array<uffd_msg, 16> messages;
  const std::size_t most = std::min(messages.size(), events.size());
  const ssize_t bytes = ::read(fd_.get(), messages.data(), most * sizeof(uffd_msg));
  if (bytes <= 0) return 0;
  const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(uffd_msg);
  std::transform(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count),
                 events.begin(), event_of);
  return count;
}

}  // namespace fulmar::base
