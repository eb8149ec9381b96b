// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/report.h"

#include <atomic>

#include "compat/values.h"

namespace fulmar::compat {
namespace {

struct Text {
  int error_class;
  const char* text;
};

constexpr Text texts[] = {
    {MPI_ERR_NO_MEM, "no memory for a function of the program that MPI is to call"},
    {MPI_ERR_OTHER,
     "more than 256 different functions were passed to MPI_Op_create, which programs of another "
     "MPI cannot do on "
     "Fulmar; operations of the same function share one place"},
    {MPI_ERR_OTHER,
     "more than 64 different functions were passed to a function that creates error handlers, "
     "which programs of "
     "another MPI cannot do on Fulmar; handlers of the same function share one place"},
    {MPI_ERR_OTHER,
     "more than 64 different functions were passed for events of MPI_T, which programs of another "
     "MPI cannot do on "
     "Fulmar; equal functions share one place"},
};
constexpr int text_count = sizeof texts / sizeof texts[0];

std::atomic<int> codes[text_count];  // 0: not made yet

int code_of(int index) {
  const int known = codes[index].load(std::memory_order_relaxed);
  if (known != 0) return known;
  int made = 0;
  if (functions.Add_error_code(texts[index].error_class, &made) != MPI_SUCCESS) {
    return texts[index].error_class;
  }
  if (functions.Add_error_string(made, texts[index].text) == MPI_SUCCESS) {
    codes[index].store(made, std::memory_order_relaxed);
  }
  return made;
}

}  // namespace

int report(Problem problem) {
  const int code = code_of(static_cast<int>(problem));
  functions.Comm_call_errhandler(MPI_COMM_SELF, code);
  return code_out(code);
}

}  // namespace fulmar::compat
