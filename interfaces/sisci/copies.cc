// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCIMemCpy to SCIAbortBlockTransfer.
#include "sisci/copies.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
namespace {

/// Posted writes of one segment that are under way; more wait.
constexpr std::uint32_t most_posted = 1024;

constexpr std::uint32_t copy_flags = SCI_FLAG_BLOCK_READ | SCI_FLAG_ERROR_CHECK;

/// Keeps a map from being removed.
class InUse {
 public:
  explicit InUse(Map& map) noexcept : map_(map) { ++map_.uses; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() { --map_.uses; }

 private:
  Map& map_;
};

/// Whether bytes of the map can be accessed now, the way that the map says.
sci_error_t check_access(const Map& map, std::size_t offset, std::size_t size) noexcept {
  const sci_error_t status =
      first_error(map.remote == nullptr ? SCI_ERR_OK : check_connected(*map.remote),
                  check_range(offset, size, map.bytes));
  if (status != SCI_ERR_OK || map.transfer_flags != wire::sisci_adds_one) return status;
  if (size != sizeof(std::uint32_t)) return SCI_ERR_SIZE_ALIGNMENT;
  return (map.offset + offset) % sizeof(std::uint32_t) == 0 ? SCI_ERR_OK : SCI_ERR_OFFSET_ALIGNMENT;
}

/// What a transfer that was waited for has come to, as the caller gets it.
sci_error_t outcome_of(const TransferGroup& group) noexcept {
  const sci_error_t status = group.status;
  const bool is_own = status == SCI_ERR_OK || status == SCI_ERR_NOSPC ||
                      status == SCI_ERR_CANCELLED || status == SCI_ERR_SEGMENT_NOT_CONNECTED;
  return is_own ? status : SCI_ERR_TRANSFER_FAILED;
}

/// A write whose memory is free on return, and that SCICheckSequence waits for.
sci_error_t write_posted(Library& library, Map& map, std::size_t offset,
                         std::span<const std::byte> source) {
  RemoteSegment& remote = *map.remote;
  if (remote.posted.under_way >= most_posted) {
    (void)wait(
        library, [&]() noexcept { return remote.posted.under_way < most_posted; }, UINT32_MAX);
  }
  const std::uint64_t number =
      start_write(library, remote, map.offset + offset, source, map.transfer_flags, remote.posted);
  if (!is_sent(library, number)) {
    (void)wait(library, [&]() noexcept { return is_sent(library, number); }, UINT32_MAX);
  }
  return remote.posted.status == SCI_ERR_NOSPC ? SCI_ERR_NOSPC : SCI_ERR_OK;
}

sci_error_t write_and_wait(Library& library, Map& map, std::size_t offset,
                           std::span<const std::byte> source) {
  TransferGroup group;
  (void)start_write(library, *map.remote, map.offset + offset, source, map.transfer_flags, group);
  (void)await_group(library, group, UINT32_MAX);
  return outcome_of(group);
}

sci_error_t read_and_wait(Library& library, Map& map, std::size_t offset,
                          std::span<std::byte> target) {
  TransferGroup group;
  start_read(library, *map.remote, map.offset + offset, target, group);
  (void)await_group(library, group, UINT32_MAX);
  return outcome_of(group);
}

/// SCIMemCpy.
sci_error_t copy_memory(Library& library, std::byte* memory, Map& map, std::size_t offset,
                        std::size_t size, unsigned int flags) {
  const sci_error_t status = check_access(map, offset, size);
  if (status != SCI_ERR_OK || size == 0) return status;
  const InUse in_use(map);
  const bool reads = (flags & SCI_FLAG_BLOCK_READ) != 0;
  std::byte* const base = base_of(map);
  if (base != nullptr && (reads || map.transfer_flags == 0)) {
    copy(library, reads ? memory : base + offset, reads ? base + offset : memory, size);
    return SCI_ERR_OK;
  }
  if (reads) return read_and_wait(library, map, offset, {memory, size});
  const bool waits = (flags & SCI_FLAG_ERROR_CHECK) != 0;
  return waits ? write_and_wait(library, map, offset, {memory, size})
               : write_posted(library, map, offset, {memory, size});
}

/// One piece of a block, between any two maps.
sci_error_t copy_piece(Library& library, Map& source, std::size_t from, Map& destination,
                       std::size_t to, std::span<std::byte> bounce) {
  sci_error_t status =
      copy_memory(library, bounce.data(), source, from, bounce.size(), SCI_FLAG_BLOCK_READ);
  if (status == SCI_ERR_OK) {
    status =
        copy_memory(library, bounce.data(), destination, to, bounce.size(), SCI_FLAG_ERROR_CHECK);
  }
  return status;
}

/// SCITransferBlock.
sci_error_t copy_block(Library& library, Map& source, std::size_t from, Map& destination,
                       std::size_t to, std::size_t size) {
  const sci_error_t status =
      first_error(check_access(source, from, size), check_access(destination, to, size));
  if (status != SCI_ERR_OK) return status;
  const InUse source_in_use(source);
  const InUse destination_in_use(destination);
  if (std::byte* const memory = base_of(source); memory != nullptr) {
    return copy_memory(library, memory + from, destination, to, size, SCI_FLAG_ERROR_CHECK);
  }
  const bool is_plain = destination.transfer_flags == 0;
  if (std::byte* const memory = base_of(destination); memory != nullptr && is_plain) {
    return copy_memory(library, memory + to, source, from, size, SCI_FLAG_BLOCK_READ);
  }
  // Between two other hosts, by way of this one.
  constexpr std::size_t piece_bytes = std::size_t{256} << 10;
  const std::size_t most = std::min(size, piece_bytes);
  const auto bounce = std::make_unique<std::byte[]>(most);
  for (std::size_t done = 0; done < size; done += most) {
    const std::span<std::byte> piece(bounce.get(), std::min(most, size - done));
    const sci_error_t outcome =
        copy_piece(library, source, from + done, destination, to + done, piece);
    if (outcome != SCI_ERR_OK) return outcome;
  }
  return SCI_ERR_OK;
}

/// How a block transfer ended, for its program.
sci_error_t status_of(const BlockTransfer& block) noexcept {
  return block.group.is_aborted ? SCI_ERR_CANCELLED : outcome_of(block.group);
}

std::function<int()> take_end(Library& library, BlockTransfer& block) {
  if (block.callback == nullptr) return {};
  const auto callback = block.callback;
  block.callback = nullptr;
  return [&library, &block, callback, argument = block.argument, status = status_of(block)] {
    (void)callback(argument, reinterpret_cast<sci_block_transfer_t>(&block), status);
    const Locked lock(library);
    remove(library.blocks, block);
    return static_cast<int>(SCI_CALLBACK_CANCEL);
  };
}

void block_ended(Library& library, TransferGroup& group) noexcept {
  BlockTransfer& block = *static_cast<BlockTransfer*>(group.owner);
  block.has_ended = true;
  --block.source->uses;
  --block.destination->uses;
  if (block.callback == nullptr) return;
  call_back(library, library.blocks, block,
            [&library](BlockTransfer& target) { return take_end(library, target); });
}

/// Starts a block transfer whose maps have been checked.
void start(Library& library, BlockTransfer& block, std::size_t from, std::size_t to,
           std::size_t size) {
  Map& source = *block.source;
  Map& destination = *block.destination;
  std::byte* const source_memory = base_of(source);
  std::byte* const destination_memory = base_of(destination);
  block.group.owner = &block;
  block.group.ended = block_ended;
  ++source.uses;
  ++destination.uses;
  enter_group(block.group);
  if (source_memory != nullptr && destination_memory != nullptr &&
      destination.transfer_flags == 0) {
    copy(library, destination_memory + to, source_memory + from, size);
  } else if (source_memory != nullptr) {
    (void)start_write(library, *destination.remote, destination.offset + to,
                      {source_memory + from, size}, destination.transfer_flags, block.group);
  } else {
    start_read(library, *source.remote, source.offset + from, {destination_memory + to, size},
               block.group);
  }
  leave_group(library, block.group, SCI_ERR_OK);
}

}  // namespace

void copy(Library& library, std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t long_bytes = 16384;
  if (bytes < long_bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  const Unlocked unlocked(library);
  std::memmove(to, from, bytes);
}

}  // namespace fulmar::sisci

using fulmar::sisci::BlockTransfer;
using fulmar::sisci::call;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;
using fulmar::sisci::Map;

void SCIMemCpy(sci_sequence_t sequence, void* memAddr, sci_map_t remoteMap, size_t remoteOffset,
               size_t size, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Map* const map = library.maps.find(remoteMap);
    const bool is_sequence = sequence == nullptr || library.sequences.find(sequence) != nullptr;
    const sci_error_t status =
        first_error(check_flags(flags, fulmar::sisci::copy_flags),
                    check_parameter(map != nullptr && memAddr != nullptr && is_sequence));
    if (status != SCI_ERR_OK) return status;
    return fulmar::sisci::copy_memory(library, static_cast<std::byte*>(memAddr), *map, remoteOffset,
                                      size, flags);
  });
}

void SCIMemCopy(void* memAddr, sci_map_t remoteMap, size_t remoteOffset, size_t size,
                unsigned int flags, sci_error_t* error) {
  SCIMemCpy(nullptr, memAddr, remoteMap, remoteOffset, size, flags, error);
}

void SCIMemWrite(void* memAddr, volatile void* remoteAddr, size_t size, unsigned int flags,
                 sci_error_t* error) {
  call(error, [&](Library& library) {
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_ERROR_CHECK), check_parameter(memAddr != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (remoteAddr == nullptr) return SCI_ERR_ILLEGAL_ADDRESS;
    fulmar::sisci::copy(library, static_cast<std::byte*>(const_cast<void*>(remoteAddr)),
                        static_cast<const std::byte*>(memAddr), size);
    return SCI_ERR_OK;
  });
}

void SCITransferBlock(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                      size_t destinationOffset, size_t size, unsigned int flags,
                      sci_error_t* error) {
  call(error, [&](Library& library) {
    Map* const source = library.maps.find(sourceMap);
    Map* const destination = library.maps.find(destinationMap);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_BLOCK_READ),
                    check_parameter(source != nullptr && destination != nullptr));
    if (status != SCI_ERR_OK) return status;
    return fulmar::sisci::copy_block(library, *source, sourceOffset, *destination,
                                     destinationOffset, size);
  });
}

void SCITransferBlockAsync(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                           size_t destinationOffset, size_t size, sci_block_transfer_t* block,
                           sci_cb_block_transfer_t callback, void* callbackArg, unsigned int flags,
                           sci_error_t* error) {
  call(error, [&](Library& library) {
    Map* const source = library.maps.find(sourceMap);
    Map* const destination = library.maps.find(destinationMap);
    const bool uses_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_USE_CALLBACK | SCI_FLAG_BLOCK_READ),
                    check_parameter(source != nullptr && destination != nullptr &&
                                    block != nullptr && (callback != nullptr || !uses_callback)));
    if (status != SCI_ERR_OK) return status;
    status = first_error(fulmar::sisci::check_access(*source, sourceOffset, size),
                         fulmar::sisci::check_access(*destination, destinationOffset, size));
    if (status != SCI_ERR_OK) return status;
    if (size == 0) return SCI_ERR_SIZE_ALIGNMENT;
    if (base_of(*source) == nullptr && base_of(*destination) == nullptr) {
      return SCI_ERR_NOT_SUPPORTED;
    }
    BlockTransfer& made = make(library.blocks, *source->descriptor);
    made.source = source;
    made.destination = destination;
    made.callback = uses_callback ? callback : nullptr;
    made.uses_callback = uses_callback;
    made.argument = callbackArg;
    *block = fulmar::sisci::handle_of<sci_block_transfer_t>(made);
    fulmar::sisci::start(library, made, sourceOffset, destinationOffset, size);
    return SCI_ERR_OK;
  });
}

void SCIWaitForBlockTransfer(sci_block_transfer_t block, unsigned int timeout, unsigned int flags,
                             sci_error_t* error) {
  call(error, [&](Library& library) {
    BlockTransfer* const found = library.blocks.find(block);
    sci_error_t status = first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->uses_callback) return SCI_ERR_ILLEGAL_OPERATION;
    status = wait_for(library, library.blocks, *found, timeout,
                      [](const BlockTransfer& each) { return each.has_ended; });
    if (status != SCI_ERR_OK) return status;
    status = fulmar::sisci::status_of(*found);
    remove(library.blocks, *found);
    return status;
  });
}

void SCIAbortBlockTransfer(sci_block_transfer_t block, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    BlockTransfer* const found = library.blocks.find(block);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->has_ended) return SCI_ERR_ILLEGAL_OPERATION;
    found->group.is_aborted = true;
    (void)wait_for(library, library.blocks, *found, UINT32_MAX,
                   [](const BlockTransfer& each) { return each.has_ended; });
    return SCI_ERR_OK;
  });
}
