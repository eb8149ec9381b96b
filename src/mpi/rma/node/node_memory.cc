// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/os/unix_socket.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::UniqueFd;

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;
/// Names that the kernel picks have five hexadecimal digits.
constexpr std::size_t name_digits = 5;

std::array<char, name_digits + 1> text_of(std::uint32_t name) {
  std::array<char, name_digits + 1> text{};
  std::snprintf(text.data(), text.size(), "%05x", name & 0xfffff);
  return text;
}

Error no_memory(std::uint64_t bytes) {
  return failure(ErrorClass::no_mem,
                 "no memory for the %llu bytes that the ranks of this node ask for; allocate less",
                 static_cast<unsigned long long>(bytes));
}

/// A file that is shorter, or that another process could make shorter, would end this process with a
/// signal where it is used.
Error check_length(int file, std::uint64_t bytes) {
  struct stat facts{};
  if (::fstat(file, &facts) != 0 || facts.st_size < 0 ||
      static_cast<std::uint64_t>(facts.st_size) < bytes) {
    return failure(
        ErrorClass::other,
        "the memory file of a window has %lld bytes, where %llu were agreed on; the rank "
        "that made it runs another version of the library, or is broken",
        static_cast<long long>(facts.st_size), static_cast<unsigned long long>(bytes));
  }
  const int seals = ::fcntl(file, F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0) return {};
  return failure(
      ErrorClass::other,
      "the memory file of a window is not sealed against shrinking; the rank that made it "
      "runs another version of the library, or is broken");
}

/// More than the whole machine has could be mapped, but not written.
bool is_beyond_machine(std::uint64_t bytes) {
  struct sysinfo machine{};
  if (::sysinfo(&machine) != 0) return false;
  const std::uint64_t units = std::uint64_t{machine.totalram} + machine.totalswap;
  return bytes / machine.mem_unit > units;
}

/// Reserves `bytes` bytes of address space that begin at a multiple of `alignment`, a power of two
/// above the size of a page; nullptr where there are none. `bytes` is whole pages.
std::byte* aligned_place(std::uint64_t bytes, std::uint64_t alignment) {
  void* room = ::mmap(nullptr, bytes + alignment, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(room);
  const std::uint64_t past = reinterpret_cast<std::uint64_t>(first) % alignment;
  const std::uint64_t before = past == 0 ? 0 : alignment - past;
  if (before != 0) (void)::munmap(first, before);
  (void)::munmap(first + before + bytes, alignment - before);
  return first + before;
}

}  // namespace

base::Result<UniqueFd> NodeMemory::make_file(std::uint64_t bytes) {
  if (is_beyond_machine(bytes)) return no_memory(bytes);
  UniqueFd file(::memfd_create("fulmar window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) {
    return failure(ErrorClass::no_mem, "no memory file for a window: %s", std::strerror(errno));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return no_memory(bytes);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failure(ErrorClass::other, "the memory file of a window cannot be sealed: %s",
                   std::strerror(errno));
  }
  return file;
}

base::Result<std::unique_ptr<NodeMemory>> NodeMemory::map(int file, std::uint64_t bytes,
                                                          std::uint64_t alignment) {
  if (is_beyond_machine(bytes)) return no_memory(bytes);
  if (file >= 0) {
    if (const Error bad = check_length(file, bytes); bad.failed()) return bad;
  }
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  std::byte* place = nullptr;
  if (alignment > static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {
    place = aligned_place(bytes, alignment);
    if (place == nullptr) return no_memory(bytes);
  }
  void* memory = ::mmap(place, bytes, PROT_READ | PROT_WRITE,
                        place == nullptr ? flags : flags | MAP_FIXED, file, 0);
  if (memory == MAP_FAILED) {
    if (place != nullptr) (void)::munmap(place, bytes);
    return no_memory(bytes);
  }
  if (bytes >= huge_page_bytes) (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  return std::make_unique<NodeMemory>(std::span(static_cast<std::byte*>(memory), bytes));
}

NodeMemory::~NodeMemory() { (void)::munmap(mapping_.data(), mapping_.size()); }

base::Result<DescriptorSocket> DescriptorSocket::open() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t size = sizeof(sa_family_t);
  if (!socket.valid() || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return failure(ErrorClass::other, "no socket for the memory of a window: %s",
                   std::strerror(errno));
  }
  size = sizeof address;
  (void)::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  std::uint32_t name = 0;
  const char* const digits = address.sun_path + 1;  // behind the NUL of an abstract name
  (void)std::from_chars(digits, digits + name_digits, name, 16);
  return DescriptorSocket(std::move(socket), name | 1U << 31);
}

Error DescriptorSocket::send(std::uint32_t name, std::uint64_t secret, int descriptor) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto text = text_of(name);
  const base::AbstractAddress address(std::string_view(text.data(), name_digits));
  const bool sent = socket.valid() && ::connect(socket.get(), address.get(), address.size()) == 0 &&
                    base::send_with_descriptor(socket.get(), std::as_bytes(std::span(&secret, 1)),
                                               descriptor, MSG_DONTWAIT) == sizeof secret;
  if (sent) return {};
  const ErrorClass error = errno == ECONNREFUSED ? ErrorClass::proc_failed : ErrorClass::other;
  return failure(error, "the memory of a window cannot be handed on: %s", std::strerror(errno));
}

base::Result<UniqueFd> DescriptorSocket::receive(std::uint64_t secret) const {
  for (;;) {
    std::uint64_t shown = 0;
    base::Passed passed = base::receive_with_descriptor(
        socket_.get(), std::as_writable_bytes(std::span(&shown, 1)), MSG_DONTWAIT);
    if (passed.bytes < 0) break;
    if (passed.bytes == sizeof shown && shown == secret && passed.descriptor.valid()) {
      return std::move(passed.descriptor);
    }
  }
  return failure(ErrorClass::other, "the memory of a window did not come: %s",
                 std::strerror(errno));
}

}  // namespace fulmar::mpi
