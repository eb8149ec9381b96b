// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/op/op.h"

#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/values/half.h"
#include "mpi/op/calls.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

class OpTest : public Objects {
 protected:
  Op& op(MPI_Op handle) { return find<Op>(handle); }

  /// in op inout of single values.
  template <class T>
  T once(MPI_Op handle, MPI_Datatype datatype, T in, T inout) {
    const Error error = reduce_local(library, &in, {&inout, 1, &type(datatype)}, op(handle));
    EXPECT_TRUE(error.ok()) << error.text();
    return inout;
  }
  ErrorClass refusal(MPI_Op handle, MPI_Datatype datatype) {
    return class_of(check_reduction(op(handle), type(datatype)));
  }

  /// All integer operations on one type.
  template <class T>
  void check_integer(MPI_Datatype datatype) {
    const T a = 12;
    const T b = 10;
    EXPECT_EQ(once(MPI_SUM, datatype, a, b), T(22));
    EXPECT_EQ(once(MPI_PROD, datatype, a, b), T(120));
    EXPECT_EQ(once(MPI_MIN, datatype, a, b), b);
    EXPECT_EQ(once(MPI_MAX, datatype, a, b), a);
    EXPECT_EQ(once(MPI_BAND, datatype, a, b), T(8));
    EXPECT_EQ(once(MPI_BOR, datatype, a, b), T(14));
    EXPECT_EQ(once(MPI_BXOR, datatype, a, b), T(6));
    const T most = std::numeric_limits<T>::max();
    EXPECT_EQ(once(MPI_SUM, datatype, most, T(1)), std::numeric_limits<T>::min());
    EXPECT_EQ(once(MPI_PROD, datatype, most, T(2)), static_cast<T>(-2));
    if (std::is_signed_v<T>) {
      EXPECT_EQ(once(MPI_MIN, datatype, static_cast<T>(-3), T(2)), T(-3));
    }
  }
  /// Values of a type, which differ from each other.
  template <class T>
  static void fill_with(std::vector<std::byte>& bytes, int step) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      const T value = static_cast<T>(static_cast<int>(at / sizeof(T)) * step % 23 - 7);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  }
  static void fill(MPI_Datatype datatype, std::vector<std::byte>& bytes, int step) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    if (datatype == MPI_FLOAT || datatype == MPI_C_FLOAT_COMPLEX)
      return fill_with<float>(bytes, step);
    if (datatype == MPI_DOUBLE || datatype == MPI_C_DOUBLE_COMPLEX) {
      return fill_with<double>(bytes, step);
    }
    if (datatype == MPI_LONG_DOUBLE) return fill_with<long double>(bytes, step);
    if (datatype == MPI_C_BOOL) return fill_with<bool>(bytes, step);
    fill_with<std::int16_t>(bytes, step);
  }
  template <class T>
  void check_logical(MPI_Datatype datatype) {
    for (const T a : {T(0), T(1), T(7)}) {
      for (const T b : {T(0), T(1), T(7)}) {
        EXPECT_EQ(once(MPI_LAND, datatype, a, b), T(a && b));
        EXPECT_EQ(once(MPI_LOR, datatype, a, b), T(a || b));
        EXPECT_EQ(once(MPI_LXOR, datatype, a, b), T(!a != !b));
      }
    }
  }
  template <class T>
  void check_floating(MPI_Datatype datatype) {
    EXPECT_EQ(once(MPI_SUM, datatype, T(1.5), T(2.25)), T(3.75));
    EXPECT_EQ(once(MPI_PROD, datatype, T(1.5), T(2.25)), T(3.375));
    EXPECT_EQ(once(MPI_MIN, datatype, T(-1.5), T(2.25)), T(-1.5));
    EXPECT_EQ(once(MPI_MAX, datatype, T(-1.5), T(2.25)), T(2.25));
  }
  template <class T>
  void check_complex(MPI_Datatype datatype) {
    const std::complex<T> a(1, 2);
    const std::complex<T> b(3, -4);
    EXPECT_EQ(once(MPI_SUM, datatype, a, b), std::complex<T>(4, -2));
    EXPECT_EQ(once(MPI_PROD, datatype, a, b), std::complex<T>(11, 2));
  }
};

TEST_F(OpTest, Integer_types) {
  check_integer<signed char>(MPI_SIGNED_CHAR);
  check_integer<unsigned char>(MPI_UNSIGNED_CHAR);
  check_integer<short>(MPI_SHORT);
  check_integer<unsigned short>(MPI_UNSIGNED_SHORT);
  check_integer<int>(MPI_INT);
  check_integer<unsigned>(MPI_UNSIGNED);
  check_integer<long>(MPI_LONG);
  check_integer<unsigned long>(MPI_UNSIGNED_LONG);
  check_integer<long long>(MPI_LONG_LONG);
  check_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG);
  check_integer<std::int8_t>(MPI_INT8_T);
  check_integer<std::int16_t>(MPI_INT16_T);
  check_integer<std::int32_t>(MPI_INT32_T);
  check_integer<std::int64_t>(MPI_INT64_T);
  check_integer<std::uint8_t>(MPI_UINT8_T);
  check_integer<std::uint16_t>(MPI_UINT16_T);
  check_integer<std::uint32_t>(MPI_UINT32_T);
  check_integer<std::uint64_t>(MPI_UINT64_T);
  check_integer<MPI_Aint>(MPI_AINT);
  check_integer<MPI_Count>(MPI_COUNT);
  check_integer<MPI_Offset>(MPI_OFFSET);
  check_integer<std::int32_t>(MPI_INTEGER);
  check_integer<std::int8_t>(MPI_INTEGER1);
  check_integer<std::int64_t>(MPI_INTEGER8);
}

TEST_F(OpTest, Logical_types) {
  check_logical<int>(MPI_INT);
  check_logical<unsigned char>(MPI_UNSIGNED_CHAR);
  check_logical<long>(MPI_LONG);
  check_logical<std::uint8_t>(MPI_C_BOOL);
  check_logical<std::uint8_t>(MPI_CXX_BOOL);
  check_logical<std::int32_t>(MPI_LOGICAL);
  check_logical<std::int8_t>(MPI_LOGICAL1);
  check_logical<std::int16_t>(MPI_LOGICAL2);
  check_logical<std::int64_t>(MPI_LOGICAL8);
}

TEST_F(OpTest, Floating_types) {
  check_floating<float>(MPI_FLOAT);
  check_floating<double>(MPI_DOUBLE);
  check_floating<long double>(MPI_LONG_DOUBLE);
  check_floating<float>(MPI_REAL);
  check_floating<double>(MPI_DOUBLE_PRECISION);
  check_floating<float>(MPI_REAL4);
  check_floating<double>(MPI_REAL8);
}

TEST_F(OpTest, Complex_types) {
  check_complex<float>(MPI_C_FLOAT_COMPLEX);
  check_complex<double>(MPI_C_DOUBLE_COMPLEX);
  check_complex<long double>(MPI_C_LONG_DOUBLE_COMPLEX);
  check_complex<float>(MPI_CXX_FLOAT_COMPLEX);
  check_complex<double>(MPI_DOUBLE_COMPLEX);
  check_complex<double>(MPI_COMPLEX16);
}

TEST_F(OpTest, Byte_takes_bitwise_operations_only) {
  EXPECT_EQ(once<unsigned char>(MPI_BXOR, MPI_BYTE, 0xF0, 0x3C), 0xCC);
  EXPECT_EQ(refusal(MPI_SUM, MPI_BYTE), ErrorClass::op);
  EXPECT_EQ(refusal(MPI_LAND, MPI_BYTE), ErrorClass::op);
}

TEST_F(OpTest, Located_values_prefer_the_smaller_index) {
  struct DoubleInt {
    double value;
    int index;
  };
  const auto check = [&](MPI_Op handle, DoubleInt a, DoubleInt b, double value, int index) {
    const DoubleInt result = once(handle, MPI_DOUBLE_INT, a, b);
    EXPECT_EQ(result.value, value);
    EXPECT_EQ(result.index, index);
  };
  check(MPI_MINLOC, {1.5, 3}, {2.5, 1}, 1.5, 3);
  check(MPI_MAXLOC, {1.5, 3}, {2.5, 1}, 2.5, 1);
  check(MPI_MINLOC, {1.5, 3}, {1.5, 1}, 1.5, 1);
  check(MPI_MAXLOC, {1.5, 0}, {1.5, 1}, 1.5, 0);
  struct ShortInt {
    short value;
    int index;
  };
  EXPECT_EQ(once(MPI_MAXLOC, MPI_SHORT_INT, ShortInt{-3, 9}, ShortInt{-4, 2}).index, 9);
  using Floats = std::array<float, 2>;
  EXPECT_EQ(once(MPI_MINLOC, MPI_2REAL, Floats{1, 8}, Floats{1, 7}), (Floats{1, 7}));
  EXPECT_EQ(refusal(MPI_MINLOC, MPI_INT), ErrorClass::op);
  EXPECT_EQ(refusal(MPI_SUM, MPI_2INT), ErrorClass::op);
}

/// Each operation is done in single precision, and rounded once.
template <class Number>
struct HalfComplex {
  Number real, imaginary;
};

TEST_F(OpTest, Types_of_two_bytes) {
  const auto half = [&](MPI_Op operation, float in, float inout) -> float {
    return once(operation, MPIX_C_FLOAT16, Half(in), Half(inout));
  };
  EXPECT_EQ(half(MPI_SUM, 1.5F, 2.25F), 3.75F);
  EXPECT_EQ(half(MPI_PROD, 1.5F, 2.25F), 3.375F);
  EXPECT_EQ(half(MPI_MIN, -1.5F, 2.25F), -1.5F);
  EXPECT_EQ(half(MPI_MAX, -1.5F, 2.25F), 2.25F);
  EXPECT_EQ(half(MPI_SUM, 2048, 1), 2048.0F);
  EXPECT_EQ(half(MPI_SUM, 2048, 3), 2052.0F);
  EXPECT_EQ(half(MPI_PROD, 0x1p-12F, 0x1p-12F), 0x1p-24F);
  EXPECT_EQ(half(MPI_SUM, 65504, 65504), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float{once(MPI_SUM, MPIX_BFLOAT16, Bfloat16(256), Bfloat16(3))}, 260.0F);
  EXPECT_EQ(float{once(MPI_MAX, MPIX_BFLOAT16, Bfloat16(-1e30F), Bfloat16(-1e38F))},
            float{Bfloat16(-1e30F)});
  using Complex = HalfComplex<Half>;
  const Complex product =
      once(MPI_PROD, MPIX_C_FLOAT16_COMPLEX, Complex{Half(1), Half(2)}, Complex{Half(3), Half(-4)});
  EXPECT_EQ(float{product.real}, 11.0F);
  EXPECT_EQ(float{product.imaginary}, 2.0F);
}

/// The standard's (MPI 5.0 section 6.9.2), with logical operations on multi-language types besides.
TEST_F(OpTest, Table_of_the_standard) {
  struct Case {
    MPI_Datatype datatype;
    bool ordered, arithmetic, logical, bitwise;
  };
  const Case cases[] = {
      {MPI_INT, true, true, true, true},           {MPI_INTEGER, true, true, false, true},
      {MPI_AINT, true, true, true, true},          {MPI_DOUBLE, true, true, false, false},
      {MPI_C_BOOL, false, false, true, false},     {MPI_LOGICAL, false, false, true, false},
      {MPI_COMPLEX, false, true, false, false},    {MPI_BYTE, false, false, false, true},
      {MPI_CHAR, true, true, true, true},          {MPI_WCHAR, false, false, false, false},
      {MPI_CHARACTER, false, false, false, false}, {MPI_PACKED, false, false, false, false},
      {MPIX_BFLOAT16, true, true, false, false},   {MPI_INTEGER16, true, true, false, true},
      {MPI_REAL16, true, true, false, false},      {MPI_COMPLEX32, false, true, false, false},
      {MPI_OFFSET, true, true, true, true},        {MPI_COUNT, true, true, true, true}};
  for (const Case& row : cases) {
    const auto expect = [&](std::initializer_list<MPI_Op> handles, bool legal) {
      for (const MPI_Op handle : handles) {
        EXPECT_EQ(refusal(handle, row.datatype), legal ? ErrorClass::success : ErrorClass::op)
            << op(handle).name << " on " << type(row.datatype).name;
      }
    };
    expect({MPI_MIN, MPI_MAX}, row.ordered);
    expect({MPI_SUM, MPI_PROD}, row.arithmetic);
    expect({MPI_LAND, MPI_LOR, MPI_LXOR}, row.logical);
    expect({MPI_BAND, MPI_BOR, MPI_BXOR}, row.bitwise);
    expect({MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP}, false);
  }
}

TEST_F(OpTest, Refusal_names_operation_and_type) {
  const std::string text = check_reduction(op(MPI_LAND), type(MPI_DOUBLE)).text();
  EXPECT_NE(text.find("MPI_LAND"), std::string::npos);
  EXPECT_NE(text.find("MPI_DOUBLE"), std::string::npos);
}

TEST_F(OpTest, Derived_types_are_refused_but_duplicates_work) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_contiguous(library, Form::plain, 2, type(MPI_INT), pair).ok());
  ASSERT_TRUE(type_dup(library, type(MPI_INT), copy).ok());
  EXPECT_EQ(refusal(MPI_SUM, pair), ErrorClass::op);
  EXPECT_EQ(once(MPI_SUM, copy, 3, 4), 7);
  for (MPI_Datatype handle : {pair, copy}) {
    EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
  }
}

TEST_F(OpTest, Long_arrays_are_reduced_whole) {
  for (const int count : {1, 2, 3, 7, 16, 31, 1000, 4099}) {
    std::vector<float> in(static_cast<std::size_t>(count));
    std::vector<float> inout(static_cast<std::size_t>(count) + 1, 1000);
    for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i);
    ASSERT_TRUE(
        reduce_local(library, in.data(), {inout.data(), count, &type(MPI_FLOAT)}, op(MPI_SUM))
            .ok());
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(inout[static_cast<std::size_t>(i)], 1000.0F + static_cast<float>(i));
    }
    EXPECT_EQ(inout.back(), 1000);
  }
}

/// Arrays of each length and at each place give what their elements give one by one: the loops have
/// beginnings and ends that differ from their middles.
TEST_F(OpTest, Every_element_of_an_array_is_treated_alike) {
  constexpr Count most = 75;
  const std::array handles = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                              MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  const std::array types = {MPI_INT8_T,  MPI_UINT8_T,  MPI_INT16_T,         MPI_UINT16_T,
                            MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T,         MPI_UINT64_T,
                            MPI_FLOAT,   MPI_DOUBLE,   MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                            MPI_C_BOOL,  MPI_LOGICAL4, MPI_LONG_DOUBLE};
  std::vector<std::byte> in(2048);
  std::vector<std::byte> before(2048);
  for (const MPI_Datatype datatype : types) {
    const Datatype& element = type(datatype);
    const auto size = static_cast<std::size_t>(element.size);
    fill(datatype, in, 3);
    fill(datatype, before, 5);
    for (const MPI_Op handle : handles) {
      if (check_reduction(op(handle), element).failed()) continue;
      for (Count count = 1; count <= most && static_cast<std::size_t>(count + 3) * size < 2048;
           ++count) {
        const std::size_t place = static_cast<std::size_t>(count % 3) * size;
        std::vector<std::byte> together = before;
        std::vector<std::byte> apart = before;
        apply_op(op(handle), element, in.data(), together.data() + place, count);
        for (Count i = 0; i < count; ++i) {
          const std::size_t at = static_cast<std::size_t>(i) * size;
          apply_op(op(handle), element, in.data() + at, apart.data() + place + at, 1);
        }
        ASSERT_EQ(together, apart) << op(handle).name << ' ' << element.name << ' ' << count;
      }
    }
  }
}

TEST_F(OpTest, Count_zero_touches_nothing) {
  EXPECT_TRUE(reduce_local(library, nullptr, {nullptr, 0, &type(MPI_INT)}, op(MPI_SUM)).ok());
}

int plain_calls = 0;
void subtract(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  ++plain_calls;
  EXPECT_EQ(*datatype, MPI_INT);
  for (int i = 0; i < *count; ++i) {
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
  }
}
MPI_Count large_count = 0;
void note_count(void*, void*, MPI_Count* count, MPI_Datatype*) { large_count += *count; }
void note_int_count(void*, void*, int* count, MPI_Datatype*) {
  ++plain_calls;
  large_count += *count;
}

TEST_F(OpTest, User_function_gets_in_first_and_the_datatype) {
  MPI_Op made = MPI_OP_NULL;
  ASSERT_TRUE(op_create(library, {subtract, nullptr}, 0, made).ok());
  int commute = -1;
  ASSERT_TRUE(op_commutative(library, op(made), commute).ok());
  EXPECT_EQ(commute, 0);
  EXPECT_EQ(once(made, MPI_INT, 10, 3), 7);
  EXPECT_EQ(refusal(made, MPI_CHAR), ErrorClass::success);
  EXPECT_TRUE(op_free(library, {&made, &op(made)}).ok());
  EXPECT_EQ(made, MPI_OP_NULL);
}

TEST_F(OpTest, More_elements_than_an_int_reach_both_forms) {
  const Count many = (Count{1} << 32) + 5;
  for (const UserFunction function :
       {UserFunction{note_int_count, nullptr}, UserFunction{nullptr, note_count}}) {
    MPI_Op made = MPI_OP_NULL;
    ASSERT_TRUE(op_create(library, function, 1, made).ok());
    large_count = 0;
    apply_op(op(made), type(MPI_INT), nullptr, nullptr, many);
    EXPECT_EQ(large_count, many);
    EXPECT_TRUE(op_free(library, {&made, &op(made)}).ok());
  }
}

TEST_F(OpTest, Predefined_operations_commute_but_for_replace) {
  int commute = -1;
  ASSERT_TRUE(op_commutative(library, op(MPI_SUM), commute).ok());
  EXPECT_EQ(commute, 1);
  ASSERT_TRUE(op_commutative(library, op(MPI_REPLACE), commute).ok());
  EXPECT_EQ(commute, 0);
}

TEST_F(OpTest, Predefined_operations_cannot_be_freed) {
  MPI_Op handle = MPI_SUM;
  EXPECT_EQ(class_of(op_free(library, {&handle, &op(handle)})), ErrorClass::op);
  EXPECT_EQ(handle, MPI_SUM);
  EXPECT_EQ(library.find<Op>(MPI_OP_NULL), nullptr);
}

TEST_F(OpTest, Create_without_a_function_fails) {
  MPI_Op made = MPI_OP_NULL;
  EXPECT_EQ(class_of(op_create(library, {}, 1, made)), ErrorClass::arg);
}

}  // namespace
}  // namespace fulmar::mpi
