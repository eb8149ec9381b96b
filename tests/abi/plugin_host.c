/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * usage: plugin_host PLUGIN
 * A plugin that has called MPI_Init is closed and opened again: MPI is as it was. Nothing else in
 * this program holds the library. */
#include <dlfcn.h>
#include <stdio.h>

/* Opens the plugin, calls one of its functions and closes it. */
static int visit(const char* file, const char* function) {
  int (*call)(void);
  int result;
  void* plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&call = dlsym(plugin, function);
  result = call == NULL ? 1 : call();
  if (result != 0) fprintf(stderr, "%s: %d\n", function, result);
  if (dlclose(plugin) != 0) return 1;
  return result;
}

int main(int argc, char** argv) {
  int i;
  if (argc != 2 || visit(argv[1], "plugin_begin") != 0) return 1;
  for (i = 0; i < 3; ++i) {
    if (visit(argv[1], "plugin_work") != 0) return 1;
  }
  return visit(argv[1], "plugin_end");
}
