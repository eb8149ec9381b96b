// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/pmix_library.h"

#include <cstdlib>

namespace fulmar::runtime::bootstrap {

std::vector<std::string> pmix_library_candidates() {
  if (const char* given = std::getenv(pmix_library_option); given != nullptr && *given != '\0') {
    return {given};
  }
  std::vector<std::string> names;
  for (const char* variable :
       {"PMIX_PREFIX", "PMIX_INSTALL_PREFIX", "PRTE_PREFIX", "OPAL_PREFIX"}) {
    const char* prefix = std::getenv(variable);
    if (prefix == nullptr || *prefix == '\0') continue;
    for (const char* folder : {"/lib/", "/lib/openmpi/", "/lib64/"}) {
      names.push_back(std::string(prefix) + folder + pmix_library_name);
    }
  }
  names.emplace_back(pmix_library_name);
  return names;
}

}  // namespace fulmar::runtime::bootstrap
