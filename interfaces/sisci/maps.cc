// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCIMapRemoteSegment to SCICacheSync.
//
// A map for loads and stores is a mapping of its own of the segment's pages, so it can lie at an address that
// the program chose and be read-only, and accesses after SCIUnmapSegment fault as they did with SCI.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/grants.h"
#include "sisci/segments.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
namespace {

constexpr std::uint32_t interrupt_flags =
    SCI_FLAG_CONDITIONAL_INTERRUPT_MAP | SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP;
constexpr std::uint32_t map_hints =
    SCI_FLAG_READ_PREFETCH_AGGR_HOLD_MAP | SCI_FLAG_READ_PREFETCH_NO_HOLD_MAP |
    SCI_FLAG_IO_MAP_IOSPACE | SCI_FLAG_DMOVE_MAP | SCI_FLAG_WRITES_DISABLE_GATHER_MAP |
    SCI_FLAG_DISABLE_128_BYTES_PACKETS | SCI_FLAG_NO_MEMORY_LOOPBACK_MAP | SCI_FLAG_SHARED_MAP |
    SCI_FLAG_WRITE_BACK_CACHE_MAP;
constexpr std::uint32_t place_flags = SCI_FLAG_FIXED_MAP_ADDR | SCI_FLAG_READONLY_MAP;

/// What of a segment is to be mapped, and how.
struct Wanted {
  std::byte* base;  ///< of the segment
  bool is_shared_memory;
  std::size_t offset;
  std::size_t bytes;
  void* address;  ///< with SCI_FLAG_FIXED_MAP_ADDR
  std::uint32_t flags;
};

/// Keeps a free range at this address, or says why that cannot be.
sci_error_t reserve(std::byte* address, std::size_t bytes) noexcept {
  void* const got =
      ::mmap(address, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return errno == ENOMEM ? SCI_ERR_NOSPC : SCI_ERR_ILLEGAL_ADDRESS;
  if (got == address) return SCI_ERR_OK;
  (void)::munmap(got, bytes);  // kernels before 4.17
  return SCI_ERR_ILLEGAL_ADDRESS;
}

/// Maps the pages of a segment of the node once more.
sci_error_t map_pages(const Wanted& wanted, Map& map) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t lead = wanted.offset % page;
  const std::size_t bytes = (lead + wanted.bytes + page - 1) / page * page;
  const bool is_fixed = (wanted.flags & SCI_FLAG_FIXED_MAP_ADDR) != 0;
  auto* const place = is_fixed ? static_cast<std::byte*>(wanted.address) - lead : nullptr;
  if (is_fixed) {
    if (reinterpret_cast<std::uintptr_t>(place) % page != 0) return SCI_ERR_OFFSET_ALIGNMENT;
    const sci_error_t status = reserve(place, bytes);
    if (status != SCI_ERR_OK) return status;
  }
  // Of length 0, a shared mapping is not moved but mapped again.
  const int how = MREMAP_MAYMOVE | (is_fixed ? MREMAP_FIXED : 0);
  void* const got = ::mremap(wanted.base + (wanted.offset - lead), 0, bytes, how, place);
  if (got == MAP_FAILED) {
    if (is_fixed) (void)::munmap(place, bytes);
    return errno == ENOMEM ? SCI_ERR_NOSPC : SCI_ERR_SYSTEM;
  }
  map.pages = {static_cast<std::byte*>(got), bytes};
  map.address = map.pages.data() + lead;
  const bool is_readonly = (wanted.flags & SCI_FLAG_READONLY_MAP) != 0;
  return is_readonly && ::mprotect(got, bytes, PROT_READ) != 0 ? SCI_ERR_SYSTEM : SCI_ERR_OK;
}

sci_error_t give_address(const Wanted& wanted, Map& map) noexcept {
  if (wanted.base == nullptr) return SCI_ERR_NOT_SUPPORTED;
  if (wanted.is_shared_memory) return map_pages(wanted, map);
  if ((wanted.flags & place_flags) != 0) return SCI_ERR_NOT_SUPPORTED;
  map.address = wanted.base + wanted.offset;
  return SCI_ERR_OK;
}

/// Whether the connection's bytes are memory that processes of the node can map, and this one has.
bool is_shared_memory(const Library& library, const Connection& connection) noexcept {
  if (connection.rank != library.port->rank()) return connection.memory != nullptr;
  const LocalSegment* const own = segment_of(library, connection.number);
  return own != nullptr && own->memory != nullptr;
}

/// Waits for what was written through the map, and orders the stores of this thread.
void flush(Library& library, const Sequence* sequence) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sequence == nullptr || sequence->map->remote == nullptr) return;
  // Stores need no progress, but a program that does nothing else is to learn that the node has died.
  progress_now_and_then(library);
  (void)await_group(library, sequence->map->remote->posted, UINT32_MAX);
}

sci_sequence_status_t status_of(const Sequence& sequence) noexcept {
  const RemoteSegment* const remote = sequence.map->remote;
  if (remote == nullptr) return SCI_SEQ_OK;
  if (remote->state != Connection::State::connected) return SCI_SEQ_NOT_RETRIABLE;
  if (remote->posted.under_way == 0 && remote->posted.status == SCI_ERR_OK) return SCI_SEQ_OK;
  return remote->posted.status == SCI_ERR_OK ? SCI_SEQ_OK : SCI_SEQ_RETRIABLE;
}

std::vector<Sequence*> sequences_of(const Library& library, const Map& map) {
  std::vector<Sequence*> found;
  for (const auto& [handle, sequence] : library.sequences.all()) {
    if (sequence->map == &map) found.push_back(sequence.get());
  }
  return found;
}

}  // namespace

void remove_map(Library& library, Map& map) noexcept {
  for (Sequence* const sequence : sequences_of(library, map)) remove(library.sequences, *sequence);
  if (!map.pages.empty()) (void)::munmap(map.pages.data(), map.pages.size());
  --(map.local != nullptr ? map.local->maps : map.remote->maps);
  remove(library.maps, map);
}

}  // namespace fulmar::sisci

using fulmar::sisci::call;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::check_range;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;
using fulmar::sisci::LocalSegment;
using fulmar::sisci::Map;
using fulmar::sisci::RemoteSegment;
using fulmar::sisci::Sequence;

volatile void* SCIMapRemoteSegment(sci_remote_segment_t segment, sci_map_t* map, size_t offset,
                                   size_t size, void* addr, unsigned int flags,
                                   sci_error_t* error) {
  void* address = nullptr;
  call(error, [&](Library& library) {
    RemoteSegment* const found = library.remote_segments.find(segment);
    const bool has_address = (flags & SCI_FLAG_NO_ADDRESS_MAP) == 0;
    const std::uint32_t refused =
        SCI_FLAG_LOCK_OPERATION | (has_address ? fulmar::sisci::interrupt_flags : 0);
    const std::uint32_t known = fulmar::sisci::place_flags | fulmar::sisci::map_hints |
                                fulmar::sisci::interrupt_flags | SCI_FLAG_NO_ADDRESS_MAP;
    sci_error_t status = first_error(check_flags(flags, known, refused | SCI_FLAG_BROADCAST),
                                     check_parameter(found != nullptr && map != nullptr));
    if (status != SCI_ERR_OK) return status;
    status = first_error(fulmar::sisci::check_connected(*found),
                         size == 0 ? SCI_ERR_SIZE_ALIGNMENT : SCI_ERR_OK,
                         check_range(offset, size, found->bytes));
    if (status != SCI_ERR_OK) return status;
    Map& made = make(library.maps, *found->descriptor);
    if (has_address) {
      status = fulmar::sisci::give_address(
          {found->base, fulmar::sisci::is_shared_memory(library, *found), offset, size, addr,
           flags},
          made);
    }
    made.remote = found;
    ++found->maps;
    made.offset = offset;
    made.bytes = size;
    if ((flags & SCI_FLAG_CONDITIONAL_INTERRUPT_MAP) != 0) {
      made.transfer_flags = fulmar::wire::sisci_adds_one;
    } else if ((flags & SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP) != 0) {
      made.transfer_flags = fulmar::wire::sisci_interrupts;
    }
    if (status != SCI_ERR_OK) {
      remove_map(library, made);
      return status;
    }
    address = made.address;
    *map = fulmar::sisci::handle_of<sci_map_t>(made);
    return SCI_ERR_OK;
  });
  return address;
}

void* SCIMapLocalSegment(sci_local_segment_t segment, sci_map_t* map, size_t offset, size_t size,
                         void* addr, unsigned int flags, sci_error_t* error) {
  void* address = nullptr;
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const std::uint32_t known = fulmar::sisci::place_flags | fulmar::sisci::map_hints;
    sci_error_t status =
        first_error(check_flags(flags, known, SCI_FLAG_LOCK_OPERATION | SCI_FLAG_BROADCAST),
                    check_parameter(found != nullptr && map != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->base == nullptr) return SCI_ERR_ILLEGAL_OPERATION;
    status = first_error(size == 0 ? SCI_ERR_SIZE_ALIGNMENT : SCI_ERR_OK,
                         check_range(offset, size, found->bytes));
    if (status != SCI_ERR_OK) return status;
    Map& made = make(library.maps, *found->descriptor);
    const bool is_shared = found->memory != nullptr || found->attached != nullptr;
    status = fulmar::sisci::give_address({found->base, is_shared, offset, size, addr, flags}, made);
    made.local = found;
    ++found->maps;
    made.offset = offset;
    made.bytes = size;
    if (status != SCI_ERR_OK) {
      remove_map(library, made);
      return status;
    }
    address = made.address;
    *map = fulmar::sisci::handle_of<sci_map_t>(made);
    return SCI_ERR_OK;
  });
  return address;
}

void SCIUnmapSegment(sci_map_t map, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Map* const found = library.maps.find(map);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->uses != 0) return SCI_ERR_BUSY;
    remove_map(library, *found);
    return SCI_ERR_OK;
  });
}

void SCICreateMapSequence(sci_map_t map, sci_sequence_t* sequence, unsigned int flags,
                          sci_error_t* error) {
  call(error, [&](Library& library) {
    Map* const found = library.maps.find(map);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_FAST_BARRIER),
                    check_parameter(found != nullptr && sequence != nullptr));
    if (status != SCI_ERR_OK) return status;
    Sequence& made = make(library.sequences, *found->descriptor);
    made.map = found;
    *sequence = fulmar::sisci::handle_of<sci_sequence_t>(made);
    return SCI_ERR_OK;
  });
}

void SCIRemoveSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Sequence* const found = library.sequences.find(sequence);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    remove(library.sequences, *found);
    return SCI_ERR_OK;
  });
}

sci_sequence_status_t SCIStartSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error) {
  sci_sequence_status_t result = SCI_SEQ_NOT_RETRIABLE;
  call(error, [&](Library& library) {
    Sequence* const found = library.sequences.find(sequence);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    fulmar::sisci::flush(library, found);
    if (found->map->remote != nullptr) found->map->remote->posted.status = SCI_ERR_OK;
    result = fulmar::sisci::status_of(*found);
    return SCI_ERR_OK;
  });
  return result;
}

sci_sequence_status_t SCICheckSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error) {
  sci_sequence_status_t result = SCI_SEQ_NOT_RETRIABLE;
  call(error, [&](Library& library) {
    Sequence* const found = library.sequences.find(sequence);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_NO_FLUSH | SCI_FLAG_NO_STORE_BARRIER),
                    check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if ((flags & SCI_FLAG_NO_STORE_BARRIER) == 0) fulmar::sisci::flush(library, found);
    result = fulmar::sisci::status_of(*found);
    return SCI_ERR_OK;
  });
  return result;
}

void SCIStoreBarrier(sci_sequence_t sequence, unsigned int /*flags*/) {
  call(nullptr, [&](Library& library) {
    fulmar::sisci::flush(library, library.sequences.find(sequence));
    return SCI_ERR_OK;
  });
}

void SCIFlush(sci_sequence_t sequence, unsigned int flags) { SCIStoreBarrier(sequence, flags); }

void SCIFlushReadBuffers(sci_sequence_t /*sequence*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void SCICacheSync(sci_map_t map, void* addr, size_t length, unsigned int flags,
                  sci_error_t* error) {
  call(error, [&](Library& library) {
    const Map* const found = library.maps.find(map);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_CACHE_FLUSH | SCI_FLAG_CACHE_INVALIDATE),
                    check_parameter(map == nullptr || found != nullptr));
    if (status != SCI_ERR_OK) return status;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (found == nullptr) return SCI_ERR_OK;
    const auto* const begin = static_cast<const std::byte*>(addr);
    if (begin < found->address) return SCI_ERR_OUT_OF_RANGE;
    return check_range(static_cast<std::size_t>(begin - found->address), length, found->bytes);
  });
}
