// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/datarep.h"

#include <algorithm>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/values/external.h"
#include "mpi/datatype/view.h"
#include "mpi/io/calls.h"
#include "mpi/io/file_state.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

int printed(std::string_view text) {
  return static_cast<int>(std::min<std::size_t>(text.size(), 128));
}

Result<Count> signature_bytes(const Representation& representation, const Signature& signature) {
  Count part_bytes = 0;
  if (signature.basic != nullptr) {
    const Result<Count> bytes = representation.bytes_of(*signature.basic);
    if (bytes.failed()) return bytes;
    part_bytes = bytes.value();
  }
  for (const auto& part : signature.parts) {
    const Result<Count> bytes = signature_bytes(representation, *part);
    if (bytes.failed()) return bytes;
    part_bytes += bytes.value();
  }
  return part_bytes * signature.count;
}

Error no_conversion(const Representation& representation, int code) {
  return failure(ErrorClass::conversion,
                 "a function of the data representation \"%s\" returned the error code %d",
                 representation.user->name.c_str(), code);
}

/// Basic elements, and their size in memory.
struct Items {
  Count count = 0;
  Count memory_bytes = 0;

  void add(const Items& more, Count times) noexcept {
    count += times * more.count;
    memory_bytes += times * more.memory_bytes;
  }
};

/// The items of a signature that `bytes` of a file hold completely. Takes those off `bytes`; one
/// that is cut off by their end makes `bytes` 0.
Result<Items> items_in(const Representation& representation, const Signature& signature,
                       Count repeat, Count& bytes) {
  Items found;
  const Count repetitions = repeat * signature.count;
  const Result<Count> all = signature_bytes(representation, signature);
  if (all.failed()) return all.error();
  if (all.value() == 0) return found;
  const Count one = all.value() / signature.count;
  const Count whole = std::min(repetitions, bytes / one);
  found.add({signature.part_elements, signature.part_bytes}, whole);
  bytes -= whole * one;
  if (whole == repetitions) return found;
  for (const auto& part : signature.parts) {
    const Result<Items> more = items_in(representation, *part, 1, bytes);
    if (more.failed()) return more;
    found.add(more.value(), 1);
    if (bytes == 0) break;
  }
  bytes = 0;
  return found;
}

/// Calls a conversion function of the user on `items` basic elements of the data (MPI 5.0 section
/// 14.5.3 counts these, not elements of the datatype), from the first one on.
Error call_user(const Representation& representation, const ConversionFunction& function,
                const Data& data, Count items, std::byte* in_file) {
  auto* type = reinterpret_cast<MPI_Datatype>(data.type->handle);
  void* extra = representation.user->extra_state;
  int code = MPI_SUCCESS;
  if (function.large != nullptr) {
    code = function.large(data.address, type, items, in_file, 0, extra);
  } else if (items > INT32_MAX) {
    return failure(
        ErrorClass::conversion,
        "%lld elements are too many for the functions of the data representation \"%s\"; "
        "register it with MPI_Register_datarep_c",
        static_cast<long long>(items), representation.user->name.c_str());
  } else {
    code = function.plain(data.address, type, static_cast<int>(items), in_file, 0, extra);
  }
  return code == MPI_SUCCESS ? Error{} : no_conversion(representation, code);
}

bool is_none(const ConversionFunction& function) {
  return function.plain == nullptr && function.large == nullptr;
}

}  // namespace

std::string_view Representation::name() const noexcept {
  switch (kind) {
    case Kind::native:
      return "native";
    case Kind::internal:
      return "internal";
    case Kind::external32:
      return "external32";
    case Kind::user:
      return user->name;
  }
  return "native";
}

Result<Count> Representation::bytes_of(const BasicType& basic) const {
  if (as_in_memory()) return basic.size;
  if (kind == Kind::external32) return Count{basic.external};
  if (basic.first != nullptr) {  // a pair, of which the conversion functions get both parts
    const Result<Count> first = bytes_of(*basic.first);
    const Result<Count> second = bytes_of(*basic.second);
    if (first.failed() || second.failed()) return first.failed() ? first : second;
    return first.value() + second.value();
  }
  MPI_Aint bytes = 0;
  const int code =
      user->extent(reinterpret_cast<MPI_Datatype>(basic.handle), &bytes, user->extra_state);
  if (code != MPI_SUCCESS) return no_conversion(*this, code);
  if (bytes <= 0) {
    return failure(ErrorClass::conversion,
                   "the data representation \"%s\" gives %lld bytes for an element of %s",
                   user->name.c_str(), static_cast<long long>(bytes), basic.name);
  }
  return Count{bytes};
}

Result<Representation> find_representation(Library& library, std::string_view name) {
  using Kind = Representation::Kind;
  if (name == "native") return Representation{Kind::native};
  if (name == "internal") return Representation{Kind::internal};
  if (name == "external32") return Representation{Kind::external32};
  for (const UserRepresentation& user : library.files->representations) {
    if (user.name == name) return Representation{Kind::user, &user};
  }
  return failure(ErrorClass::unsupported_datarep,
                 "argument datarep: \"%.*s\" is unknown; use native, internal, external32, or "
                 "register it with MPI_Register_datarep",
                 printed(name), name.data());
}

Result<Count> bytes_in_file(const Representation& representation, const Datatype& type,
                            Count count) {
  const Result<Count> one = representation.as_in_memory()
                                ? Result<Count>(type.size)
                                : signature_bytes(representation, *type.signature);
  if (one.failed()) return one;
  Count bytes = 0;
  if (__builtin_mul_overflow(one.value(), count, &bytes)) {
    return failure(ErrorClass::count, "argument count: %lld elements of %lld bytes are too many",
                   static_cast<long long>(count), static_cast<long long>(one.value()));
  }
  return bytes;
}

namespace {

/// MPI_ERR_CONVERSION where data that are not converted would not have the size that they have in
/// memory.
Error check_same_size(const Representation& representation, const Datatype& type) {
  const Result<Count> bytes = bytes_in_file(representation, type, 1);
  if (bytes.failed()) return bytes.error();
  if (bytes.value() == type.size) return {};
  return failure(ErrorClass::conversion,
                 "the data representation \"%s\" has no conversion function here, but its extents "
                 "make %lld bytes of %lld in memory; give the extents of the types in memory",
                 representation.user->name.c_str(), static_cast<long long>(bytes.value()),
                 static_cast<long long>(type.size));
}

}  // namespace

Error convert_to_file(const Representation& representation, const ConstData& data, std::byte* to) {
  if (representation.kind == Representation::Kind::external32) return pack_external32(data, to);
  const ConversionFunction& function = representation.user->write;
  if (is_none(function)) {
    const Error bad = check_same_size(representation, *data.type);
    if (bad.failed()) return bad;
    const View view(*data.type, data.count);
    (void)view.pack(data.address, 0, {to, static_cast<std::size_t>(view.bytes())});
    return {};
  }
  return call_user(representation, function,
                   {const_cast<void*>(data.address), data.count, data.type},
                   data.count * data.type->signature->elements(), to);
}

Error convert_from_file(const Representation& representation, const std::byte* from, Count bytes,
                        const Data& data, Count& moved) {
  if (representation.kind == Representation::Kind::external32) {
    return unpack_external32_part({from, static_cast<std::size_t>(bytes)}, data, moved);
  }
  moved = 0;
  const Count there = bytes;
  const auto items = items_in(representation, *data.type->signature, data.count, bytes);
  if (items.failed()) return items.error();
  const ConversionFunction& function = representation.user->read;
  if (is_none(function)) {
    const Error bad = check_same_size(representation, *data.type);
    if (bad.failed()) return bad;
    moved = std::min(items.value().memory_bytes, there);
    const View view(*data.type, data.count);
    (void)view.unpack(data.address, 0, {from, static_cast<std::size_t>(moved)});
    return {};
  }
  moved = items.value().memory_bytes;
  if (moved == 0) return {};
  return call_user(representation, function, data, items.value().count,
                   const_cast<std::byte*>(from));
}

Error register_datarep(Library& library, std::string_view name, ConversionFunction read,
                       ConversionFunction write, MPI_Datarep_extent_function* extent,
                       void* extra_state) {
  if (name.empty() || name.size() >= MPI_MAX_DATAREP_STRING) {
    return failure(ErrorClass::arg, "argument datarep: a name has 1 to %d bytes, this one has %zu",
                   MPI_MAX_DATAREP_STRING - 1, name.size());
  }
  if (extent == nullptr) {
    return failure(ErrorClass::arg, "argument dtype_file_extent_fn: null pointer; give a function");
  }
  if (find_representation(library, name).ok()) {
    return failure(ErrorClass::dup_datarep,
                   "argument datarep: \"%.*s\" is defined already; choose another name",
                   printed(name), name.data());
  }
  library.files->representations.push_back({std::string(name), read, write, extent, extra_state});
  return {};
}

}  // namespace fulmar::mpi
