// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// One loop per operation and representation, written so that the compiler turns it into vector
// instructions (this file is compiled with -O3): buffers do not overlap, integers wrap instead of
// being undefined on overflow, and complex products are the plain formula without the special cases
// for infinities, as Fortran compilers do it. On x86-64 the loops exist with AVX2 and with AVX-512, too, for
// processors that have them; without fused multiply-add, so that results do not depend on the processor.

#include "mpi/op/kernels.h"

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "mpi/datatype/values/float128.h"
#include "mpi/datatype/values/half.h"

namespace fulmar::mpi {
namespace {

template <class Part>
struct Complex {
  Part real;
  Part imaginary;
};

template <class Value, class Index>
struct Located {
  Value value;
  Index index;
};

/// Any value but zero is true; results are 0 and 1.
template <class T>
struct Logical {
  T value;
};

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, __int128>;

// Wide enough that neither the type nor its promotions overflow.
template <class T>
using Wrapping =
    std::conditional_t<sizeof(T) == 16, unsigned __int128,
                       std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
  template <class P>
  Complex<P> operator()(Complex<P> a, Complex<P> b) const {
    return {P(a.real + b.real), P(a.imaginary + b.imaginary)};
  }
};

struct Prod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
  template <class P>
  Complex<P> operator()(Complex<P> a, Complex<P> b) const {
    return {P(a.real * b.real - a.imaginary * b.imaginary),
            P(a.real * b.imaginary + a.imaginary * b.real)};
  }
};

struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

struct Band {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Bor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Bxor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

template <class T>
bool truth(T value) {
  return value != 0;
}
template <class T>
bool truth(Logical<T> value) {
  return value.value != 0;
}

struct Land {
  template <class T>
  T operator()(T a, T b) const {
    return {static_cast<T>(truth(a) && truth(b))};
  }
  template <class T>
  Logical<T> operator()(Logical<T> a, Logical<T> b) const {
    return {static_cast<T>(truth(a) && truth(b))};
  }
};
struct Lor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(truth(a) || truth(b));
  }
  template <class T>
  Logical<T> operator()(Logical<T> a, Logical<T> b) const {
    return {static_cast<T>(truth(a) || truth(b))};
  }
};
struct Lxor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(truth(a) != truth(b));
  }
  template <class T>
  Logical<T> operator()(Logical<T> a, Logical<T> b) const {
    return {static_cast<T>(truth(a) != truth(b))};
  }
};

struct MinLoc {
  template <class V, class I>
  Located<V, I> operator()(Located<V, I> a, Located<V, I> b) const {
    if (a.value == b.value) return {b.value, a.index < b.index ? a.index : b.index};
    return a.value < b.value ? a : b;
  }
};
struct MaxLoc {
  template <class V, class I>
  Located<V, I> operator()(Located<V, I> a, Located<V, I> b) const {
    if (a.value == b.value) return {b.value, a.index < b.index ? a.index : b.index};
    return a.value > b.value ? a : b;
  }
};

template <class Operation, class T>
[[gnu::always_inline]] inline void loop(const T* __restrict a, const T* b, T* c,
                                        std::int64_t count) {
  T* __restrict result = c;
  if (b == c) {
    for (std::int64_t i = 0; i < count; ++i) result[i] = Operation{}(a[i], result[i]);
  } else {
    const T* __restrict right = b;
    for (std::int64_t i = 0; i < count; ++i) result[i] = Operation{}(a[i], right[i]);
  }
}

template <class Operation, class T>
void apply(const void* left, const void* right, void* result, std::int64_t count) {
  loop<Operation>(static_cast<const T*>(left), static_cast<const T*>(right),
                  static_cast<T*>(result), count);
}

#if defined(__x86_64__)
/// Stores vectors of `width` bytes at multiples of their width: those that cross a cache line cost twice.
/// Few elements are not worth it, and one, as in MPI_Fetch_and_op, not even a vector.
template <class Operation, class T, std::size_t width>
[[gnu::always_inline]] inline void aligned_loop(const void* left, const void* right, void* result,
                                                std::int64_t count) {
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  T* c = static_cast<T*>(result);
  constexpr std::int64_t few = 4 * width / sizeof(T);
  if (count == 1) {
    *c = Operation{}(*a, *b);
    return;
  }
  if (count < few) return loop<Operation>(a, b, c, count);
  const std::size_t misplaced = -reinterpret_cast<std::uintptr_t>(c) % width / sizeof(T);
  const std::int64_t head = std::min(static_cast<std::int64_t>(misplaced), count);
  loop<Operation>(a, b, c, head);
  loop<Operation>(a + head, b + head, c + head, count - head);
}

template <class Operation, class T>
[[gnu::target("avx2")]] void apply_wide(const void* left, const void* right, void* result,
                                        std::int64_t count) {
  aligned_loop<Operation, T, 32>(left, right, result, count);
}
template <class Operation, class T>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void apply_widest(const void* left,
                                                                        const void* right,
                                                                        void* result,
                                                                        std::int64_t count) {
  aligned_loop<Operation, T, 64>(left, right, result, count);
}
#endif

template <Vectors vectors, class Operation, class T>
constexpr Kernel kernel_of() {
#if defined(__x86_64__)
  if constexpr (vectors == Vectors::widest) return apply_widest<Operation, T>;
  if constexpr (vectors == Vectors::wide) return apply_wide<Operation, T>;
#endif
  return apply<Operation, T>;
}

/// The loops of one representation, by operation.
using Row = std::array<Kernel, kernel_op_count>;

constexpr std::size_t index(OpCode op) { return static_cast<std::size_t>(op); }
constexpr std::size_t index(Element element) { return static_cast<std::size_t>(element); }

template <Vectors vectors, class T>
constexpr Row arithmetic() {
  Row row{};
  row[index(OpCode::sum)] = kernel_of<vectors, Sum, T>();
  row[index(OpCode::prod)] = kernel_of<vectors, Prod, T>();
  return row;
}

/// Of complex numbers. gcc 12 makes fused multiply-adds of their products where there is AVX-512, whatever
/// -ffp-contract says.
template <Vectors vectors, class T>
constexpr Row paired() {
  Row row = arithmetic<vectors, T>();
  constexpr Vectors unfused = vectors == Vectors::widest ? Vectors::wide : vectors;
  row[index(OpCode::prod)] = kernel_of<unfused, Prod, T>();
  return row;
}

template <Vectors vectors, class T>
constexpr Row ordered() {
  Row row = arithmetic<vectors, T>();
  row[index(OpCode::min)] = kernel_of<vectors, Min, T>();
  row[index(OpCode::max)] = kernel_of<vectors, Max, T>();
  return row;
}

template <Vectors vectors, class T>
constexpr Row truths() {
  Row row{};
  row[index(OpCode::land)] = kernel_of<vectors, Land, T>();
  row[index(OpCode::lor)] = kernel_of<vectors, Lor, T>();
  row[index(OpCode::lxor)] = kernel_of<vectors, Lxor, T>();
  return row;
}

template <Vectors vectors, class T>
constexpr Row integer() {
  Row row = ordered<vectors, T>();
  row[index(OpCode::band)] = kernel_of<vectors, Band, T>();
  row[index(OpCode::bor)] = kernel_of<vectors, Bor, T>();
  row[index(OpCode::bxor)] = kernel_of<vectors, Bxor, T>();
  const Row logical = truths<vectors, T>();
  for (const OpCode op : {OpCode::land, OpCode::lor, OpCode::lxor})
    row[index(op)] = logical[index(op)];
  return row;
}

/// Of MINLOC and MAXLOC.
struct LocationKernels {
  Kernel minloc = nullptr;
  Kernel maxloc = nullptr;
};

template <class Value, class Index>
constexpr LocationKernels located() {
  return {apply<MinLoc, Located<Value, Index>>, apply<MaxLoc, Located<Value, Index>>};
}

using Table = std::array<Row, element_count>;

/// What vector instructions do not make faster is the same in all tables.
template <Vectors vectors>
constexpr Table make_table() {
  constexpr Vectors basic = Vectors::basic;
  Table table{};
  table[index(Element::int8)] = integer<vectors, std::int8_t>();
  table[index(Element::int16)] = integer<vectors, std::int16_t>();
  table[index(Element::int32)] = integer<vectors, std::int32_t>();
  table[index(Element::int64)] = integer<vectors, std::int64_t>();
  table[index(Element::int128)] = integer<basic, __int128>();
  table[index(Element::uint8)] = integer<vectors, std::uint8_t>();
  table[index(Element::uint16)] = integer<vectors, std::uint16_t>();
  table[index(Element::uint32)] = integer<vectors, std::uint32_t>();
  table[index(Element::uint64)] = integer<vectors, std::uint64_t>();
  table[index(Element::float16)] = ordered<vectors, Half>();
  table[index(Element::bfloat16)] = ordered<vectors, Bfloat16>();
  table[index(Element::float32)] = ordered<vectors, float>();
  table[index(Element::float64)] = ordered<vectors, double>();
  table[index(Element::float_long)] = ordered<basic, long double>();
  table[index(Element::float128)] = ordered<basic, Float128>();
  table[index(Element::complex16)] = paired<vectors, Complex<Half>>();
  table[index(Element::complex32)] = paired<vectors, Complex<float>>();
  table[index(Element::complex64)] = paired<vectors, Complex<double>>();
  table[index(Element::complex_long)] = paired<basic, Complex<long double>>();
  table[index(Element::complex128)] = paired<basic, Complex<Float128>>();
  table[index(Element::boolean)] = truths<vectors, Logical<std::uint8_t>>();
  table[index(Element::logical8)] = truths<vectors, Logical<std::int8_t>>();
  table[index(Element::logical16)] = truths<vectors, Logical<std::int16_t>>();
  table[index(Element::logical32)] = truths<vectors, Logical<std::int32_t>>();
  table[index(Element::logical64)] = truths<vectors, Logical<std::int64_t>>();
  table[index(Element::logical128)] = truths<basic, Logical<__int128>>();
  return table;
}

/// The loops of pairs with one type of value, by the representation of the index.
using PairRow = std::array<LocationKernels, element_count>;

template <class Value>
constexpr PairRow pairs() {
  PairRow row{};
  row[index(Element::int8)] = located<Value, std::int8_t>();
  row[index(Element::int16)] = located<Value, std::int16_t>();
  row[index(Element::int32)] = located<Value, std::int32_t>();
  row[index(Element::int64)] = located<Value, std::int64_t>();
  row[index(Element::int128)] = located<Value, __int128>();
  row[index(Element::uint8)] = located<Value, std::uint8_t>();
  row[index(Element::uint16)] = located<Value, std::uint16_t>();
  row[index(Element::uint32)] = located<Value, std::uint32_t>();
  row[index(Element::uint64)] = located<Value, std::uint64_t>();
  return row;
}
/// With Fortran's pairs of two reals.
template <class Real>
constexpr PairRow real_pairs(Element real) {
  PairRow row = pairs<Real>();
  row[index(real)] = located<Real, Real>();
  return row;
}

constexpr std::array<PairRow, element_count> make_pair_table() {
  std::array<PairRow, element_count> table{};
  table[index(Element::int8)] = pairs<std::int8_t>();
  table[index(Element::int16)] = pairs<std::int16_t>();
  table[index(Element::int32)] = pairs<std::int32_t>();
  table[index(Element::int64)] = pairs<std::int64_t>();
  table[index(Element::int128)] = pairs<__int128>();
  table[index(Element::uint8)] = pairs<std::uint8_t>();
  table[index(Element::uint16)] = pairs<std::uint16_t>();
  table[index(Element::uint32)] = pairs<std::uint32_t>();
  table[index(Element::uint64)] = pairs<std::uint64_t>();
  table[index(Element::float16)] = pairs<Half>();
  table[index(Element::bfloat16)] = pairs<Bfloat16>();
  table[index(Element::float32)] = real_pairs<float>(Element::float32);
  table[index(Element::float64)] = real_pairs<double>(Element::float64);
  table[index(Element::float_long)] = pairs<long double>();
  table[index(Element::float128)] = real_pairs<Float128>(Element::float128);
  return table;
}

constexpr std::array<Table, 3> kernels{make_table<Vectors::basic>(), make_table<Vectors::wide>(),
                                       make_table<Vectors::widest>()};
/// Set while the library is loaded, before any call.
const Vectors best = best_vectors();
constexpr auto pair_kernels = make_pair_table();

bool is_integer_class(TypeClass type_class) {
  return type_class == TypeClass::c_integer || type_class == TypeClass::fortran_integer ||
         type_class == TypeClass::multi_language;
}

}  // namespace

bool is_defined_for(OpCode op, TypeClass type_class) noexcept {
  switch (op) {
    case OpCode::min:
    case OpCode::max:
      return is_integer_class(type_class) || type_class == TypeClass::floating;
    case OpCode::sum:
    case OpCode::prod:
      return is_integer_class(type_class) || type_class == TypeClass::floating ||
             type_class == TypeClass::complex;
    case OpCode::land:
    case OpCode::lor:
    case OpCode::lxor:
      // Multi-language types (MPI_AINT and others) are not in the standard's table (MPI 5.0 section
      // 6.9.2), but are integers of C all the same.
      return type_class == TypeClass::c_integer || type_class == TypeClass::logical ||
             type_class == TypeClass::multi_language;
    case OpCode::band:
    case OpCode::bor:
    case OpCode::bxor:
      return is_integer_class(type_class) || type_class == TypeClass::byte;
    case OpCode::minloc:
    case OpCode::maxloc:
      return type_class == TypeClass::pair;
    default:
      return false;
  }
}

#if defined(__x86_64__)
/// Processors that have VBMI2 do not lower their clock for vectors of 64 bytes, as older ones did.
Vectors best_vectors() noexcept {
  __builtin_cpu_init();  // the loader may run this before the compiler's library has asked
  const bool has_widest =
      __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (has_widest) return Vectors::widest;
  return __builtin_cpu_supports("avx2") != 0 ? Vectors::wide : Vectors::basic;
}
#else
Vectors best_vectors() noexcept { return Vectors::basic; }
#endif

Kernel find_kernel(OpCode op, const BasicType& type) noexcept {
  return find_kernel(op, type, best);
}

Kernel find_kernel(OpCode op, const BasicType& type, Vectors vectors) noexcept {
  if (index(op) >= kernel_op_count || !is_defined_for(op, type.type_class)) return nullptr;
  if (type.type_class == TypeClass::pair) {
    const auto& loops = pair_kernels[index(type.element)][index(type.second->element)];
    return op == OpCode::minloc ? loops.minloc : loops.maxloc;
  }
  return kernels[static_cast<std::size_t>(vectors)][index(type.element)][index(op)];
}

}  // namespace fulmar::mpi
