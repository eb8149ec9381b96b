// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Random datatypes, built at the same time through the constructors and as plain type maps, must
// agree in every number and in where each packed byte lies, as must the same types rebuilt from
// their envelopes and contents.
//
// FULMAR_TEST_TYPES: how many types; FULMAR_TEST_SEED: the seed of the first, a failure names that
// of the type.

#include <array>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/values/external.h"
#include "mpi/datatype/view.h"
#include "unit/mpi/datatype/rebuild.h"
#include "unit/mpi/datatype/reference.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

class RandomTypesTest : public Objects {
 protected:
  struct Both {
    MPI_Datatype handle;
    ReferenceType map;
  };

  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Both draw_basic() {
    static const std::array<MPI_Datatype, 7> choices{
        MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE};
    const MPI_Datatype handle = choices[static_cast<std::size_t>(draw(0, 6))];
    const BasicType& type = *this->type(handle).basic;
    ReferenceType map;
    if (type.type_class == TypeClass::pair) {
      map.entries = {{0, type.first}, {type.second_offset, type.second}};
    } else {
      map.entries = {{0, &type}};
    }
    return {handle, map};
  }

  /// Gives the handle back, unless it is predefined.
  void drop(MPI_Datatype handle) {
    if (!type(handle).predefined) {
      EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    }
  }

  void expect_made(const base::Error& error) { ASSERT_TRUE(error.ok()) << error.text(); }

  Both make_vector_of(const Both& old) {
    Both made{MPI_DATATYPE_NULL, {}};
    const std::int64_t count = draw(0, 4);
    const std::int64_t length = draw(0, 3);
    const bool in_bytes = draw(0, 1) == 1;
    const std::int64_t stride = in_bytes ? draw(-40, 40) : draw(-4, 5);
    const std::int64_t step = in_bytes ? stride : stride * old.map.extent();
    for (std::int64_t i = 0; i < count; ++i) made.map.append(old.map, length, i * step);
    Datatype& part = type(old.handle);
    expect_made(
        in_bytes
            ? type_create_hvector(library, Form::plain, count, length, stride, part, made.handle)
            : type_vector(library, Form::plain, count, length, stride, part, made.handle));
    return made;
  }

  Both make_indexed_of(const Both& old) {
    Both made{MPI_DATATYPE_NULL, {}};
    std::array<int, 5> lengths;
    std::array<int, 5> displacements;
    std::array<MPI_Aint, 5> bytes;
    const auto count = static_cast<std::size_t>(draw(0, 5));
    const bool in_bytes = draw(0, 1) == 1;
    const bool one_length = draw(0, 1) == 1;
    for (std::size_t i = 0; i < count; ++i) {
      lengths[i] = one_length && i > 0 ? lengths[0] : static_cast<int>(draw(0, 3));
      displacements[i] = static_cast<int>(draw(-6, 6));
      bytes[i] = draw(-50, 50);
      made.map.append(old.map, lengths[i],
                      in_bytes ? bytes[i] : displacements[i] * old.map.extent());
    }
    const CountArray length_list(lengths.data(), count);
    const CountArray displacement_list(displacements.data(), count);
    const std::span<const MPI_Aint> byte_list(bytes.data(), count);
    const auto n = static_cast<Count>(count);
    const int length = count > 0 ? lengths[0] : 0;
    Datatype& part = type(old.handle);
    if (one_length) {
      expect_made(in_bytes ? type_create_hindexed_block(library, Form::plain, n, length, byte_list,
                                                        part, made.handle)
                           : type_create_indexed_block(library, Form::plain, n, length,
                                                       displacement_list, part, made.handle));
    } else {
      expect_made(in_bytes ? type_create_hindexed(library, Form::plain, n, length_list, byte_list,
                                                  part, made.handle)
                           : type_indexed(library, Form::plain, n, length_list, displacement_list,
                                          part, made.handle));
    }
    return made;
  }

  Both make_struct_of(int depth) {
    Both made{MPI_DATATYPE_NULL, {}};
    std::array<int, 4> lengths;
    std::array<MPI_Aint, 4> at;
    std::array<MPI_Datatype, 4> types;
    const auto count = static_cast<std::size_t>(draw(0, 4));
    for (std::size_t i = 0; i < count; ++i) {
      const Both part = draw_type(depth - 1);
      lengths[i] = static_cast<int>(draw(0, 3));
      at[i] = draw(-60, 60);
      types[i] = part.handle;
      made.map.append(part.map, lengths[i], at[i]);
    }
    expect_made(type_create_struct(library, Form::plain, static_cast<Count>(count),
                                   {lengths.data(), count}, {at.data(), count},
                                   {types.data(), count}, made.handle));
    for (std::size_t i = 0; i < count; ++i) drop(types[i]);
    return made;
  }

  Both make_subarray_of(const Both& old) {
    Both made{MPI_DATATYPE_NULL, {}};
    std::array<int, 3> sizes;
    std::array<int, 3> subsizes;
    std::array<int, 3> starts;
    const auto dimensions = static_cast<std::size_t>(draw(1, 3));
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes[d] = static_cast<int>(draw(1, 4));
      subsizes[d] = static_cast<int>(draw(1, sizes[d]));
      starts[d] = static_cast<int>(draw(0, sizes[d] - subsizes[d]));
    }
    const bool c_order = draw(0, 1) == 1;
    // Index 0 of `order` varies slowest.
    std::array<std::size_t, 3> order{0, 1, 2};
    if (!c_order)
      std::reverse(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(dimensions));
    std::int64_t whole = 1;
    for (std::size_t d = 0; d < dimensions; ++d) whole *= sizes[d];
    for (std::int64_t flat = 0; flat < whole; ++flat) {
      std::int64_t rest = flat;
      bool inside = true;
      for (std::size_t i = dimensions; i-- > 0;) {
        const std::size_t d = order[i];
        const std::int64_t index = rest % sizes[d];
        rest /= sizes[d];
        inside = inside && index >= starts[d] && index < starts[d] + subsizes[d];
      }
      if (inside) made.map.append(old.map, 1, flat * old.map.extent());
    }
    made.map.lower_marks = {0};
    made.map.upper_marks = {whole * old.map.extent()};
    expect_made(type_create_subarray(
        library, Form::plain, static_cast<int>(dimensions), {sizes.data(), dimensions},
        {subsizes.data(), dimensions}, {starts.data(), dimensions},
        c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, type(old.handle), made.handle));
    return made;
  }

  Both make_darray_of(const Both& old) {
    Both made{MPI_DATATYPE_NULL, {}};
    std::array<int, 3> sizes;
    std::array<int, 3> kinds;
    std::array<int, 3> arguments;
    std::array<int, 3> grid;
    std::array<std::int64_t, 3> blocks;
    const auto dimensions = static_cast<std::size_t>(draw(1, 3));
    int processes = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const auto kind = draw(0, 2);
      sizes[d] = static_cast<int>(draw(1, 7));
      grid[d] = kind == 2 ? 1 : static_cast<int>(draw(1, 3));
      processes *= grid[d];
      const int least = (sizes[d] + grid[d] - 1) / grid[d];
      kinds[d] = kind == 0   ? MPI_DISTRIBUTE_BLOCK
                 : kind == 1 ? MPI_DISTRIBUTE_CYCLIC
                             : MPI_DISTRIBUTE_NONE;
      const bool by_default = draw(0, 1) == 1;
      const int block = static_cast<int>(kind == 0 ? draw(least, least + 2) : draw(1, 3));
      arguments[d] = by_default ? MPI_DISTRIBUTE_DFLT_DARG : block;
      blocks[d] = kind == 2 ? sizes[d] : !by_default ? block : kind == 0 ? least : 1;
    }
    const int rank = static_cast<int>(draw(0, processes - 1));
    std::array<int, 3> place;
    for (std::size_t d = dimensions, rest = static_cast<std::size_t>(rank); d-- > 0;) {
      place[d] = static_cast<int>(rest) % grid[d];
      rest /= static_cast<std::size_t>(grid[d]);
    }
    const bool c_order = draw(0, 1) == 1;
    std::int64_t whole = 1;
    for (std::size_t d = 0; d < dimensions; ++d) whole *= sizes[d];
    for (std::int64_t flat = 0; flat < whole; ++flat) {
      std::int64_t rest = flat;
      bool mine = true;
      for (std::size_t i = 0; i < dimensions; ++i) {
        const std::size_t d = c_order ? dimensions - 1 - i : i;
        const std::int64_t index = rest % sizes[d];
        rest /= sizes[d];
        mine = mine && index / blocks[d] % grid[d] == place[d];
      }
      if (mine) made.map.append(old.map, 1, flat * old.map.extent());
    }
    made.map.lower_marks = {0};
    made.map.upper_marks = {whole * old.map.extent()};
    expect_made(type_create_darray(
        library, Form::plain, processes, rank, static_cast<int>(dimensions),
        {sizes.data(), dimensions}, {kinds.data(), dimensions}, {arguments.data(), dimensions},
        {grid.data(), dimensions}, c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, type(old.handle),
        made.handle));
    return made;
  }

  Both make_resized_of(const Both& old) {
    const std::int64_t lb = draw(-20, 20);
    const std::int64_t extent = draw(-10, 60);
    Both made{MPI_DATATYPE_NULL, old.map};
    made.map.lower_marks = {lb};
    made.map.upper_marks = {lb + extent};
    expect_made(
        type_create_resized(library, Form::plain, type(old.handle), lb, extent, made.handle));
    return made;
  }

  Both make_other_of(const Both& old) {
    Both made{MPI_DATATYPE_NULL, {}};
    if (draw(0, 3) == 0) {
      made.map = old.map;
      expect_made(type_dup(library, type(old.handle), made.handle));
    } else {
      const std::int64_t count = draw(0, 4);
      made.map.append(old.map, count, 0);
      expect_made(type_contiguous(library, Form::plain, count, type(old.handle), made.handle));
    }
    return made;
  }

  Both draw_type(int depth) {
    if (depth == 0) return draw_basic();
    const std::int64_t choice = draw(0, 7);
    if (choice == 0) return make_struct_of(depth);
    const Both old = draw_type(depth - 1);
    Both made = choice <= 2   ? make_vector_of(old)
                : choice == 3 ? make_indexed_of(old)
                : choice == 4 ? make_subarray_of(old)
                : choice == 5 ? make_resized_of(old)
                : choice == 6 ? make_darray_of(old)
                              : make_other_of(old);
    drop(old.handle);
    return made;
  }

  void check_numbers(const Both& both) {
    const Datatype& made = type(both.handle);
    EXPECT_EQ(made.size, both.map.size());
    EXPECT_EQ(made.lb, both.map.lb());
    EXPECT_EQ(made.extent, both.map.extent());
    EXPECT_EQ(made.true_lb, both.map.true_lb());
    EXPECT_EQ(made.true_extent, both.map.true_ub() - both.map.true_lb());
    EXPECT_EQ(made.signature->bytes(), both.map.size());
    EXPECT_EQ(made.signature->elements(), static_cast<std::int64_t>(both.map.entries.size()));
    if (both.map.size() > 0) {
      const std::int64_t part = draw(0, both.map.size());
      std::int64_t left = part;
      std::int64_t elements = 0;
      for (const auto& entry : both.map.entries) {
        if (left < entry.basic->size) break;
        left -= entry.basic->size;
        ++elements;
      }
      const ElementCount counted = count_elements(*made.signature, part);
      EXPECT_EQ(counted.elements, elements);
      EXPECT_EQ(counted.rest, left);
    }
  }

  /// Packs, unpacks and lists pieces of `count` elements in random portions.
  void check_bytes(const Both& both, std::int64_t count) {
    const std::vector<std::int64_t> at = both.map.bytes(count);
    const auto [low, high] = at.empty() ? std::pair<std::int64_t, std::int64_t>{0, 0}
                                        : std::pair{*std::min_element(at.begin(), at.end()),
                                                    *std::max_element(at.begin(), at.end()) + 1};
    std::vector<std::byte> memory(static_cast<std::size_t>(high - low));
    for (auto& value : memory) value = static_cast<std::byte>(draw(0, 255));
    const auto base =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(memory.data()) - low);
    const View view(type(both.handle), count);
    ASSERT_EQ(view.bytes(), at.size());
    if (type(both.handle).contiguous) {
      for (std::size_t i = 0; i < at.size(); ++i) ASSERT_EQ(at[i], static_cast<std::int64_t>(i));
    }

    std::vector<std::byte> expected;
    for (const std::int64_t displacement : at) expected.push_back(base[displacement]);
    std::vector<std::byte> packed(at.size());
    for (std::size_t done = 0; done < at.size();) {
      const auto portion = static_cast<std::size_t>(draw(1, 37));
      const std::span<std::byte> to(packed.data() + done, std::min(portion, at.size() - done));
      const std::size_t got = view.pack(base, done, to);
      ASSERT_EQ(got, to.size());
      check_segments(view, base, at, done, portion);
      done += got;
    }
    EXPECT_EQ(packed, expected);
    check_range(view, base, expected, at, low, high);
    check_external(both, count, base, expected);
    std::byte more{};
    EXPECT_EQ(view.pack(base, at.size(), {&more, 1}), 0u);

    std::vector<std::byte> target(memory.size(), std::byte{0});
    std::vector<std::byte> wanted = target;
    const auto to =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(target.data()) - low);
    for (std::size_t i = 0; i < at.size(); ++i) {
      wanted[static_cast<std::size_t>(at[i] - low)] = packed[i];
    }
    for (std::size_t done = 0; done < at.size();) {
      const auto portion = static_cast<std::size_t>(draw(1, 37));
      done += view.unpack(to, done, {packed.data() + done, std::min(portion, at.size() - done)});
    }
    EXPECT_EQ(target, wanted);
  }

  /// Any range of the packed bytes, alone.
  void check_range(const View& view, const std::byte* base, std::span<const std::byte> expected,
                   const std::vector<std::int64_t>& at, std::int64_t low, std::int64_t high) {
    const auto size = static_cast<std::int64_t>(expected.size());
    const auto from = static_cast<std::size_t>(draw(0, size));
    const auto length = static_cast<std::size_t>(draw(0, size - static_cast<std::int64_t>(from)));
    const auto part = expected.subspan(from, length);
    std::vector<std::byte> packed(length);
    ASSERT_EQ(view.pack(base, from, packed), length);
    EXPECT_TRUE(std::equal(packed.begin(), packed.end(), part.begin()));
    std::vector<std::byte> target(static_cast<std::size_t>(high - low), std::byte{0xa5});
    std::vector<std::byte> wanted = target;
    const auto to =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(target.data()) - low);
    ASSERT_EQ(view.unpack(to, from, part), length);
    for (std::size_t i = 0; i < length; ++i) {
      wanted[static_cast<std::size_t>(at[from + i] - low)] = part[i];
    }
    EXPECT_EQ(target, wanted);
  }

  void check_signature(const Datatype& made, const ReferenceType& map) {
    std::vector<const BasicType*> elements;
    const auto collect = [&](const auto& self, const Signature& signature) -> void {
      for (std::int64_t i = 0; i < signature.count; ++i) {
        if (signature.basic != nullptr) elements.push_back(signature.basic);
        for (const auto& part : signature.parts) self(self, *part);
      }
    };
    collect(collect, *made.signature);
    ASSERT_EQ(elements.size(), map.entries.size());
    for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], map.entries[i].basic);
  }

  /// external32 of types whose elements keep their size and only turn their bytes round.
  void check_external(const Both& both, std::int64_t count, const std::byte* base,
                      std::span<const std::byte> packed) {
    std::vector<std::byte> expected;
    std::size_t position = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const auto& entry : both.map.entries) {
        if (entry.basic->element == Element::float_long) return;
        const auto part = packed.subspan(position, static_cast<std::size_t>(entry.basic->size));
        expected.insert(expected.end(), part.rbegin(), part.rend());
        position += part.size();
      }
    }
    const Datatype& made = type(both.handle);
    ASSERT_EQ(external_bytes(made, count).value(), static_cast<std::int64_t>(expected.size()));
    std::vector<std::byte> external(expected.size());
    ASSERT_TRUE(pack_external32({base, count, &made}, external.data()).ok());
    EXPECT_EQ(external, expected);
  }

  /// A type that is made from what the library tells of this one.
  void check_rebuilt(const Both& both) {
    const MPI_Datatype again = rebuild(library, both.handle);
    check_numbers({again, both.map});
    check_bytes({again, both.map}, draw(0, 2));
    drop(again);
  }

  void check_segments(const View& view, std::byte* base, const std::vector<std::int64_t>& at,
                      std::size_t offset, std::size_t length) {
    std::array<iovec, 4> out{};
    const std::size_t used = view.segments(base, offset, length, out);
    std::size_t position = offset;
    for (std::size_t i = 0; i < used; ++i) {
      const auto* start = static_cast<const std::byte*>(out[i].iov_base);
      ASSERT_GT(out[i].iov_len, 0u);
      for (std::size_t b = 0; b < out[i].iov_len; ++b, ++position) {
        ASSERT_LT(position, std::min(offset + length, at.size()));
        ASSERT_EQ(start + b, base + at[position]);
      }
    }
    if (used < out.size()) {
      EXPECT_EQ(position, std::min(offset + length, at.size()));
    }
  }

  /// A number from the environment.
  static std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
  }

  std::mt19937_64 random_;
};

TEST_F(RandomTypesTest, Agree_with_their_type_maps) {
  const std::uint64_t first = setting("FULMAR_TEST_SEED", 20261121);
  const std::uint64_t rounds = setting("FULMAR_TEST_TYPES", 3000);
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    random_.seed(seed);
    const Both both = draw_type(static_cast<int>(draw(0, 4)));
    if (both.map.entries.size() < 2000) {
      check_numbers(both);
      check_signature(type(both.handle), both.map);
      check_bytes(both, draw(0, 3));
      check_rebuilt(both);
    }
    drop(both.handle);
    if (HasFailure()) {
      FAIL() << "FULMAR_TEST_SEED=" << seed << " FULMAR_TEST_TYPES=1 repeats it";
    }
  }
}

}  // namespace
}  // namespace fulmar::mpi
