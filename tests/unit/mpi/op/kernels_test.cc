// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/op/kernels.h"

#include <mpi-ext.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "mpi/datatype/values/half.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

constexpr std::size_t room = 8192;

class KernelsTest : public Objects {
 protected:
  template <class Real>
  static Real of(double value) {
    if constexpr (sizeof(Real) == 2) {
      return Real(static_cast<float>(value));
    } else {
      return static_cast<Real>(value);
    }
  }
  /// Values of which products are rounded, so that a fused multiply-add would be seen.
  template <class Real>
  void fill_with(std::vector<std::byte>& bytes) {
    std::uniform_real_distribution<double> values(-3, 3);
    for (std::size_t at = 0; at + sizeof(Real) <= bytes.size(); at += sizeof(Real)) {
      const Real value = of<Real>(values(random_));
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  }
  std::vector<std::byte> filled(MPI_Datatype datatype) {
    std::vector<std::byte> bytes(room);
    if (datatype == MPI_FLOAT || datatype == MPI_C_FLOAT_COMPLEX) {
      fill_with<float>(bytes);
    } else if (datatype == MPI_DOUBLE || datatype == MPI_C_DOUBLE_COMPLEX) {
      fill_with<double>(bytes);
    } else if (datatype == MPIX_C_FLOAT16 || datatype == MPIX_C_FLOAT16_COMPLEX) {
      fill_with<Half>(bytes);
    } else if (datatype == MPIX_BFLOAT16) {
      fill_with<Bfloat16>(bytes);
    } else {
      for (std::byte& each : bytes)
        each = static_cast<std::byte>(random_() % 3 == 0 ? 0 : random_());
    }
    return bytes;
  }
  /// Both loops on results that begin at element `place`, in place and not.
  void compare(Kernel plain, Kernel fast, MPI_Datatype datatype, std::int64_t count,
               std::size_t place) {
    const auto size = static_cast<std::size_t>(type(datatype).size);
    const std::vector<std::byte> left = filled(datatype);
    const std::vector<std::byte> right = filled(datatype);
    for (const bool in_place : {false, true}) {
      std::vector<std::byte> expected = in_place ? right : std::vector<std::byte>(room);
      std::vector<std::byte> result = expected;
      std::byte* const there = expected.data() + place * size;
      std::byte* const here = result.data() + place * size;
      plain(left.data(), in_place ? there : right.data(), there, count);
      fast(left.data(), in_place ? here : right.data(), here, count);
      ASSERT_EQ(result, expected) << type(datatype).name << ", " << count << " elements from "
                                  << place << (in_place ? ", in place" : "");
    }
  }

 private:
  std::mt19937 random_{20261126};  // NOLINT(cert-msc51-cpp): the same in each run
};

/// Loops for all processors and those with the vectors of this one give the same bits, whatever the
/// length and the alignment.
TEST_F(KernelsTest, Results_do_not_depend_on_the_processor) {
  const std::array types = {MPI_INT8_T,     MPI_UINT8_T,         MPI_INT16_T,
                            MPI_UINT16_T,   MPI_INT32_T,         MPI_UINT32_T,
                            MPI_INT64_T,    MPI_UINT64_T,        MPI_FLOAT,
                            MPI_DOUBLE,     MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                            MPI_C_BOOL,     MPI_LOGICAL8,        MPI_LONG_DOUBLE,
                            MPIX_C_FLOAT16, MPIX_BFLOAT16,       MPIX_C_FLOAT16_COMPLEX};
  int loops = 0;
  for (auto vectors = static_cast<int>(best_vectors()); vectors > 0; --vectors) {
    for (const MPI_Datatype datatype : types) {
      const BasicType& basic = *type(datatype).basic;
      for (std::size_t op = 0; op < kernel_op_count; ++op) {
        const auto code = static_cast<OpCode>(op);
        const Kernel fast = find_kernel(code, basic, static_cast<Vectors>(vectors));
        const Kernel plain = find_kernel(code, basic, Vectors::basic);
        ASSERT_EQ(fast == nullptr, plain == nullptr);
        if (fast == nullptr || fast == plain) continue;
        ++loops;
        for (const std::int64_t count : {0, 1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 129, 257}) {
          compare(plain, fast, datatype, count, static_cast<std::size_t>(count) % 5);
        }
      }
    }
  }
  EXPECT_EQ(loops > 0, best_vectors() != Vectors::basic);
}

TEST_F(KernelsTest, The_best_vectors_are_used) {
  const BasicType& basic = *type(MPI_DOUBLE).basic;
  EXPECT_EQ(find_kernel(OpCode::sum, basic), find_kernel(OpCode::sum, basic, best_vectors()));
}

}  // namespace
}  // namespace fulmar::mpi
