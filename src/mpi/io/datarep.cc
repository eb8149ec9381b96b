// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/datarep.h"

#include <algorithm>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/external.h"
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

/// Calls a conversion function of the user on all data at once: it gets the position 0.
Error call_user(const Representation& representation, const ConversionFunction& function,
                const Data& data, std::byte* in_file) {
  auto* type = reinterpret_cast<MPI_Datatype>(data.type->handle);
  void* extra = representation.user->extra_state;
  int code = MPI_SUCCESS;
  if (function.large != nullptr) {
    code = function.large(data.address, type, data.count, in_file, 0, extra);
  } else if (data.count > INT32_MAX) {
    return failure(
        ErrorClass::conversion,
        "%lld elements are too many for the functions of the data representation \"%s\"; "
        "register it with MPI_Register_datarep_c",
        static_cast<long long>(data.count), representation.user->name.c_str());
  } else {
    code = function.plain(data.address, type, static_cast<int>(data.count), in_file, 0, extra);
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

Error convert_to_file(const Representation& representation, const ConstData& data, std::byte* to) {
  if (representation.kind == Representation::Kind::external32) return pack_external32(data, to);
  const ConversionFunction& function = representation.user->write;
  if (is_none(function)) {
    const View view(*data.type, data.count);
    (void)view.pack(data.address, 0, {to, static_cast<std::size_t>(view.bytes())});
    return {};
  }
  return call_user(representation, function,
                   {const_cast<void*>(data.address), data.count, data.type}, to);
}

Error convert_from_file(const Representation& representation, const std::byte* from, Count bytes,
                        const Data& data, Count& elements) {
  const Result<Count> one = bytes_in_file(representation, *data.type, 1);
  if (one.failed()) return one.error();
  elements = one.value() == 0 ? 0 : std::min(bytes / one.value(), data.count);
  const Data whole{data.address, elements, data.type};
  if (representation.kind == Representation::Kind::external32) {
    return unpack_external32(from, whole);
  }
  const ConversionFunction& function = representation.user->read;
  if (is_none(function)) {
    const View view(*data.type, elements);
    (void)view.unpack(data.address, 0, {from, static_cast<std::size_t>(view.bytes())});
    return {};
  }
  return call_user(representation, function, whole, const_cast<std::byte*>(from));
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
