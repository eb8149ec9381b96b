// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compat/facts.h"

// Finds libmpi_abi.so.1 and its functions when this library is loaded, ahead of every call of the program.
//
// The library lies two folders up, as installed: lib/libmpi_abi.so.1, lib/fulmar/mpich-abi/libmpi.so.12. It is
// opened under a name space of its own (RTLD_LOCAL), so that none of its MPI_ names meets the program, which
// would call it with handles that it does not know. Two libraries for other ABIs in one process get the same.

namespace fulmar::compat {

Functions functions;

namespace {

constexpr const char* library_name = "libmpi_abi.so.1";

/// The path of our library, beside that of this one. False where it does not fit.
bool find_path(char (&path)[PATH_MAX]) {
  Dl_info self;
  char real[PATH_MAX];
  if (dladdr(&functions, &self) == 0 || realpath(self.dli_fname, real) == nullptr) return false;
  for (int i = 0; i < 3; ++i) {
    char* slash = std::strrchr(real, '/');
    if (slash == nullptr) return false;
    *slash = '\0';
  }
  const int length = std::snprintf(path, sizeof path, "%s/%s", real, library_name);
  return length > 0 && static_cast<std::size_t>(length) < sizeof path;
}

/// Nothing of MPI can work without the library, and a C function has no way to say so later.
[[noreturn]] void give_up(const char* problem) {
  std::fprintf(stderr,
               "Fulmar: the library for programs of another MPI cannot be used: %s. Keep the "
               "folder that it is in "
               "where it was installed, lib/fulmar below the folder of %s.\n",
               problem, library_name);
  std::_Exit(127);
}

[[gnu::constructor]] void open_library() {
  char path[PATH_MAX];
  if (!find_path(path)) give_up("its own path is not known");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up(dlerror());
  constexpr std::size_t count = sizeof function_names / sizeof function_names[0];
  static_assert(sizeof(Functions) == count * sizeof(void*));
  void* addresses[count];
  for (std::size_t i = 0; i < count; ++i) {
    addresses[i] = dlsym(library, function_names[i]);
    if (addresses[i] == nullptr) give_up(dlerror());
  }
  std::memcpy(&functions, addresses, sizeof functions);
  prepare_objects();
}

}  // namespace
}  // namespace fulmar::compat
