// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/accumulate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/datatype/construct/recipe.h"
#include "mpi/datatype/view.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

std::uint64_t bytes_of(Count count, const Datatype& type) noexcept {
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type.size);
}

/// Both are in pieces: through a buffer on the stack.
void copy_pieces(const ConstData& from, const Data& to, std::uint64_t bytes) noexcept {
  constexpr std::size_t room_bytes = 8192;
  std::array<std::byte, room_bytes> room;
  const View source(*from.type, from.count);
  const View sink(*to.type, to.count);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t part = source.pack(from.address, done, room);
    if (part == 0) return;
    (void)sink.unpack(to.address, done, std::span(room).first(part));
    done += part;
  }
}

/// Packed elements as an array of their C type: pairs have gaps there.
std::vector<std::byte> spread(const Datatype& element, std::span<const std::byte> packed,
                              Count count) {
  std::vector<std::byte> array(static_cast<std::size_t>(count * element.extent));
  (void)View(element, count).unpack(array.data(), 0, packed);
  return array;
}

/// The element of all types that a derived one was made of, counting those of which it has none;
/// nullptr where they differ.
const Datatype* common_element(const Library& library, const Datatype& type) {
  if (type.recipe == nullptr) return nullptr;
  const Datatype* common = nullptr;
  for (const Datatype* part : type.recipe->types) {
    const Datatype* element = element_type(library, *part);
    if (element == nullptr || (common != nullptr && common != element)) return nullptr;
    common = element;
  }
  return common;
}

}  // namespace

bool can_be_compared(const Datatype& type) noexcept {
  if (type.basic == nullptr || !type.contiguous) return false;
  switch (type.basic->type_class) {
    case TypeClass::c_integer:
    case TypeClass::fortran_integer:
    case TypeClass::logical:
    case TypeClass::multi_language:
    case TypeClass::byte:
      return true;
    default:
      return false;
  }
}

void move_elements(const ConstData& from, const Data& to) noexcept {
  const std::uint64_t bytes = bytes_of(from.count, *from.type);
  if (bytes == 0) return;
  if (from.type->contiguous && to.type->contiguous) {
    std::memmove(to.address, from.address, bytes);
  } else if (from.type->contiguous) {
    (void)View(*to.type, to.count)
        .unpack(to.address, 0, {static_cast<const std::byte*>(from.address), bytes});
  } else if (to.type->contiguous) {
    (void)View(*from.type, from.count)
        .pack(from.address, 0, {static_cast<std::byte*>(to.address), bytes});
  } else {
    copy_pieces(from, to, bytes);
  }
}

std::span<const std::byte> packed_bytes(const ConstData& data, std::vector<std::byte>& room) {
  const std::uint64_t bytes = bytes_of(data.count, *data.type);
  if (data.type->contiguous) return {static_cast<const std::byte*>(data.address), bytes};
  room.resize(bytes);
  (void)View(*data.type, data.count).pack(data.address, 0, room);
  return room;
}

const Datatype* element_type(const Library& library, const Datatype& type) {
  if (type.basic != nullptr) return library.find<Datatype>(type.basic->handle);
  // First by the constructors: the signature of a type of MPI_2INT is one of MPI_INT alone.
  if (const Datatype* common = common_element(library, type); common != nullptr) return common;
  const BasicType* basic = type.signature->basic;
  return basic != nullptr ? library.find<Datatype>(basic->handle) : nullptr;
}

Error check_accumulate(const Op& op, const Datatype* element) {
  if (op.code == OpCode::user) {
    return base::failure(ErrorClass::op,
                         "argument op: accumulate operations take predefined operations only");
  }
  if (op.code == OpCode::replace || op.code == OpCode::no_op) return {};
  if (element == nullptr) {
    return base::failure(ErrorClass::type,
                         "argument target_datatype: %s needs elements of one predefined type",
                         op.name);
  }
  return check_reduction(op, *element);
}

void accumulate_data(const Op& op, const Datatype* element, std::span<const std::byte> source,
                     const Data& target) {
  if (op.code == OpCode::no_op || source.empty()) return;
  const View view(*target.type, target.count);
  if (op.code == OpCode::replace) {
    (void)view.unpack(target.address, 0, source);
    return;
  }
  const Count count = static_cast<Count>(source.size()) / element->size;
  if (element->contiguous && target.type->contiguous) {
    return apply_op(op, *element, source.data(), target.address, count);
  }
  std::vector<std::byte> old(source.size());
  (void)view.pack(target.address, 0, old);
  if (element->contiguous) {
    apply_op(op, *element, source.data(), old.data(), count);
  } else {
    const std::vector<std::byte> in = spread(*element, source, count);
    std::vector<std::byte> inout = spread(*element, old, count);
    apply_op(op, *element, in.data(), inout.data(), count);
    (void)View(*element, count).pack(inout.data(), 0, old);
  }
  (void)view.unpack(target.address, 0, old);
}

const Datatype* predefined_type(const Library& library, std::uint32_t handle) noexcept {
  auto* type = library.find<Datatype>(std::uintptr_t{handle});
  return type != nullptr && type->predefined && type->basic != nullptr && !type->unsupported()
             ? type
             : nullptr;
}

const Datatype* named_element(const Library& library, std::uint32_t element, std::uint32_t second) {
  if (element == 0) return nullptr;
  const Datatype* first = predefined_type(library, element);
  const Datatype* index = predefined_type(library, second);
  if (first == nullptr || index == nullptr) return first;
  const auto pair =
      library.datatypes->value_index(const_cast<Datatype&>(*first), const_cast<Datatype&>(*index));
  return pair.ok() ? pair.value() : nullptr;
}

const Op* predefined_op(const Library& library, std::uint8_t code) noexcept {
  const std::array handles = {MPI_SUM,    MPI_MIN,    MPI_MAX,     MPI_PROD, MPI_BAND,
                              MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,  MPI_LXOR,
                              MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  for (const MPI_Op handle : handles) {
    const Op* op = library.find<Op>(handle);
    if (op != nullptr && static_cast<std::uint8_t>(op->code) == code) return op;
  }
  return nullptr;
}

}  // namespace fulmar::mpi
