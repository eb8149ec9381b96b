// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Sessions, nodes and queries; every call before SCIInitialize, with handles of nothing, and with a flag of none.
// ranks: 1 2
#include <array>
#include <cstring>
#include <set>
#include <string>

#include "sisci/calls.h"

namespace {

using test::error_of;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::expect_ok;

constexpr auto no_local_callback = sci_cb_local_segment_t{nullptr};
constexpr auto no_remote_callback = sci_cb_remote_segment_t{nullptr};
constexpr auto no_dma_callback = sci_cb_dma_t{nullptr};
constexpr auto no_argument = static_cast<void*>(nullptr);

/// Handles of nothing, and what else calls want.
struct Nothing {
  sci_desc_t sd = nullptr;
  sci_local_segment_t local = nullptr;
  sci_remote_segment_t remote = nullptr;
  sci_map_t map = nullptr;
  sci_sequence_t sequence = nullptr;
  sci_dma_queue_t queue = nullptr;
  sci_local_interrupt_t interrupt = nullptr;
  sci_remote_interrupt_t remote_interrupt = nullptr;
  sci_local_data_interrupt_t data_interrupt = nullptr;
  sci_remote_data_interrupt_t remote_data_interrupt = nullptr;
  sci_block_transfer_t block = nullptr;
  unsigned int number = 0;
  std::size_t size = 0;
  char text[8] = {};
  dis_dma_vec_t vector{};
  sci_error_t status = SCI_ERR_OK;
  unsigned int flags = 0;
  sci_error_t expected = SCI_ERR_OK;
  void is(sci_error_t actual, const char* what) const { expect_error(actual, expected, what); }

  void check_segments();
  void check_maps();
  void check_dma();
  void check_interrupts();
  void check_others();
};

void Nothing::check_segments() {
  is(error_of(SCIClose, sd, flags), "SCIClose");
  is(error_of(SCIProbeNode, sd, 0U, 0U, flags), "SCIProbeNode");
  is(error_of(SCICreateSegment, sd, &local, 1U, std::size_t{8}, no_local_callback, no_argument,
              flags),
     "SCICreateSegment");
  is(error_of(SCIPrepareSegment, local, 0U, flags), "SCIPrepareSegment");
  is(error_of(SCISetSegmentAvailable, local, 0U, flags), "SCISetSegmentAvailable");
  is(error_of(SCISetSegmentUnavailable, local, 0U, flags), "SCISetSegmentUnavailable");
  is(error_of(SCIRemoveSegment, local, flags), "SCIRemoveSegment");
  is(error_of(SCIShareSegment, local, flags), "SCIShareSegment");
  is(error_of(SCIAttachLocalSegment, sd, &local, 1U, &size, no_local_callback, no_argument, flags),
     "SCIAttachLocalSegment");
  is(error_of(SCIRegisterSegmentMemory, no_argument, size, local, flags),
     "SCIRegisterSegmentMemory");
  is(error_of(SCIAttachPhysicalMemory, sci_ioaddr_t{0}, no_argument, 0U, size, local, flags),
     "SCIAttachPhysicalMemory");
  is(error_of(SCIWaitForLocalSegmentEvent, local, &number, &number, 0U, flags),
     "SCIWaitForLocalSegmentEvent");
  is(error_of(SCIConnectSegment, sd, &remote, 0U, 1U, 0U, no_remote_callback, no_argument, 0U,
              flags),
     "SCIConnectSegment");
  is(error_of(SCIDisconnectSegment, remote, flags), "SCIDisconnectSegment");
  is(error_of(SCIWaitForRemoteSegmentEvent, remote, &status, 0U, flags),
     "SCIWaitForRemoteSegmentEvent");
}

void Nothing::check_maps() {
  is(error_of(SCIMapRemoteSegment, remote, &map, size, size, no_argument, flags),
     "SCIMapRemoteSegment");
  is(error_of(SCIMapLocalSegment, local, &map, size, size, no_argument, flags),
     "SCIMapLocalSegment");
  is(error_of(SCIUnmapSegment, map, flags), "SCIUnmapSegment");
  is(error_of(SCICreateMapSequence, map, &sequence, flags), "SCICreateMapSequence");
  is(error_of(SCIRemoveSequence, sequence, flags), "SCIRemoveSequence");
  is(error_of(SCIStartSequence, sequence, flags), "SCIStartSequence");
  is(error_of(SCICheckSequence, sequence, flags), "SCICheckSequence");
  is(error_of(SCIMemCpy, sequence, static_cast<void*>(text), map, size, size, flags), "SCIMemCpy");
  is(error_of(SCIMemCopy, static_cast<void*>(text), map, size, size, flags), "SCIMemCopy");
  is(error_of(SCIMemWrite, no_argument, static_cast<volatile void*>(text), size, flags),
     "SCIMemWrite");
  is(error_of(SCITransferBlock, map, size, map, size, size, flags), "SCITransferBlock");
  is(error_of(SCITransferBlockAsync, map, size, map, size, size, &block,
              sci_cb_block_transfer_t{nullptr}, no_argument, flags),
     "SCITransferBlockAsync");
  is(error_of(SCIWaitForBlockTransfer, block, 0U, flags), "SCIWaitForBlockTransfer");
  is(error_of(SCIAbortBlockTransfer, block, flags), "SCIAbortBlockTransfer");
}

void Nothing::check_dma() {
  is(error_of(SCICreateDMAQueue, sd, &queue, 0U, 1U, flags), "SCICreateDMAQueue");
  is(error_of(SCIRemoveDMAQueue, queue, flags), "SCIRemoveDMAQueue");
  is(error_of(SCIEnqueueDMATransfer, queue, local, remote, size, size, size, flags),
     "SCIEnqueueDMATransfer");
  is(error_of(SCIPostDMAQueue, queue, no_dma_callback, no_argument, flags), "SCIPostDMAQueue");
  is(error_of(SCIAbortDMAQueue, queue, flags), "SCIAbortDMAQueue");
  is(error_of(SCIResetDMAQueue, queue, flags), "SCIResetDMAQueue");
  is(error_of(SCIWaitForDMAQueue, queue, 0U, flags), "SCIWaitForDMAQueue");
  is(error_of(SCIStartDmaTransfer, queue, local, remote, size, size, size, no_dma_callback,
              no_argument, flags),
     "SCIStartDmaTransfer");
  is(error_of(SCIStartDmaTransferMem, queue, static_cast<void*>(text), remote, size, size,
              no_dma_callback, no_argument, flags),
     "SCIStartDmaTransferMem");
  is(error_of(SCIStartDmaTransferVec, queue, local, remote, std::size_t{1}, &vector,
              no_dma_callback, no_argument, flags),
     "SCIStartDmaTransferVec");
  is(error_of(SCIphDmaEnqueue, queue, 0U, sci_ioaddr_t{0}, 0U, 0U, 0U, flags), "SCIphDmaEnqueue");
  is(error_of(SCIphDmaStart, queue, no_dma_callback, no_argument, flags), "SCIphDmaStart");
  is(error_of(SCIConnectSCISpace, sd, 0U, &remote, sci_address_t{}, size, flags),
     "SCIConnectSCISpace");
}

void Nothing::check_interrupts() {
  is(error_of(SCICreateInterrupt, sd, &interrupt, 0U, &number, sci_cb_interrupt_t{nullptr},
              no_argument, flags),
     "SCICreateInterrupt");
  is(error_of(SCIRemoveInterrupt, interrupt, flags), "SCIRemoveInterrupt");
  is(error_of(SCIWaitForInterrupt, interrupt, 0U, flags), "SCIWaitForInterrupt");
  is(error_of(SCIConnectInterrupt, sd, &remote_interrupt, 0U, 0U, 1U, 0U, flags),
     "SCIConnectInterrupt");
  is(error_of(SCIDisconnectInterrupt, remote_interrupt, flags), "SCIDisconnectInterrupt");
  is(error_of(SCITriggerInterrupt, remote_interrupt, flags), "SCITriggerInterrupt");
  is(error_of(SCIRegisterInterruptFlag, 0U, &interrupt, local, size, sci_cb_interrupt_t{nullptr},
              no_argument, flags),
     "SCIRegisterInterruptFlag");
  is(error_of(SCIEnableConditionalInterrupt, interrupt, flags), "SCIEnableConditionalInterrupt");
  is(error_of(SCIDisableConditionalInterrupt, interrupt, flags), "SCIDisableConditionalInterrupt");
  is(error_of(SCIGetConditionalInterruptTrigCounter, interrupt, &number, flags),
     "SCIGetConditionalInterruptTrigCounter");
  is(error_of(SCICreateDataInterrupt, sd, &data_interrupt, 0U, &number,
              sci_cb_data_interrupt_t{nullptr}, no_argument, flags),
     "SCICreateDataInterrupt");
  is(error_of(SCIRemoveDataInterrupt, data_interrupt, flags), "SCIRemoveDataInterrupt");
  is(error_of(SCIWaitForDataInterrupt, data_interrupt, static_cast<void*>(text), &number, 0U,
              flags),
     "SCIWaitForDataInterrupt");
  is(error_of(SCIConnectDataInterrupt, sd, &remote_data_interrupt, 0U, 0U, 1U, 0U, flags),
     "SCIConnectDataInterrupt");
  is(error_of(SCIDisconnectDataInterrupt, remote_data_interrupt, flags),
     "SCIDisconnectDataInterrupt");
  is(error_of(SCITriggerDataInterrupt, remote_data_interrupt, static_cast<void*>(text), 1U, flags),
     "SCITriggerDataInterrupt");
}

void Nothing::check_others() {
  is(error_of(SCIQuery, SCI_Q_API, no_argument, flags), "SCIQuery");
  is(error_of(SCIGetCSRRegister, sd, 0U, 0U, 0U, flags), "SCIGetCSRRegister");
  is(error_of(SCISetCSRRegister, sd, 0U, 0U, 0U, 0U, flags), "SCISetCSRRegister");
  is(error_of(SCIGetLocalCSR, sd, 0U, 0U, flags), "SCIGetLocalCSR");
  is(error_of(SCISetLocalCSR, sd, 0U, 0U, 0U, flags), "SCISetLocalCSR");
  expect_equal(SCIGetLocalSegmentSize(local), 0U, "no size");
  expect_equal(SCIGetLocalSegmentId(local), 0U, "no id");
  expect_equal(SCIGetRemoteSegmentSize(remote), 0U, "no size");
  expect_equal(SCIGetRemoteSegmentId(remote), 0U, "no id");
  expect_equal(SCIDMAQueueState(queue), SCI_DMAQUEUE_ERROR, "no state");
}

/// Of no call.
constexpr unsigned int no_flag = 0x80000000U;

/// Each call with handles of nothing: `expected` says why that fails.
void check_all(sci_error_t expected, unsigned int flags = 0) {
  Nothing nothing;
  nothing.flags = flags;
  nothing.expected = expected;
  nothing.check_segments();
  nothing.check_maps();
  nothing.check_dma();
  nothing.check_interrupts();
  nothing.check_others();
}

void check_before() {
  check_all(SCI_ERR_NOT_INITIALIZED);
  sci_desc_t sd = nullptr;
  unsigned int id = 0;
  dis_nodeId_list_t list{};
  char name[] = "0";
  expect_error(error_of(SCIOpen, &sd, 0U), SCI_ERR_NOT_INITIALIZED, "SCIOpen");
  expect_error(error_of(SCICacheSync, sci_map_t{nullptr}, no_argument, std::size_t{0}, 0U),
               SCI_ERR_NOT_INITIALIZED, "SCICacheSync");
  expect_error(error_of(SCIGetLocalNodeId, 0U, &id, 0U), SCI_ERR_NOT_INITIALIZED,
               "SCIGetLocalNodeId");
  expect_error(error_of(SCIGetNodeIdByAdapterName, static_cast<char*>(name), &list,
                        static_cast<dis_virt_adapter_t*>(nullptr), 0U),
               SCI_ERR_NOT_INITIALIZED, "SCIGetNodeIdByAdapterName");
}

/// The calls that take no handle, without a place for what they tell, and with a flag that they do not know.
void check_results(sci_desc_t sd) {
  constexpr auto no_id = static_cast<unsigned int*>(nullptr);
  constexpr auto no_type = static_cast<dis_virt_adapter_t*>(nullptr);
  char name[] = "0";
  unsigned int id = 0;
  dis_nodeId_list_t list{};
  sci_map_t made_up = reinterpret_cast<sci_map_t>(name);
  const auto named = [&](char* of, dis_nodeId_list_t* where, unsigned int flags) {
    return error_of(SCIGetNodeIdByAdapterName, of, where, no_type, flags);
  };
  expect_error(error_of(SCIOpen, static_cast<sci_desc_t*>(nullptr), 0U), SCI_ERR_ILLEGAL_PARAMETER,
               "SCIOpen");
  expect_error(error_of(SCIGetLocalNodeId, 0U, no_id, 0U), SCI_ERR_ILLEGAL_PARAMETER,
               "SCIGetLocalNodeId");
  expect_error(error_of(SCIGetLocalNodeId, 0U, &id, no_flag), SCI_ERR_ILLEGAL_FLAG,
               "SCIGetLocalNodeId");
  expect_error(error_of(SCIGetLocalNodeId, 1U, &id, 0U), SCI_ERR_NO_SUCH_ADAPTERNO, "adapter 1");
  expect_error(error_of(SCIGetLocalNodeId, 99U, &id, 0U), SCI_ERR_ILLEGAL_ADAPTERNO, "adapter 99");
  expect_error(named(nullptr, &list, 0), SCI_ERR_ILLEGAL_PARAMETER, "no name");
  expect_error(named(name, nullptr, 0), SCI_ERR_ILLEGAL_PARAMETER, "no place for the list");
  expect_error(named(name, &list, no_flag), SCI_ERR_ILLEGAL_FLAG, "SCIGetNodeIdByAdapterName");
  expect_error(error_of(SCICacheSync, made_up, no_argument, std::size_t{0}, 0U),
               SCI_ERR_ILLEGAL_PARAMETER, "SCICacheSync of what is no map");
  expect_error(error_of(SCICacheSync, sci_map_t{nullptr}, no_argument, std::size_t{0}, no_flag),
               SCI_ERR_ILLEGAL_FLAG, "SCICacheSync");
  // Where no place is given for the error, calls do the same.
  expect_equal(SCIProbeNode(sd, 0, SCI_LOCAL_HOST, no_flag, nullptr), 0, "no error wanted");
}

void check_nodes(sci_desc_t sd, unsigned int own, unsigned int count) {
  for (unsigned int node = 0; node < count; ++node) {
    sci_error_t error = test::untouched;
    expect_equal(SCIProbeNode(sd, 0, node, 0, &error), 1, "a node of the job");
    expect_ok(error, "SCIProbeNode");
  }
  expect_ok(error_of(SCIProbeNode, sd, 0U, SCI_LOCAL_HOST, 0U), "this node");
  sci_error_t error = test::untouched;
  expect_equal(SCIProbeNode(sd, 0, count, 0, &error), 0, "no node of the job");
  expect_error(error, SCI_ERR_NO_SUCH_NODEID, "beyond the last");
  expect_error(error_of(SCIProbeNode, sd, 0U, 0x10000U, 0U), SCI_ERR_ILLEGAL_NODEID, "17 bits");
  expect_error(error_of(SCIProbeNode, sd, 1U, own, 0U), SCI_ERR_NO_SUCH_ADAPTERNO, "adapter 1");
  expect_error(error_of(SCIProbeNode, sd, 99U, own, 0U), SCI_ERR_ILLEGAL_ADAPTERNO, "adapter 99");
  expect_error(error_of(SCIProbeNode, sd, 0U, own, 1U), SCI_ERR_ILLEGAL_FLAG, "a flag");
  dis_nodeId_list_t list{};
  dis_virt_adapter_t type = 7;
  char name[] = "0";
  expect_ok(error_of(SCIGetNodeIdByAdapterName, static_cast<char*>(name), &list, &type, 0U),
            "the name of rank 0");
  expect_equal(list[0], 0U, "its number");
  expect_equal(type, 0U, "its adapter");
  char nobody[] = "nobody";
  expect_error(error_of(SCIGetNodeIdByAdapterName, static_cast<char*>(nobody), &list, &type, 0U),
               SCI_ERR_NO_SUCH_NODEID, "a name of nobody");
}

void check_queries(unsigned int own) {
  unsigned int value = 99;
  sci_query_adapter_t adapter{0, 0, SCI_Q_ADAPTER_NODEID, &value};
  const auto ask = [](unsigned int command, auto& query) {
    return error_of(SCIQuery, command, static_cast<void*>(&query), 0U);
  };
  expect_ok(ask(SCI_Q_ADAPTER, adapter), "SCI_Q_ADAPTER_NODEID");
  expect_equal(value, own, "the own number");
  adapter.subcommand = SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT;
  expect_ok(ask(SCI_Q_ADAPTER, adapter), "SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT");
  expect_equal(value, 1U, "any size");
  adapter.subcommand = 9999;
  expect_error(ask(SCI_Q_ADAPTER, adapter), SCI_ERR_ILLEGAL_QUERY, "no subcommand");
  adapter.localAdapterNo = 3;
  expect_error(ask(SCI_Q_ADAPTER, adapter), SCI_ERR_NO_SUCH_ADAPTERNO, "another adapter");
  sci_query_system_t system{SCI_Q_SYSTEM_HOSTBRIDGE, &value};
  expect_ok(ask(SCI_Q_SYSTEM, system), "SCI_Q_SYSTEM_HOSTBRIDGE");
  system.subcommand = 9999;
  expect_error(ask(SCI_Q_SYSTEM, system), SCI_ERR_ILLEGAL_QUERY, "no subcommand");
  char text[4] = {'x', 'x', 'x', 'x'};
  sci_query_string_t string{text, sizeof text};
  expect_ok(ask(SCI_Q_API, string), "SCI_Q_API");
  expect(std::strcmp(text, "SIS") == 0, "cut to its room");
  expect_ok(ask(SCI_Q_VENDORID, string), "SCI_Q_VENDORID");
  string.length = 0;
  expect_error(ask(SCI_Q_API, string), SCI_ERR_ILLEGAL_PARAMETER, "no room");
  expect_error(ask(9999, string), SCI_ERR_ILLEGAL_QUERY, "no command");
  expect_error(error_of(SCIQuery, SCI_Q_API, static_cast<void*>(&string), 1U), SCI_ERR_ILLEGAL_FLAG,
               "a flag");
}

void check_refused(sci_desc_t sd) {
  sci_remote_segment_t remote = nullptr;
  sci_dma_queue_t queue = nullptr;
  expect_error(error_of(SCIGetCSRRegister, sd, 0U, 0U, 0U, 0U), SCI_ERR_NOT_IMPLEMENTED, "CSR");
  expect_error(error_of(SCISetCSRRegister, sd, 0U, 0U, 0U, 0U, 0U), SCI_ERR_NOT_IMPLEMENTED, "CSR");
  expect_error(error_of(SCIGetLocalCSR, sd, 0U, 0U, 0U), SCI_ERR_NOT_IMPLEMENTED, "CSR");
  expect_error(error_of(SCISetLocalCSR, sd, 0U, 0U, 0U, 0U), SCI_ERR_NOT_IMPLEMENTED, "CSR");
  expect_error(error_of(SCIConnectSCISpace, sd, 0U, &remote, sci_address_t{}, std::size_t{8}, 0U),
               SCI_ERR_NOT_SUPPORTED, "SCI's address space");
  expect_error(error_of(SCICreateDMAQueue, sd, &queue, 0U, 1U, SCI_FLAG_DMA_PHDMA),
               SCI_ERR_NOT_SUPPORTED, "physical DMA");
}

/// Each code has a text of its own, also those that no call gives.
void check_texts() {
  constexpr std::array codes = {SCI_ERR_OK,
                                SCI_ERR_BUSY,
                                SCI_ERR_FLAG_NOT_IMPLEMENTED,
                                SCI_ERR_ILLEGAL_FLAG,
                                SCI_ERR_NOSPC,
                                SCI_ERR_API_NOSPC,
                                SCI_ERR_HW_NOSPC,
                                SCI_ERR_NOT_IMPLEMENTED,
                                SCI_ERR_ILLEGAL_ADAPTERNO,
                                SCI_ERR_NO_SUCH_ADAPTERNO,
                                SCI_ERR_TIMEOUT,
                                SCI_ERR_OUT_OF_RANGE,
                                SCI_ERR_NO_SUCH_SEGMENT,
                                SCI_ERR_ILLEGAL_NODEID,
                                SCI_ERR_CONNECTION_REFUSED,
                                SCI_ERR_SEGMENT_NOT_CONNECTED,
                                SCI_ERR_SIZE_ALIGNMENT,
                                SCI_ERR_OFFSET_ALIGNMENT,
                                SCI_ERR_ILLEGAL_PARAMETER,
                                SCI_ERR_MAX_ENTRIES,
                                SCI_ERR_SEGMENT_NOT_PREPARED,
                                SCI_ERR_ILLEGAL_ADDRESS,
                                SCI_ERR_ILLEGAL_OPERATION,
                                SCI_ERR_ILLEGAL_QUERY,
                                SCI_ERR_SEGMENTID_USED,
                                SCI_ERR_SYSTEM,
                                SCI_ERR_CANCELLED,
                                SCI_ERR_NOT_CONNECTED,
                                SCI_ERR_NOT_AVAILABLE,
                                SCI_ERR_INCONSISTENT_VERSIONS,
                                SCI_ERR_COND_INT_RACE_PROBLEM,
                                SCI_ERR_OVERFLOW,
                                SCI_ERR_NOT_INITIALIZED,
                                SCI_ERR_ACCESS,
                                SCI_ERR_NOT_SUPPORTED,
                                SCI_ERR_DEPRECATED,
                                SCI_ERR_DMA_NOT_AVAILABLE,
                                SCI_ERR_DMA_DISABLED,
                                SCI_ERR_NO_SUCH_NODEID,
                                SCI_ERR_NODE_NOT_RESPONDING,
                                SCI_ERR_NO_REMOTE_LINK_ACCESS,
                                SCI_ERR_NO_LINK_ACCESS,
                                SCI_ERR_TRANSFER_FAILED,
                                SCI_ERR_NO_SUCH_FDID,
                                SCI_ERR_SEMAPHORE_COUNT_EXCEEDED,
                                SCI_ERR_IRQL_ILLEGAL,
                                SCI_ERR_REMOTE_BUSY,
                                SCI_ERR_LOCAL_BUSY,
                                SCI_ERR_ALL_BUSY};
  std::set<std::string> texts;
  for (const sci_error_t code : codes) texts.insert(SCIGetErrorString(code));
  expect_equal(texts.size(), codes.size(), "texts of codes");
  expect(!texts.contains("Unknown error"), "every code has a text");
  expect(std::string(SCIGetErrorString(test::untouched)) == "Unknown error", "no code");
  // The type that SCIGetNodeIdByAdapterName tells has a text of its own.
  expect(std::string(SCIGetAdapterTypeString(0)) != SCIGetAdapterTypeString(1), "adapter types");
}

}  // namespace

int main() {
  check_texts();
  check_before();
  expect_error(error_of(SCIInitialize, 1U), SCI_ERR_ILLEGAL_FLAG, "a flag");
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize");
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize again");
  SCITerminate();
  check_all(SCI_ERR_ILLEGAL_PARAMETER);
  check_all(SCI_ERR_ILLEGAL_FLAG, no_flag);
  const unsigned int own = test::node_id();
  test::own_rank() = static_cast<int>(own);
  {
    const test::Device device;
    sci_error_t error = test::untouched;
    unsigned int count = 0;
    while (SCIProbeNode(device, 0, count, 0, &error) == 1) ++count;
    expect(own < count, "this node is one of them");
    check_results(device);
    check_nodes(device, own, count);
    check_queries(own);
    check_refused(device);
    sci_local_segment_t segment = nullptr;
    expect_ok(error_of(SCICreateSegment, static_cast<sci_desc_t>(device), &segment, 1U,
                       std::size_t{8}, no_local_callback, no_argument, 0U),
              "SCICreateSegment");
    expect_error(error_of(SCIClose, static_cast<sci_desc_t>(device), 0U), SCI_ERR_BUSY,
                 "a segment is left");
    expect_ok(error_of(SCIRemoveSegment, segment, 0U), "SCIRemoveSegment");
  }
  SCITerminate();
  check_before();
  // Again, with things left over.
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize after SCITerminate");
  sci_desc_t device = nullptr;
  sci_local_segment_t segment = nullptr;
  expect_ok(error_of(SCIOpen, &device, SCI_FLAG_THREAD_SAFE), "SCIOpen");
  expect_error(error_of(SCIOpen, &device, 2U), SCI_ERR_ILLEGAL_FLAG, "a flag");
  expect_ok(error_of(SCICreateSegment, device, &segment, 1U, std::size_t{8}, no_local_callback,
                     no_argument, 0U),
            "SCICreateSegment");
  SCITerminate();
  return test::result();
}
