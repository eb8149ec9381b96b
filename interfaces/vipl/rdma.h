// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "vipl/provider.h"
#include "vipl/send.h"

/// Remote reads and writes. The owner of memory says, when first asked, whether the VI's other end may access it, and
/// by which segments; it takes that back with the segments. Memory that has only a shadow is copied by its owner,
/// between the program's memory and the shadow, before a read and after a write.
namespace fulmar::vipl {

/// Starts the RDMA operation, as far as it can.
[[nodiscard]] Start start_rdma(Provider& provider, Vi& vi, SendWork& work);
/// All that was pending has ended. False: there is another step, which has begun.
[[nodiscard]] bool finish_rdma(Provider& provider, Vi& vi, SendWork& work);

/// Has others forget what they may do with the memory, and waits until they have.
void revoke_access(Provider& provider, Lock& lock, const Region& region);

// Messages of the other end.
void on_revoke(Provider& provider, Vi& vi, const wire::ViplMessage& message);
void on_revoked(Provider& provider, Vi& vi, const wire::ViplMessage& message);
void on_resolve(Provider& provider, Vi& vi, const wire::ViplMessage& message);
void on_resolved(Provider& provider, Vi& vi, const wire::ViplMessage& message);
void on_copy(Provider& provider, Vi& vi, const wire::ViplMessage& message);
void on_copied(Provider& provider, Vi& vi, const wire::ViplMessage& message);

}  // namespace fulmar::vipl
