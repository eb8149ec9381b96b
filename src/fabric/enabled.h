// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fabric/provider_list.h"
#include "fabric/studied.h"

/// The providers that a build of the device is made for. The library has the real ones; the
/// protocol tests compile the same device for the fake network (FULMAR_FAKE_FABRIC, set by the
/// build for that target).
#ifdef FULMAR_FAKE_FABRIC
#include "fabric/fake/fake.h"
#else
#include "fabric/bundle/bundle.h"
#include "fabric/ofi/ofi.h"
#include "fabric/shm/shm.h"
#include "fabric/shm/studied.h"
#include "fabric/tcp/tcp.h"
#include "fabric/verbs/verbs.h"
#endif

namespace fulmar::fabric {

#ifdef FULMAR_FAKE_FABRIC
using EnabledProviders = ProviderList<Fake, Studied<Fake>>;
#else
using EnabledProviders = ProviderList<Shm, Bundle, Tcp, Verbs, Ofi, StudiedShm, Studied<Verbs>>;
#endif

}  // namespace fulmar::fabric
