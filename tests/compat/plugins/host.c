/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * usage: host PLUGIN...
 * A program that knows nothing of MPI opens plugins, each for an ABI of its own and none seeing another's names: they share one MPI.
 * The first initializes it, all take turns, and the last to be opened finalizes it. */
#include <dlfcn.h>
#include <stdio.h>

enum { most = 4 };

static void* plugins[most];

static int call(int number, const char* name) {
  int (*function)(void) = NULL;
  int result;
  *(void**)&function = dlsym(plugins[number], name);
  result = function == NULL ? -1 : function();
  if (result != 0) fprintf(stderr, "plugin %d: %s gave %d\n", number, name, result);
  return result;
}

static int finalize(void* plugin) {
  int (*function)(void) = NULL;
  *(void**)&function = dlsym(plugin, "MPI_Finalize");
  return function == NULL || function() != 0;
}

int main(int argc, char** argv) {
  int count = argc - 1, i, round;
  if (count < 1 || count > most) return 2;
  for (i = 0; i < count; ++i) {
    plugins[i] = dlopen(argv[i + 1], RTLD_NOW | RTLD_LOCAL);
    if (plugins[i] == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
  }
  for (i = 0; i < count; ++i) {
    if (call(i, "plugin_begin") != 0) return 1;
  }
  for (round = 0; round < 3; ++round) {
    for (i = 0; i < count; ++i) {
      if (call(i, "plugin_work") != 0) return 1;
    }
  }
  for (i = 0; i < count; ++i) {
    if (call(i, "plugin_end") != 0) return 1;
  }
  return finalize(plugins[count - 1]);
}
