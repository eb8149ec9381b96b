// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::mpi {

/// Fortran's REAL(16): IEEE quadruple precision, which is long double on some machines only.
#if defined(__x86_64__)
using Float128 = __float128;
#else
using Float128 = long double;
#endif

/// Fortran's COMPLEX(16 bytes each); std::complex of such a type is not defined by the language.
struct ComplexFloat128 {
  Float128 real;
  Float128 imaginary;
};

}  // namespace fulmar::mpi
