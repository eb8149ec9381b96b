// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/datatype.h"

#include <array>
#include <cstring>
#include <numeric>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/view.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

class DatatypeTest : public Objects {
 protected:
  void free_type(MPI_Datatype handle) {
    EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    EXPECT_EQ(handle, MPI_DATATYPE_NULL);
  }
  Count size_of(MPI_Datatype handle) {
    Count size = -1;
    EXPECT_TRUE(type_size_x(library, type(handle), size).ok());
    return size;
  }
};

TEST_F(DatatypeTest, Predefined_types_have_the_sizes_of_their_C_types) {
  struct DoubleInt {
    double value;
    int index;
  };
  struct LongDoubleInt {
    long double value;
    int index;
  };
  EXPECT_EQ(type(MPI_INT).size, Count{sizeof(int)});
  EXPECT_EQ(type(MPI_INT).extent, Count{sizeof(int)});
  EXPECT_EQ(type(MPI_LONG_DOUBLE).size, Count{sizeof(long double)});
  EXPECT_EQ(type(MPI_WCHAR).size, Count{sizeof(wchar_t)});
  EXPECT_EQ(type(MPI_C_BOOL).size, Count{1});
  EXPECT_EQ(type(MPI_COUNT).size, Count{8});
  EXPECT_EQ(type(MPI_DOUBLE_INT).size, Count{12});
  EXPECT_EQ(type(MPI_DOUBLE_INT).extent, Count{sizeof(DoubleInt)});
  EXPECT_EQ(type(MPI_LONG_DOUBLE_INT).size, Count{sizeof(long double) + sizeof(int)});
  EXPECT_EQ(type(MPI_LONG_DOUBLE_INT).extent, Count{sizeof(LongDoubleInt)});
  EXPECT_EQ(type(MPI_SHORT_INT).size, Count{6});
  EXPECT_EQ(type(MPI_SHORT_INT).extent, Count{8});
  EXPECT_EQ(type(MPI_REAL16).size, Count{16});
  EXPECT_TRUE(type(MPI_2INT).contiguous);
  EXPECT_FALSE(type(MPI_SHORT_INT).contiguous);
  EXPECT_FALSE(type(MPI_DOUBLE_INT).contiguous);
}

TEST_F(DatatypeTest, Fixed_size_handles_carry_their_size) {
  for (const BasicType& basic : datatypes.basic_types()) {
    const std::uintptr_t group = basic.handle >> 6;
    if ((group != 0b1001 && group != 0b1011) || basic.type_class == TypeClass::unsupported)
      continue;
    EXPECT_EQ(basic.size, std::int64_t{1} << ((basic.handle >> 3) & 7)) << basic.name;
  }
}

TEST_F(DatatypeTest, Every_predefined_type_is_usable_and_named) {
  for (const BasicType& basic : datatypes.basic_types()) {
    const auto* found = library.find<Datatype>(basic.handle);
    ASSERT_NE(found, nullptr) << basic.name;
    EXPECT_EQ(found->committed, basic.type_class != TypeClass::unsupported) << basic.name;
    EXPECT_EQ(found->name, basic.name);
    EXPECT_EQ(found->size, basic.size) << basic.name;
  }
  EXPECT_EQ(library.find<Datatype>(MPI_DATATYPE_NULL), nullptr);
}

TEST_F(DatatypeTest, Size_of_unsupported_type_is_undefined) {
  int size = 0;
  EXPECT_TRUE(type_size(library, type(MPI_REAL2), {&size, CountOut::Overflow::undefined}).ok());
  EXPECT_EQ(size, MPI_UNDEFINED);
  MPI_Datatype handle = MPI_REAL2;
  EXPECT_EQ(class_of(type_commit(library, {&handle, &type(handle)})), ErrorClass::type);
}

TEST_F(DatatypeTest, Size_too_large_for_int_is_undefined) {
  MPI_Datatype big = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_contiguous(library, Form::plain, Count{1} << 40, type(MPI_INT), big).ok());
  int size = 0;
  EXPECT_TRUE(type_size(library, type(big), {&size, CountOut::Overflow::undefined}).ok());
  EXPECT_EQ(size, MPI_UNDEFINED);
  EXPECT_EQ(size_of(big), Count{4} << 40);
  EXPECT_TRUE(type(big).contiguous);
  free_type(big);
}

TEST_F(DatatypeTest, Contiguous_of_contiguous_is_contiguous) {
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Datatype outer = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_contiguous(library, Form::plain, 3, type(MPI_DOUBLE), inner).ok());
  ASSERT_TRUE(type_contiguous(library, Form::plain, 5, type(inner), outer).ok());
  EXPECT_TRUE(type(outer).contiguous);
  EXPECT_EQ(type(outer).extent, 120);
  EXPECT_EQ(type(outer).uniform()->handle, reinterpret_cast<std::uintptr_t>(MPI_DOUBLE));
  free_type(inner);
  free_type(outer);
}

TEST_F(DatatypeTest, Vector_with_gaps_packs_its_blocks) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 3, 2, 4, type(MPI_INT), vector).ok());
  EXPECT_EQ(type(vector).size, 24);
  EXPECT_EQ(type(vector).extent, 40);
  EXPECT_FALSE(type(vector).contiguous);
  std::array<int, 20> source;
  std::iota(source.begin(), source.end(), 0);
  std::array<int, 12> packed{};
  const View view(type(vector), 2);
  EXPECT_EQ(view.bytes(), 48u);
  EXPECT_EQ(view.pack(source.data(), 0, std::as_writable_bytes(std::span(packed))), 48u);
  EXPECT_EQ(packed, (std::array<int, 12>{0, 1, 4, 5, 8, 9, 10, 11, 14, 15, 18, 19}));
  free_type(vector);
}

TEST_F(DatatypeTest, Vector_with_stride_of_its_blocks_is_contiguous) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 3, 2, 2, type(MPI_INT), vector).ok());
  EXPECT_TRUE(type(vector).contiguous);
  free_type(vector);
}

TEST_F(DatatypeTest, Negative_stride_moves_the_lower_bound) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 3, 1, -2, type(MPI_INT), vector).ok());
  EXPECT_EQ(type(vector).lb, -16);
  EXPECT_EQ(type(vector).extent, 20);
  EXPECT_EQ(type(vector).true_lb, -16);
  const std::array<int, 5> source{0, 1, 2, 3, 4};
  std::array<int, 3> packed{};
  View(type(vector), 1).pack(&source[4], 0, std::as_writable_bytes(std::span(packed)));
  EXPECT_EQ(packed, (std::array<int, 3>{4, 2, 0}));
  free_type(vector);
}

TEST_F(DatatypeTest, Empty_types_have_no_extent) {
  for (const auto& [count, length] : {std::pair{0, 3}, std::pair{3, 0}}) {
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    ASSERT_TRUE(type_vector(library, Form::plain, count, length, 5, type(MPI_INT), vector).ok());
    EXPECT_EQ(type(vector).size, 0);
    EXPECT_EQ(type(vector).extent, 0);
    EXPECT_EQ(type(vector).true_extent, 0);
    EXPECT_TRUE(type(vector).contiguous);
    free_type(vector);
  }
}

TEST_F(DatatypeTest, Resized_sets_bounds_and_keeps_true_ones) {
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_resized(library, Form::plain, type(MPI_INT), -4, 16, resized).ok());
  EXPECT_EQ(type(resized).lb, -4);
  EXPECT_EQ(type(resized).extent, 16);
  EXPECT_EQ(type(resized).true_lb, 0);
  EXPECT_EQ(type(resized).true_extent, 4);
  EXPECT_FALSE(type(resized).contiguous);
  free_type(resized);
}

TEST_F(DatatypeTest, Struct_is_padded_to_its_alignment_unless_resized) {
  struct Record {
    double value;
    char tag;
  };
  const std::array<int, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> at{0, 8};
  const std::array<MPI_Datatype, 2> types{MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype record = MPI_DATATYPE_NULL;
  ASSERT_TRUE(
      type_create_struct(library, Form::plain, 2, {lengths.data(), 2}, at, types, record).ok());
  EXPECT_EQ(type(record).size, 9);
  EXPECT_EQ(type(record).extent, Count{sizeof(Record)});
  EXPECT_EQ(type(record).true_extent, 9);
  MPI_Datatype narrow = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_resized(library, Form::plain, type(record), 0, 9, narrow).ok());
  EXPECT_EQ(type(narrow).extent, 9);
  EXPECT_TRUE(type(narrow).contiguous);
  free_type(narrow);
  free_type(record);
}

TEST_F(DatatypeTest, Struct_with_null_type_names_the_entry) {
  const std::array<int, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> at{0, 8};
  const std::array<MPI_Datatype, 2> types{MPI_DOUBLE, MPI_DATATYPE_NULL};
  MPI_Datatype record = MPI_DATATYPE_NULL;
  const Error error =
      type_create_struct(library, Form::plain, 2, {lengths.data(), 2}, at, types, record);
  EXPECT_EQ(class_of(error), ErrorClass::type);
  EXPECT_NE(error.text().find("array_of_types[1]"), std::string::npos);
  EXPECT_EQ(record, MPI_DATATYPE_NULL);
}

TEST_F(DatatypeTest, Subarray_picks_the_block_in_both_orders) {
  const std::array<int, 2> sizes{4, 6};
  const std::array<int, 2> subsizes{2, 3};
  const std::array<int, 2> starts{1, 2};
  std::array<int, 24> source;
  std::iota(source.begin(), source.end(), 0);
  std::array<int, 6> packed{};
  MPI_Datatype block = MPI_DATATYPE_NULL;
  const auto make = [&](int order) {
    return type_create_subarray(library, Form::plain, 2, {sizes.data(), 2}, {subsizes.data(), 2},
                                {starts.data(), 2}, order, type(MPI_INT), block);
  };
  ASSERT_TRUE(make(MPI_ORDER_C).ok());
  EXPECT_EQ(type(block).extent, 96);
  View(type(block), 1).pack(source.data(), 0, std::as_writable_bytes(std::span(packed)));
  EXPECT_EQ(packed, (std::array<int, 6>{8, 9, 10, 14, 15, 16}));
  free_type(block);
  ASSERT_TRUE(make(MPI_ORDER_FORTRAN).ok());
  View(type(block), 1).pack(source.data(), 0, std::as_writable_bytes(std::span(packed)));
  EXPECT_EQ(packed, (std::array<int, 6>{9, 10, 13, 14, 17, 18}));
  free_type(block);
  EXPECT_EQ(class_of(make(7)), ErrorClass::arg);
}

TEST_F(DatatypeTest, Bad_counts_are_refused) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  EXPECT_EQ(class_of(type_contiguous(library, Form::plain, -1, type(MPI_INT), made)),
            ErrorClass::count);
  EXPECT_EQ(class_of(type_vector(library, Form::plain, -1, 1, 1, type(MPI_INT), made)),
            ErrorClass::count);
  EXPECT_EQ(class_of(type_vector(library, Form::plain, 1, -1, 1, type(MPI_INT), made)),
            ErrorClass::arg);
  const Count huge = Count{1} << 62;
  EXPECT_EQ(class_of(type_contiguous(library, Form::plain, huge, type(MPI_INT), made)),
            ErrorClass::value_too_large);
  EXPECT_EQ(class_of(type_vector(library, Form::plain, 2, 1, huge, type(MPI_INT), made)),
            ErrorClass::value_too_large);
  EXPECT_EQ(class_of(type_create_hvector(library, Form::plain, 3, 1, huge, type(MPI_INT), made)),
            ErrorClass::value_too_large);
  EXPECT_EQ(class_of(type_create_resized(library, Form::plain, type(MPI_INT), huge, huge, made)),
            ErrorClass::value_too_large);
  EXPECT_EQ(made, MPI_DATATYPE_NULL);
}

TEST_F(DatatypeTest, Free_of_predefined_type_fails) {
  MPI_Datatype handle = MPI_INT;
  EXPECT_EQ(class_of(type_free(library, {&handle, &type(handle)})), ErrorClass::type);
  EXPECT_EQ(handle, MPI_INT);
}

TEST_F(DatatypeTest, Freed_part_lives_in_the_whole) {
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Datatype outer = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 2, 1, 3, type(MPI_INT), inner).ok());
  ASSERT_TRUE(type_contiguous(library, Form::plain, 2, type(inner), outer).ok());
  const MPI_Datatype old = inner;
  free_type(inner);
  EXPECT_EQ(library.find<Datatype>(old), nullptr);
  EXPECT_EQ(library.live(ObjectKind::datatype), 2u);

  std::array<int, 1> integers{};
  std::array<MPI_Datatype, 1> types{};
  ASSERT_TRUE(type_get_contents(library, type(outer), 1, 0, 1, integers, {}, types).ok());
  EXPECT_EQ(integers[0], 2);
  EXPECT_EQ(size_of(types[0]), 8);
  free_type(outer);
  EXPECT_EQ(size_of(types[0]), 8);
  free_type(types[0]);
}

TEST_F(DatatypeTest, Long_chain_of_duplicates_ends_without_recursion) {
  MPI_Datatype last = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_dup(library, type(MPI_INT), last).ok());
  for (int i = 0; i < 200'000; ++i) {
    MPI_Datatype next = MPI_DATATYPE_NULL;
    ASSERT_TRUE(type_dup(library, type(last), next).ok());
    free_type(last);
    last = next;
  }
  EXPECT_TRUE(type(last).committed);
  EXPECT_EQ(type(last).basic->handle, reinterpret_cast<std::uintptr_t>(MPI_INT));
  free_type(last);
}

TEST_F(DatatypeTest, Too_deep_nesting_is_refused) {
  MPI_Datatype last = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_dup(library, type(MPI_CHAR), last).ok());
  Error error;
  int depth = 0;
  for (; error.ok() && depth < 2000; ++depth) {
    MPI_Datatype next = MPI_DATATYPE_NULL;
    error =
        type_create_hvector(library, Form::plain, 2, 1, type(last).extent + 1, type(last), next);
    if (error.failed()) break;
    free_type(last);
    last = next;
    MPI_Datatype small = MPI_DATATYPE_NULL;
    ASSERT_TRUE(type_create_resized(library, Form::plain, type(last), 0, 1, small).ok());
    free_type(last);
    last = small;
  }
  EXPECT_TRUE(class_of(error) == ErrorClass::type ||
              class_of(error) == ErrorClass::value_too_large);
  free_type(last);
}

TEST_F(DatatypeTest, Envelope_and_contents_give_back_the_arguments) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_hvector(library, Form::plain, 7, 2, 50, type(MPI_INT), vector).ok());
  int ni = 0;
  int na = 0;
  int nd = 0;
  int combiner = 0;
  ASSERT_TRUE(type_get_envelope(library, type(vector), ni, na, nd, combiner).ok());
  EXPECT_EQ(combiner, MPI_COMBINER_HVECTOR);
  EXPECT_EQ((std::array{ni, na, nd}), (std::array{2, 1, 1}));
  std::array<int, 2> integers{};
  std::array<MPI_Aint, 1> addresses{};
  std::array<MPI_Datatype, 1> types{};
  ASSERT_TRUE(type_get_contents(library, type(vector), 2, 1, 1, integers, addresses, types).ok());
  EXPECT_EQ(integers, (std::array{7, 2}));
  EXPECT_EQ(addresses[0], 50);
  EXPECT_EQ(types[0], MPI_INT);
  EXPECT_EQ(class_of(type_get_contents(library, type(vector), 1, 1, 1, integers, addresses, types)),
            ErrorClass::arg);
  free_type(vector);
  ASSERT_TRUE(type_get_envelope(library, type(MPI_INT), ni, na, nd, combiner).ok());
  EXPECT_EQ(combiner, MPI_COMBINER_NAMED);
  EXPECT_EQ(
      class_of(type_get_contents(library, type(MPI_INT), 2, 1, 1, integers, addresses, types)),
      ErrorClass::type);
}

TEST_F(DatatypeTest, Large_arguments_need_the_large_form) {
  const Count many = Count{1} << 33;
  MPI_Datatype large = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_hvector(library, Form::large, many, 1, 5, type(MPI_CHAR), large).ok());
  int i = 0;
  EXPECT_EQ(class_of(type_get_envelope(library, type(large), i, i, i, i)), ErrorClass::type);
  Count ni = -1;
  Count na = -1;
  Count nc = -1;
  Count nd = -1;
  int combiner = 0;
  ASSERT_TRUE(type_get_envelope_c(library, type(large), ni, na, nc, nd, combiner).ok());
  EXPECT_EQ((std::array{ni, na, nc, nd}), (std::array<Count, 4>{0, 0, 3, 1}));
  std::array<Count, 3> counts{};
  std::array<MPI_Datatype, 1> types{};
  ASSERT_TRUE(type_get_contents_c(library, type(large), 0, 0, 3, 1, {}, {}, counts, types).ok());
  EXPECT_EQ(counts, (std::array<Count, 3>{many, 1, 5}));
  free_type(large);
}

TEST_F(DatatypeTest, Names_are_kept_and_cut) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_contiguous(library, Form::plain, 2, type(MPI_INT), made).ok());
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  ASSERT_TRUE(type_get_name(library, &type(made), name, length).ok());
  EXPECT_EQ(length, 0);
  EXPECT_STREQ(name, "");
  ASSERT_TRUE(type_set_name(library, type(made), "pair").ok());
  ASSERT_TRUE(type_get_name(library, &type(made), name, length).ok());
  EXPECT_STREQ(name, "pair");
  ASSERT_TRUE(type_set_name(library, type(made), std::string(500, 'n')).ok());
  ASSERT_TRUE(type_get_name(library, &type(made), name, length).ok());
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  ASSERT_TRUE(type_get_name(library, nullptr, name, length).ok());
  EXPECT_STREQ(name, "MPI_DATATYPE_NULL");
  free_type(made);
}

TEST_F(DatatypeTest, Segments_join_neighbours_and_end_with_the_room) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 4, 1, 2, type(MPI_INT), vector).ok());
  std::array<int, 16> buffer{};
  std::array<iovec, 3> out{};
  const View view(type(vector), 2);  // the last block of one element touches the first of the next
  EXPECT_EQ(view.segments(buffer.data(), 8, 24, out), 3u);
  EXPECT_EQ(out[0].iov_base, &buffer[4]);
  EXPECT_EQ(out[0].iov_len, 4u);
  EXPECT_EQ(out[1].iov_base, &buffer[6]);
  EXPECT_EQ(out[1].iov_len, 8u);
  EXPECT_EQ(out[2].iov_base, &buffer[9]);
  EXPECT_EQ(view.segments(buffer.data(), 32, 8, out), 0u);
  free_type(vector);
}

TEST_F(DatatypeTest, View_from_bottom_uses_addresses) {
  std::array<int, 2> values{17, 23};
  const std::array<MPI_Aint, 2> at{reinterpret_cast<MPI_Aint>(&values[1]),
                                   reinterpret_cast<MPI_Aint>(&values[0])};
  const std::array<int, 2> lengths{1, 1};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(
      type_create_hindexed(library, Form::plain, 2, {lengths.data(), 2}, at, type(MPI_INT), made)
          .ok());
  std::array<int, 2> packed{};
  View(type(made), 1).pack(MPI_BOTTOM, 0, std::as_writable_bytes(std::span(packed)));
  EXPECT_EQ(packed, (std::array<int, 2>{23, 17}));
  free_type(made);
}

TEST_F(DatatypeTest, Elements_of_mixed_types_are_counted) {
  const std::array<int, 2> lengths{2, 3};
  const std::array<MPI_Aint, 2> at{0, 16};
  const std::array<MPI_Datatype, 2> types{MPI_DOUBLE, MPI_INT};
  MPI_Datatype record = MPI_DATATYPE_NULL;
  ASSERT_TRUE(
      type_create_struct(library, Form::plain, 2, {lengths.data(), 2}, at, types, record).ok());
  const Signature& signature = *type(record).signature;
  EXPECT_EQ(signature.bytes(), 28);
  EXPECT_EQ(signature.elements(), 5);
  EXPECT_EQ(count_elements(signature, 28 + 8).elements, 6);
  EXPECT_EQ(count_elements(signature, 20).elements, 3);
  EXPECT_EQ(count_elements(signature, 20).rest, 0);
  EXPECT_EQ(count_elements(signature, 22).elements, 3);
  EXPECT_EQ(count_elements(signature, 22).rest, 2);
  EXPECT_EQ(count_elements(*type(MPI_DOUBLE_INT).signature, 24).elements, 4);
  free_type(record);
}

}  // namespace
}  // namespace fulmar::mpi
