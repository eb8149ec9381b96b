// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/buffers.h"
#include "mpi/datatype/calls.h"
#include "mpi/datatype/view.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

/// The packed size of `count` elements; MPI_ERR_COUNT where it leaves 64 bits.
Result<Count> packed_bytes(const Datatype& type, Count count) {
  Count bytes = 0;
  if (__builtin_mul_overflow(type.size, count, &bytes)) {
    return failure(ErrorClass::count, "argument count: %lld elements of %lld bytes are too many",
                   static_cast<long long>(count), static_cast<long long>(type.size));
  }
  return bytes;
}

}  // namespace

Error pack(Library&, ConstData in, void* out, Count out_bytes, CountOut position, Comm&) {
  const auto bytes = packed_bytes(*in.type, in.count);
  if (bytes.failed()) return bytes.error();
  const Count at = position.get();
  const Error bad = check_packed({"outbuf", "outsize", out, out_bytes}, at, bytes.value());
  if (bad.failed()) return bad;
  const auto size = static_cast<std::size_t>(bytes.value());
  View(*in.type, in.count).pack(in.address, 0, {static_cast<std::byte*>(out) + at, size});
  return position.set(at + bytes.value());
}

Error unpack(Library&, const void* in, Count in_bytes, CountOut position, Data out, Comm&) {
  const auto bytes = packed_bytes(*out.type, out.count);
  if (bytes.failed()) return bytes.error();
  const Count at = position.get();
  const Error bad = check_packed({"inbuf", "insize", in, in_bytes}, at, bytes.value());
  if (bad.failed()) return bad;
  const auto size = static_cast<std::size_t>(bytes.value());
  View(*out.type, out.count).unpack(out.address, 0, {static_cast<const std::byte*>(in) + at, size});
  return position.set(at + bytes.value());
}

Error pack_size(Library&, Count count, Datatype& datatype, Comm&, CountOut size) {
  const auto bytes = packed_bytes(datatype, count);
  return bytes.ok() ? size.set(bytes.value()) : bytes.error();
}

}  // namespace fulmar::mpi
