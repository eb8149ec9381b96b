// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The basic elements of a datatype follow from its signature, their addresses from its layout. The
// two meet in a stretch of packed bytes: a piece of it is gathered from the user's memory into a
// small buffer, converted element by element, and so on; unpacking goes the other way round.
#include "mpi/datatype/values/external.h"

#include <algorithm>
#include <array>
#include <span>

#include "mpi/datatype/buffers.h"
#include "mpi/datatype/calls.h"
#include "mpi/datatype/values/convert.h"
#include "mpi/datatype/view.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

constexpr std::size_t piece_bytes = 8192;

/// Hands out the packed bytes of a buffer in portions.
class PackedReader {
 public:
  explicit PackedReader(ConstData data) : view_(*data.type, data.count), base_(data.address) {}

  /// The next elements of `size` bytes, at least one and at most `wanted`; valid until the next
  /// call, the caller's to change. Requires that the data has `wanted` more of them.
  std::span<std::byte> elements(std::int64_t size, std::int64_t wanted) {
    const auto step = static_cast<std::size_t>(size);
    if (filled_ - used_ < step) refill();
    const std::size_t count = std::min(static_cast<std::size_t>(wanted), (filled_ - used_) / step);
    const std::span<std::byte> portion(buffer_.data() + used_, count * step);
    used_ += portion.size();
    return portion;
  }

 private:
  void refill() {
    const std::size_t kept = filled_ - used_;
    std::copy_n(buffer_.data() + used_, kept, buffer_.data());
    const std::size_t more = view_.pack(base_, offset_, std::span(buffer_).subspan(kept));
    offset_ += more;
    used_ = 0;
    filled_ = kept + more;
  }

  View view_;
  const void* base_;
  std::uint64_t offset_ = 0;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  std::array<std::byte, piece_bytes> buffer_;
};

/// Takes the packed bytes of a buffer in portions.
class PackedWriter {
 public:
  explicit PackedWriter(Data data) : view_(*data.type, data.count), base_(data.address) {}

  /// Space for the next elements, as PackedReader::elements. The caller fills it.
  std::span<std::byte> elements(std::int64_t size, std::int64_t wanted) {
    const auto step = static_cast<std::size_t>(size);
    if (buffer_.size() - used_ < step) flush();
    const std::size_t count =
        std::min(static_cast<std::size_t>(wanted), (buffer_.size() - used_) / step);
    const std::span<std::byte> portion(buffer_.data() + used_, count * step);
    used_ += portion.size();
    return portion;
  }
  void flush() {
    offset_ += view_.unpack(base_, offset_, {buffer_.data(), used_});
    used_ = 0;
  }

 private:
  View view_;
  void* base_;
  std::uint64_t offset_ = 0;
  std::size_t used_ = 0;
  std::array<std::byte, piece_bytes> buffer_;
};

/// Calls `run(basic, count)` for each run of equal basic elements, in order.
template <class Run>
Error for_each_run(const Signature& signature, Count repeat, Run& run) {
  if (signature.basic != nullptr) return run(*signature.basic, repeat * signature.count);
  for (Count i = repeat * signature.count; i > 0; --i) {
    for (const auto& part : signature.parts) {
      const Error bad = for_each_run(*part, 1, run);
      if (bad.failed()) return bad;
    }
  }
  return {};
}

Error no_fit(const BasicType& type, const char* where) {
  return failure(ErrorClass::conversion,
                 "a value of type %s does not fit %s; use a type whose size external32 keeps, as "
                 "MPI_INT64_T",
                 type.name, where);
}

Error check_representation(std::string_view name) {
  if (name == "external32") return {};
  return failure(ErrorClass::arg,
                 "argument datarep: \"%.*s\" is unknown; it must be \"external32\"",
                 static_cast<int>(std::min<std::size_t>(name.size(), 64)), name.data());
}

}  // namespace

Result<Count> external_bytes(const Datatype& type, Count count) {
  Count bytes = 0;
  if (__builtin_mul_overflow(type.signature->external_bytes(), count, &bytes)) {
    return failure(ErrorClass::count, "argument count: %lld elements of %lld bytes are too many",
                   static_cast<long long>(count),
                   static_cast<long long>(type.signature->external_bytes()));
  }
  return bytes;
}

Error pack_external32(ConstData data, std::byte* to) {
  PackedReader reader(data);
  const auto run = [&](const BasicType& basic, Count count) -> Error {
    const Conversion conversion = conversion_of(basic);
    while (count > 0) {
      const auto portion = reader.elements(basic.size, count);
      const Count elements = static_cast<Count>(portion.size()) / basic.size;
      const Count numbers = elements * conversion.numbers;
      if (const LogicalValues* values = basic.logical_values; values != nullptr) {
        values->make_plain(portion.data(), portion.data(), elements);
      }
      if (conversion.pack(portion.data(), to, numbers) != numbers) {
        return no_fit(basic, "its size in external32");
      }
      to += elements * basic.external;
      count -= elements;
    }
    return {};
  };
  return for_each_run(*data.type->signature, data.count, run);
}

Error unpack_external32_part(std::span<const std::byte> from, Data data, Count& moved) {
  moved = 0;
  PackedWriter writer(data);
  const auto run = [&](const BasicType& basic, Count count) -> Error {
    const Conversion conversion = conversion_of(basic);
    const Count complete = static_cast<Count>(from.size()) / basic.external;
    const bool ends_here = complete < count;
    count = std::min(count, complete);
    while (count > 0) {
      const auto portion = writer.elements(basic.size, count);
      const Count elements = static_cast<Count>(portion.size()) / basic.size;
      const Count numbers = elements * conversion.numbers;
      if (conversion.unpack(from.data(), portion.data(), numbers) != numbers) {
        return no_fit(basic, "its size in memory");
      }
      if (const LogicalValues* values = basic.logical_values; values != nullptr) {
        values->from_plain(portion.data(), portion.data(), elements);
      }
      from = from.subspan(static_cast<std::size_t>(elements * basic.external));
      moved += elements * basic.size;
      count -= elements;
    }
    if (ends_here) from = {};
    return {};
  };
  const Error bad = for_each_run(*data.type->signature, data.count, run);
  if (bad.ok()) writer.flush();
  return bad;
}

Error unpack_external32(const std::byte* from, Data data) {
  const auto bytes = external_bytes(*data.type, data.count);
  if (bytes.failed()) return bytes.error();
  Count moved = 0;
  return unpack_external32_part({from, static_cast<std::size_t>(bytes.value())}, data, moved);
}

Error pack_external(Library&, std::string_view datarep, ConstData in, void* out, Count out_bytes,
                    Count& position) {
  if (const Error bad = check_representation(datarep); bad.failed()) return bad;
  const auto bytes = external_bytes(*in.type, in.count);
  if (bytes.failed()) return bytes.error();
  const PackedBuffer buffer{"outbuf", "outsize", out, out_bytes};
  Error bad = check_packed(buffer, position, bytes.value());
  if (bad.ok()) bad = pack_external32(in, static_cast<std::byte*>(out) + position);
  if (bad.ok()) position += bytes.value();
  return bad;
}

Error unpack_external(Library&, std::string_view datarep, const void* in, Count in_bytes,
                      Count& position, Data out) {
  if (const Error bad = check_representation(datarep); bad.failed()) return bad;
  const auto bytes = external_bytes(*out.type, out.count);
  if (bytes.failed()) return bytes.error();
  const PackedBuffer buffer{"inbuf", "insize", in, in_bytes};
  Error bad = check_packed(buffer, position, bytes.value());
  if (bad.ok()) bad = unpack_external32(static_cast<const std::byte*>(in) + position, out);
  if (bad.ok()) position += bytes.value();
  return bad;
}

Error pack_external_size(Library&, std::string_view datarep, Count count, Datatype& datatype,
                         Count& size) {
  if (const Error bad = check_representation(datarep); bad.failed()) return bad;
  const auto bytes = external_bytes(datatype, count);
  if (bytes.ok()) size = bytes.value();
  return bytes.ok() ? Error{} : bytes.error();
}

}  // namespace fulmar::mpi
