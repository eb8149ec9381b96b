// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/network.h"

namespace fulmar::fabric {

base::Error Network::not_offered(const char* what) const {
  return base::failure(base::ErrorClass::intern, "the network %s cannot %s", name_, what);
}

base::Error Network::not_entered_again() const {
  return base::failure(base::ErrorClass::other,
                       "MPI was left, and the network %s cannot be entered again; open a session "
                       "before the last MPI_Finalize or MPI_Session_finalize",
                       name_);
}

}  // namespace fulmar::fabric
