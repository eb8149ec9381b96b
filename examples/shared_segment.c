// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A ring of segments, with SISCI and without MPI: each node writes numbers into the segment of the next one, by
// stores where the two share memory and by SCIMemCpy where they do not, and triggers an interrupt there.
//
//     mpicc -O2 shared_segment.c -o shared_segment -lsisci
//     mpiexec -n 4 ./shared_segment
//
// SCICheckSequence lies between the data and the interrupt: behind it what was written has arrived.
#include <sisci_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { numbers = 100000, laps = 10, segment_id = 1, full = 1, empty = 2 };

static void check(const char* call, sci_error_t error) {
  if (error == SCI_ERR_OK) return;
  printf("WRONG: %s: %s\n", call, SCIGetErrorString(error));
  exit(1);
}

static sci_local_interrupt_t make_interrupt(sci_desc_t device, unsigned int number) {
  sci_local_interrupt_t interrupt;
  sci_error_t error;
  SCICreateInterrupt(device, &interrupt, 0, &number, NULL, NULL, SCI_FLAG_FIXED_INTNO, &error);
  check("SCICreateInterrupt", error);
  return interrupt;
}

// Other nodes may not have made theirs yet.
static sci_remote_interrupt_t connect_interrupt(sci_desc_t device, unsigned int node,
                                                unsigned int number) {
  sci_remote_interrupt_t interrupt;
  sci_error_t error;
  do {
    SCIConnectInterrupt(device, &interrupt, node, 0, number, SCI_INFINITE_TIMEOUT, 0, &error);
  } while (error == SCI_ERR_NO_SUCH_INTNO);
  check("SCIConnectInterrupt", error);
  return interrupt;
}

static sci_remote_segment_t connect_segment(sci_desc_t device, unsigned int node) {
  sci_remote_segment_t segment;
  sci_error_t error;
  do {
    SCIConnectSegment(device, &segment, node, segment_id, 0, NULL, NULL, SCI_INFINITE_TIMEOUT, 0,
                      &error);
  } while (error == SCI_ERR_NO_SUCH_SEGMENT);
  check("SCIConnectSegment", error);
  return segment;
}

// An address where there is one, else a map for SCIMemCpy.
static volatile double* map_remote(sci_remote_segment_t segment, sci_map_t* map) {
  sci_error_t error;
  const size_t bytes = SCIGetRemoteSegmentSize(segment);
  volatile double* memory = SCIMapRemoteSegment(segment, map, 0, bytes, NULL, 0, &error);
  if (error == SCI_ERR_NOT_SUPPORTED) {
    SCIMapRemoteSegment(segment, map, 0, bytes, NULL, SCI_FLAG_NO_ADDRESS_MAP, &error);
    memory = NULL;
  }
  check("SCIMapRemoteSegment", error);
  return memory;
}

static void write_lap(volatile double* memory, sci_map_t map, sci_sequence_t sequence,
                      double value) {
  static double source[numbers];
  sci_error_t error;
  for (int i = 0; i < numbers; ++i) source[i] = value;
  if (memory != NULL) {
    for (int i = 0; i < numbers; ++i) memory[i] = source[i];
  } else {
    SCIMemCpy(sequence, source, map, 0, sizeof source, 0, &error);
    check("SCIMemCpy", error);
  }
  if (SCICheckSequence(sequence, 0, &error) != SCI_SEQ_OK)
    check("SCICheckSequence", SCI_ERR_TRANSFER_FAILED);
  check("SCICheckSequence", error);
}

static void wait_for(sci_local_interrupt_t interrupt) {
  sci_error_t error;
  SCIWaitForInterrupt(interrupt, SCI_INFINITE_TIMEOUT, 0, &error);
  check("SCIWaitForInterrupt", error);
}

static void trigger(sci_remote_interrupt_t interrupt) {
  sci_error_t error;
  SCITriggerInterrupt(interrupt, 0, &error);
  check("SCITriggerInterrupt", error);
}

int main(void) {
  sci_error_t error;
  sci_desc_t device;
  sci_local_segment_t segment;
  sci_map_t own_map;
  sci_map_t map;
  sci_sequence_t sequence;
  unsigned int node = 0;
  unsigned int count = 0;
  SCIInitialize(0, &error);
  check("SCIInitialize", error);
  SCIOpen(&device, 0, &error);
  check("SCIOpen", error);
  SCIGetLocalNodeId(0, &node, 0, &error);
  check("SCIGetLocalNodeId", error);
  while (SCIProbeNode(device, 0, count, 0, &error)) ++count;
  const unsigned int next = (node + 1) % count;
  const unsigned int before = (node + count - 1) % count;

  // What the node before writes to, and how the two neighbours say so.
  SCICreateSegment(device, &segment, segment_id, numbers * sizeof(double), NULL, NULL, 0, &error);
  check("SCICreateSegment", error);
  SCIPrepareSegment(segment, 0, 0, &error);
  check("SCIPrepareSegment", error);
  const double* landing =
      SCIMapLocalSegment(segment, &own_map, 0, numbers * sizeof(double), NULL, 0, &error);
  check("SCIMapLocalSegment", error);
  SCISetSegmentAvailable(segment, 0, 0, &error);
  check("SCISetSegmentAvailable", error);
  const sci_local_interrupt_t is_full = make_interrupt(device, full);
  const sci_local_interrupt_t is_empty = make_interrupt(device, empty);
  const sci_remote_interrupt_t tell_full = connect_interrupt(device, next, full);
  const sci_remote_interrupt_t tell_empty = connect_interrupt(device, before, empty);
  const sci_remote_segment_t remote = connect_segment(device, next);
  volatile double* memory = map_remote(remote, &map);
  SCICreateMapSequence(map, &sequence, 0, &error);
  check("SCICreateMapSequence", error);

  double sum = 0;
  for (int lap = 1; lap <= laps; ++lap) {
    write_lap(memory, map, sequence, node + lap);
    trigger(tell_full);
    wait_for(is_full);
    for (int i = 0; i < numbers; ++i) sum += landing[i];
    trigger(tell_empty);
    wait_for(is_empty);
  }
  const double expected = (double)numbers * (laps * before + laps * (laps + 1) / 2);
  printf(sum == expected ? "node %u: %d laps over %u nodes, a sum of %.0f\n"
                         : "WRONG: node %u: %d laps over %u nodes, a sum of %.0f\n",
         node, laps, count, sum);
  // Frees what is left, and waits for nobody.
  SCITerminate();
  return sum == expected ? 0 : 1;
}
