// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The end of everything that a program has left. Callbacks have been stopped.
#include <vector>

#include "sisci/call.h"
#include "sisci/connections.h"
#include "sisci/interrupts.h"
#include "sisci/segments.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
namespace {

/// Calls `end` for each object that is there; it may remove the object.
template <class T, class End>
void for_each(const Pool<T>& pool, End&& end) {
  std::vector<T*> objects;
  for (const auto& [handle, object] : pool.all()) objects.push_back(object.get());
  for (T* const object : objects) end(*object);
}

template <class T>
void close_all(Library& library, Pool<T>& pool) {
  for_each(pool, [&](T& object) {
    close(library, object);
    remove(pool, object);
  });
}

void end_transfers(Library& library) {
  for_each(library.queues, [&](DmaQueue& queue) {
    queue.group.is_aborted = true;
    (void)await_group(library, queue.group, UINT32_MAX);
    for (const DmaEntry& each : queue.entries) {
      if (each.local != nullptr) --each.local->uses;
      --each.remote->uses;
    }
    remove(library.queues, queue);
  });
  for_each(library.blocks, [&](BlockTransfer& block) {
    block.group.is_aborted = true;
    (void)await_group(library, block.group, UINT32_MAX);
    remove(library.blocks, block);
  });
}

}  // namespace

void clear(Library& library) {
  end_transfers(library);
  for_each(library.sequences, [&](Sequence& sequence) { remove(library.sequences, sequence); });
  for_each(library.maps, [&](Map& map) { remove_map(library, map); });
  for_each(library.remote_segments, [&](RemoteSegment& segment) {
    segment.is_called_back = false;
    (void)remove_segment(library, segment);
  });
  close_all(library, library.remote_interrupts);
  close_all(library, library.remote_data_interrupts);
  for_each(library.interrupts, [&](LocalInterrupt& each) { remove_interrupt(library, each); });
  for_each(library.data_interrupts,
           [&](LocalDataInterrupt& each) { remove_interrupt(library, each); });
  for_each(library.local_segments,
           [&](LocalSegment& segment) { (void)remove_segment(library, segment, Removal::forced); });
  for_each(library.descriptors,
           [&](Descriptor& descriptor) { library.descriptors.remove(descriptor); });
}

}  // namespace fulmar::sisci
