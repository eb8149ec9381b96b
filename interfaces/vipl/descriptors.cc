// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/descriptors.h"

#include <algorithm>
#include <cstring>

#include "vipl/segments.h"

namespace fulmar::vipl {
namespace {

/// Whether the bytes lie in the region.
bool contains(const Region& region, std::uintptr_t address, std::uint64_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(region.base);
  return address >= begin && address - begin <= region.bytes &&
         bytes <= region.bytes - (address - begin);
}

const VIP_DATA_SEGMENT& segment_of(const VIP_DESCRIPTOR& descriptor, std::size_t index) noexcept {
  // More than two lie behind the structure.
  const auto* const first =
      reinterpret_cast<const std::byte*>(&descriptor) + sizeof(VIP_CONTROL_SEGMENT);
  return *reinterpret_cast<const VIP_DATA_SEGMENT*>(first + index * sizeof(VIP_DATA_SEGMENT));
}

/// The data segments from `first` on. Error bits.
std::uint32_t read_pieces(const Provider& provider, const Vi& vi, const VIP_DESCRIPTOR& descriptor,
                          std::size_t first, std::vector<Piece>& pieces, std::uint64_t& total) {
  pieces.clear();
  total = 0;
  for (std::size_t i = first; i < descriptor.CS.SegCount; ++i) {
    const VIP_DATA_SEGMENT& segment = segment_of(descriptor, i);
    if (segment.Length == 0) continue;
    Region* const region = provider.regions.find(segment.Handle);
    const auto address = static_cast<std::uintptr_t>(segment.Data.AddressBits);
    if (region == nullptr || region->ptag != vi.ptag ||
        !contains(*region, address, segment.Length)) {
      return VIP_STATUS_PROTECTION_ERROR;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(region->base);
    pieces.push_back({region, address - begin, segment.Length});
    total += segment.Length;
  }
  const std::uint64_t most =
      std::min<std::uint64_t>(vi.attributes.MaxTransferSize, most_transfer_bytes);
  return total > most ? VIP_STATUS_LENGTH_ERROR : 0;
}

void use(const std::vector<Piece>& pieces) noexcept {
  for (const Piece& piece : pieces) ++piece.region->uses;
}

bool has_good_form(const VIP_DESCRIPTOR& descriptor) noexcept {
  return descriptor.CS.SegCount <= wire::vipl_most_segments &&
         (descriptor.CS.Control & (VIP_CONTROL_RESERVED)) == 0 && descriptor.CS.Reserved == 0 &&
         (descriptor.CS.Control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_RESERVED;
}

}  // namespace

bool is_registered(const Provider& provider, const Vi& vi, const VIP_DESCRIPTOR* descriptor,
                   VIP_MEM_HANDLE memory) noexcept {
  const Region* const region = provider.regions.find(memory);
  if (region == nullptr || region->ptag != vi.ptag) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(descriptor);
  if (!contains(*region, address, sizeof(VIP_DESCRIPTOR))) return false;
  const std::size_t bytes =
      sizeof(VIP_CONTROL_SEGMENT) + descriptor->CS.SegCount * sizeof(VIP_DATA_SEGMENT);
  return contains(*region, address, bytes);
}

std::uint32_t read(const Provider& provider, const Vi& vi, SendWork& work) {
  const VIP_DESCRIPTOR& descriptor = *work.descriptor;
  work.operation = descriptor.CS.Control & VIP_CONTROL_OP_MASK;
  work.has_fence = (descriptor.CS.Control & VIP_CONTROL_QFENCE) != 0;
  work.has_immediate = (descriptor.CS.Control & VIP_CONTROL_IMMEDIATE) != 0;
  work.immediate = descriptor.CS.ImmediateData;
  if (!has_good_form(descriptor)) return VIP_STATUS_FORMAT_ERROR;
  const bool is_rdma = work.operation != VIP_CONTROL_OP_SENDRECV;
  if (is_rdma) {
    const VIP_ADDRESS_SEGMENT& remote = descriptor.DS[0].Remote;
    if (descriptor.CS.SegCount == 0 || remote.Reserved != 0) return VIP_STATUS_FORMAT_ERROR;
    work.remote_address = remote.Data.AddressBits;
    work.remote_handle = remote.Handle;
  }
  const bool reads = work.operation == VIP_CONTROL_OP_RDMAREAD;
  if (reads && (vi.attributes.ReliabilityLevel == VIP_SERVICE_UNRELIABLE || work.has_immediate)) {
    return VIP_STATUS_FORMAT_ERROR;
  }
  std::uint32_t errors =
      read_pieces(provider, vi, descriptor, is_rdma ? 1 : 0, work.pieces, work.bytes);
  if (errors == 0 && vi.state == VIP_STATE_CONNECTED &&
      work.bytes > vi.remote_attributes.MaxTransferSize) {
    errors = VIP_STATUS_LENGTH_ERROR;
  }
  if (errors == 0) use(work.pieces);
  if (errors != 0) work.pieces.clear();
  return errors;
}

std::uint32_t read(const Provider& provider, const Vi& vi, ReceiveWork& work) {
  const VIP_DESCRIPTOR& descriptor = *work.descriptor;
  const bool receives = (descriptor.CS.Control & VIP_CONTROL_OP_MASK) == VIP_CONTROL_OP_SENDRECV;
  if (!receives || !has_good_form(descriptor)) return VIP_STATUS_FORMAT_ERROR;
  const std::uint32_t errors = read_pieces(provider, vi, descriptor, 0, work.pieces, work.bytes);
  if (errors == 0) use(work.pieces);
  if (errors != 0) work.pieces.clear();
  return errors;
}

void release(std::vector<Piece>& pieces) noexcept {
  for (const Piece& piece : pieces) --piece.region->uses;
  pieces.clear();
}

void clear_status(VIP_DESCRIPTOR& descriptor) noexcept {
  __atomic_store_n(&descriptor.CS.Status, 0, __ATOMIC_RELAXED);
}

void set_done(VIP_DESCRIPTOR& descriptor, std::uint32_t status, std::uint64_t bytes) noexcept {
  descriptor.CS.Length = static_cast<VIP_UINT32>(bytes);
  __atomic_store_n(&descriptor.CS.Status, status | VIP_STATUS_DONE, __ATOMIC_RELEASE);
}

void copy(Provider& provider, const Piece& piece, Copy direction) {
  std::byte* const memory = piece.region->base + piece.offset;
  std::byte* const shadow = piece.region->shared.base + piece.offset;
  const bool goes_out = direction == Copy::to_shadow;
  std::memcpy(goes_out ? shadow : memory, goes_out ? memory : shadow, piece.bytes);
  ++provider.counters.Copies;
  provider.counters.CopiedBytes += piece.bytes;
}

void copy_from_shadows(Provider& provider, const std::vector<Piece>& pieces, std::uint64_t bytes) {
  for (const Piece& piece : pieces) {
    const std::uint64_t here = std::min(bytes, piece.bytes);
    if (here == 0) return;
    if (!piece.region->is_allocated)
      copy(provider, {piece.region, piece.offset, here}, Copy::from_shadow);
    bytes -= here;
  }
}

bool share(Provider& provider, Region& region) {
  if (region.shared.segment != nullptr) return true;
  return make_part(provider, region.shared, region.bytes);
}

}  // namespace fulmar::vipl
