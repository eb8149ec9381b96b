// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/tool/performance.h"

#include <algorithm>

#include "device/device.h"
#include "mpi/comm/world.h"
#include "mpi/io/file_state.h"

namespace fulmar::mpi {
namespace {

using device::Device;
using PerformanceForm = PerformanceVariable::Form;
using Reading = PerformanceVariable::Reading;

constexpr std::uint64_t billion = 1'000'000'000;

/// Reads one of the device's counters.
template <std::uint64_t Device::Counters::* counter>
std::uint64_t counted(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.device == nullptr ? 0 : sources.device->counters().*counter;
}
/// The result of a member of the device.
template <auto query>
std::uint64_t queried(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.device == nullptr ? 0 : static_cast<std::uint64_t>((sources.device->*query)());
}
using Regions = device::Registrations::Figures;
/// Reads one of the counters of the registration cache.
template <std::uint64_t Regions::* value>
std::uint64_t registered(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.device == nullptr ? 0 : sources.device->memory().figures().*value;
}
/// Reads one of the counters of the channel designs, which are networks with counts of their own.
template <const char* const& name>
std::uint64_t designed(const PerformanceSources& sources, const Comm* /*comm*/) {
  const auto* const network = sources.device == nullptr ? nullptr : sources.device->network();
  return network == nullptr ? 0 : network->counted(name);
}
constexpr const char* design_writes = "design_writes";
constexpr const char* design_credit_writes = "design_credit_writes";
constexpr const char* design_copies = "design_copies";
constexpr const char* design_copied_bytes = "design_copied_bytes";
constexpr const char* design_handshakes = "design_handshakes";
constexpr const char* design_moved_bytes = "design_moved_bytes";
/// Reads one of the counters of windows.
template <std::uint64_t RmaCounters::* counter>
std::uint64_t of_windows(const PerformanceSources& sources, const Comm* /*comm*/) {
  const World* world = sources.library.world;
  return world == nullptr ? 0 : world->rma.*counter;
}
/// Reads one of the counters of windows' RDMA.
template <std::uint64_t device::RemoteCounters::* counter>
std::uint64_t of_adapters(const PerformanceSources& sources, const Comm* /*comm*/) {
  const World* world = sources.library.world;
  return world == nullptr ? 0 : world->rma.adapters.*counter;
}
/// The result of a member of the matching queues.
template <auto query>
std::uint64_t matched(const PerformanceSources& sources, const Comm* /*comm*/) {
  if (sources.device == nullptr) return 0;
  return static_cast<std::uint64_t>((sources.device->matcher().*query)());
}
template <auto query>
std::uint64_t matched_of(const PerformanceSources& /*sources*/, const Comm* comm) {
  const match::Matcher& matcher = comm->device->matcher();
  return static_cast<std::uint64_t>((matcher.*query)(comm->context) +
                                    (matcher.*query)(comm->context | Comm::collective_bit));
}
template <ObjectKind kind>
std::uint64_t alive(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.library.live(kind);
}

/// Reads one of the counters of files.
template <io::FileStats::Counter io::FileStats::* counter>
std::uint64_t of_files(const PerformanceSources& sources, const Comm* /*comm*/) {
  const FileState* files = sources.library.files;
  return files == nullptr ? 0 : files->log().total(counter);
}

std::uint64_t budget(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.device == nullptr ? 0 : sources.device->config().unexpected_budget_bytes;
}
std::uint64_t processes(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.device == nullptr ? 0 : sources.device->config().size;
}
std::uint64_t budget_share(const PerformanceSources& sources, const Comm* comm) {
  const std::uint64_t limit = budget(sources, comm);
  if (limit == 0) return 0;
  const double share =
      static_cast<double>(sources.device->unexpected_bytes()) / static_cast<double>(limit);
  return static_cast<std::uint64_t>(std::min(share, 1.0) * static_cast<double>(billion));
}
std::uint64_t object_memory(const PerformanceSources& sources, const Comm* /*comm*/) {
  return sources.library.object_bytes();
}
std::uint64_t state(const PerformanceSources& sources, const Comm* /*comm*/) {
  if (sources.device == nullptr) return 0;
  return sources.library.predefined(reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD)) != nullptr
             ? 1
             : 2;
}

constexpr const char* states[] = {"before MPI_Init", "world model in use",
                                  "world model not in use"};

// Short forms for the columns below.
constexpr int user = MPI_T_VERBOSITY_USER_BASIC;
constexpr int detail = MPI_T_VERBOSITY_USER_DETAIL;
constexpr int tuner = MPI_T_VERBOSITY_TUNER_DETAIL;
constexpr int inner = MPI_T_VERBOSITY_MPIDEV_DETAIL;
using Counters = Device::Counters;
using Files = io::FileStats;
using Remote = device::RemoteCounters;

// The kinds of most variables.
using PerformanceKind = PerformanceVariable::Kind;
constexpr PerformanceKind count = {MPI_T_PVAR_CLASS_COUNTER, PerformanceForm::number,
                                   Reading::growth};
constexpr PerformanceKind sum = {MPI_T_PVAR_CLASS_AGGREGATE, PerformanceForm::number,
                                 Reading::growth};
constexpr PerformanceKind seconds = {MPI_T_PVAR_CLASS_TIMER, PerformanceForm::billionth,
                                     Reading::growth};
constexpr PerformanceKind level = {MPI_T_PVAR_CLASS_LEVEL, PerformanceForm::number, Reading::live};
constexpr PerformanceKind highest = {MPI_T_PVAR_CLASS_HIGHWATERMARK, PerformanceForm::number,
                                     Reading::highest};
constexpr PerformanceKind share = {MPI_T_PVAR_CLASS_PERCENTAGE, PerformanceForm::billionth,
                                   Reading::live};
constexpr PerformanceKind fixed = {MPI_T_PVAR_CLASS_SIZE, PerformanceForm::number, Reading::live};
constexpr PerformanceKind comm_level = {MPI_T_PVAR_CLASS_LEVEL, PerformanceForm::number,
                                        Reading::live, MPI_T_BIND_MPI_COMM};

constexpr PerformanceVariable variables[] = {
    {"library_state",
     {MPI_T_PVAR_CLASS_STATE, PerformanceForm::state, Reading::live},
     user,
     "Whether MPI_Init and MPI_Finalize were called.",
     state},
    {"library_processes", fixed, user, "Processes of the job.", processes},

    {"device_eager_sends", count, user,
     "Messages copied to the receiver at once, without the short ones that a granted ring "
     "takes directly; channel_packets_sent counts those too.",
     counted<&Counters::eager_sends>},
    {"device_rendezvous_sends", count, user,
     "Messages that were announced and wait for their receive.",
     counted<&Counters::rendezvous_sends>},
    {"device_rendezvous_bytes", sum, user, "Bytes of the messages that were announced.",
     counted<&Counters::rendezvous_bytes>},
    {"device_unexpected_messages", count, user, "Messages that arrived before their receive.",
     counted<&Counters::unexpected>},
    {"device_unexpected_memory", level, user, "Bytes that hold messages without a receive now.",
     queried<&Device::unexpected_bytes>},
    {"device_unexpected_memory_high", highest, user,
     "The most bytes that held messages without a receive.", queried<&Device::unexpected_bytes>},
    {"device_unexpected_memory_share", share, user,
     "What part of the memory for messages without a receive is in use; at 1 senders keep theirs.",
     budget_share},
    {"device_unexpected_budget", fixed, user,
     "Bytes that messages without a receive may take: half of FULMAR_MEMORY.", budget},
    {"device_holds", count, user, "Times that a sender was asked to hold its messages.",
     counted<&Counters::holds>},
    {"device_held_senders", level, detail, "Senders that keep their messages now.",
     queried<&Device::held_senders>},
    {"device_backlogged_peers", level, detail,
     "Receivers for which messages wait here because they have no room.",
     queried<&Device::backlogged_peers>},
    {"device_connected_peers", level, detail, "Processes that this one has sent something to.",
     queried<&Device::connected_peers>},
    {"device_unattended_sends", level, detail, "Sends under way that no request stands for.",
     queried<&Device::unattended_sends>},
    {"device_named_operations", level, inner, "Sends and receives that a peer may answer.",
     queried<&Device::named_operations>},
    {"device_single_copies", count, tuner,
     "Pieces of long messages that this process moved between address spaces.",
     counted<&Counters::single_copies>},
    {"device_streamed_messages", count, tuner, "Long messages received through the ring.",
     counted<&Counters::streamed>},
    {"device_fetched_messages", count, tuner,
     "Long messages that an adapter of this process read from the sender's memory.",
     counted<&Counters::fetched>},
    {"device_put_messages", count, tuner,
     "Long messages that an adapter of this process wrote to the receiver's memory.",
     counted<&Counters::put>},
    {"device_remote_bytes", sum, tuner,
     "Bytes of RDMA reads and writes by adapters of this process.",
     counted<&Counters::remote_bytes>},
    {"device_remote_messages", level, detail, "Long messages that use registered memory now.",
     queried<&Device::transfers>},
    {"device_remote_retreats", count, tuner,
     "Long messages received in packets after adapters had begun to move them.",
     counted<&Counters::remote_retreats>},
    {"device_memory_opened", count, tuner, "Registrations of memory for long messages.",
     registered<&Regions::opened>},
    {"device_memory_hits", count, tuner, "Long messages whose memory was registered already.",
     registered<&Regions::hits>},
    {"device_memory_passing", count, tuner,
     "Times that memory was opened for one message alone, because it cannot be kept open.",
     registered<&Regions::not_kept>},
    {"device_memory_evicted", count, tuner,
     "Registrations that were evicted to make room for others.", registered<&Regions::evicted>},
    {"device_memory_gone", count, detail,
     "Pieces of memory that were closed because the program gave them back, or a larger one "
     "came.",
     registered<&Regions::unlisted>},
    {"device_memory_regions", level, detail, "Registered memory regions.",
     registered<&Regions::regions>},
    {"device_memory_bytes", level, tuner, "Bytes of registered memory, in whole pages.",
     registered<&Regions::bytes>},
    {"device_memory_refused", count, tuner, "Long messages whose memory could not be registered.",
     counted<&Counters::refused>},
    {"device_progress_calls", count, tuner, "Calls of the progress engine.",
     queried<&Device::progress_calls>},
    {"device_thread_turns", count, tuner,
     "Times that the library's own thread took progress over because the program was not in "
     "MPI (FULMAR_PROGRESS_THREAD).",
     counted<&Counters::thread_turns>},
    {"device_thread_wakeups", count, tuner,
     "Times that something woke the library's own thread while it was its turn.",
     counted<&Counters::thread_wakeups>},
    {"device_second_thread_wakeups", count, tuner,
     "Times that a completion of RDMA woke the second thread (FULMAR_PROGRESS_THREAD=two).",
     counted<&Counters::second_thread_wakeups>},
    {"device_thread_moved", count, tuner,
     "What the library's own thread moved: packets, pieces of messages, steps of schedules.",
     counted<&Counters::thread_moved>},
    {"device_sleeps", count, tuner, "Times that a waiting call went to sleep.",
     counted<&Counters::sleeps>},
    {"device_sleep_time", seconds, tuner, "Seconds that waiting calls slept.",
     counted<&Counters::sleep_ns>},
    {"device_malformed_packets", count, inner, "Invalid packets that were dropped.",
     counted<&Counters::malformed>},

    {"match_unexpected_length", level, user, "Messages without a receive now.",
     matched<&match::Matcher::unexpected_count>},
    {"match_unexpected_length_high", highest, user,
     "The most messages that had no receive at a time.",
     matched<&match::Matcher::unexpected_count>},
    {"match_posted_length", level, user, "Receives without a message now.",
     matched<&match::Matcher::posted_count>},
    {"match_indexed_receives", level, tuner,
     "Receives that stand in the index, because a search of the list took long.",
     matched<&match::Matcher::posted_indexed>},
    {"match_indexed_total", count, tuner, "Receives that were moved to the index.",
     matched<&match::Matcher::posted_indexed_ever>},
    {"match_comm_unexpected_length", comm_level, user,
     "Messages of a communicator without a receive now, those of collective calls included.",
     matched_of<&match::Matcher::unexpected_of_context>},
    {"match_comm_posted_length", comm_level, user,
     "Receives on a communicator without a message now, those of collective calls included.",
     matched_of<&match::Matcher::posted_of_context>},

    {"channel_packets_sent", count, user,
     "Packets put into rings and mailboxes of other processes, control packets included.",
     queried<&Device::packets_sent>},
    {"channel_packets_received", count, user,
     "Packets taken from rings and mailboxes of this process, control packets included.",
     queried<&Device::packets_received>},
    {"channel_rings_granted", level, tuner, "Private rings that other processes hold here.",
     queried<&Device::rings_polled>},
    {"channel_design_writes", count, tuner,
     "With FULMAR_CHANNEL: writes into other processes' memory, each of which an adapter "
     "would do.",
     designed<design_writes>},
    {"channel_design_credit_writes", count, tuner,
     "With FULMAR_CHANNEL: those of them that only return credits.",
     designed<design_credit_writes>},
    {"channel_design_copies", count, tuner,
     "With FULMAR_CHANNEL: copies of bodies into a ring and out of one.", designed<design_copies>},
    {"channel_design_copied_bytes", sum, tuner, "With FULMAR_CHANNEL: bytes of those copies.",
     designed<design_copied_bytes>},
    {"channel_design_handshakes", count, tuner,
     "With FULMAR_CHANNEL: descriptors of long messages that were answered.",
     designed<design_handshakes>},
    {"channel_design_moved_bytes", sum, tuner,
     "With FULMAR_CHANNEL: bytes read from or written to another program's buffer directly.",
     designed<design_moved_bytes>},

    {"rma_requests", count, user,
     "Messages of this process that asked the target of one-sided communication for "
     "something; there are none for memory that is mapped here.",
     of_windows<&RmaCounters::requests>},
    {"rma_request_bytes", sum, user,
     "Bytes of data that went with those messages, or that they asked for.",
     of_windows<&RmaCounters::request_bytes>},
    {"rma_type_descriptions", count, tuner, "Those of them that described a datatype.",
     of_windows<&RmaCounters::type_descriptions>},
    {"rma_served_requests", count, user,
     "Requests of other processes that this one has carried out.",
     of_windows<&RmaCounters::served>},
    {"rma_merged_requests", count, tuner,
     "Requests that travelled in the message of another one (FULMAR_RMA_MERGE).",
     of_windows<&RmaCounters::merged>},
    {"rma_adapter_writes", count, user, "RDMA writes to memory of windows.",
     of_adapters<&Remote::writes>},
    {"rma_adapter_reads", count, user, "RDMA reads from memory of windows.",
     of_adapters<&Remote::reads>},
    {"rma_adapter_changes", count, user, "Atomic operations of adapters on memory of windows.",
     of_adapters<&Remote::changes>},
    {"rma_adapter_merged", count, tuner,
     "Short puts that travelled in the write of another one (FULMAR_RMA_MERGE).",
     of_adapters<&Remote::merged>},
    {"rma_calls", count, tuner,
     "Short operations that targets on this node carried out while they waited in MPI.",
     of_windows<&RmaCounters::calls>},
    {"rma_kernel_copies", count, tuner,
     "Puts and gets that the kernel copied between address spaces.",
     of_windows<&RmaCounters::kernel_copies>},
    {"rma_lock_waits", count, user, "Locks of mapped memory that were not free at once.",
     of_windows<&RmaCounters::lock_waits>},
    {"file_read_operations", count, user, "Calls of the program that read files.",
     of_files<&Files::read_operations>},
    {"file_write_operations", count, user, "Calls of the program that write files.",
     of_files<&Files::write_operations>},
    {"file_collective_operations", count, user, "Those of both that are collective.",
     of_files<&Files::collective_operations>},
    {"file_exchanges", count, user,
     "Collective calls whose data were exchanged between ranks (two phases).",
     of_files<&Files::exchanges>},
    {"file_bytes_read", sum, user,
     "Bytes that this process has read from files, for itself and as an aggregator.",
     of_files<&Files::bytes_read>},
    {"file_bytes_written", sum, user,
     "Bytes that this process has written to files, for itself and as an aggregator.",
     of_files<&Files::bytes_written>},
    {"file_system_calls", count, tuner, "System calls that read, wrote or stored data of files.",
     of_files<&Files::system_calls>},
    {"file_lock_waits", count, tuner,
     "Times that a part of a file was locked by another process (atomic mode, sieving writes).",
     of_files<&Files::lock_waits>},
    {"file_lock_wait_time", seconds, tuner, "Seconds that accesses waited for such locks.",
     of_files<&Files::lock_wait_ns>},
    {"file_checked_bytes", sum, detail,
     "Bytes that were compared with the checksums of their writers (FULMAR_CHECK=files).",
     of_files<&Files::checked_bytes>},

    {"objects_memory", level, detail, "Bytes that hold MPI objects.", object_memory},
    {"objects_communicators", level, user, "Communicators alive, without predefined ones.",
     alive<ObjectKind::comm>},
    {"objects_groups", level, user, "Groups alive.", alive<ObjectKind::group>},
    {"objects_datatypes", level, user, "Datatypes alive, without predefined ones.",
     alive<ObjectKind::datatype>},
    {"objects_ops", level, user, "Reduction operations alive, without predefined ones.",
     alive<ObjectKind::op>},
    {"objects_requests", level, user, "Requests alive; sends that were complete at once have none.",
     alive<ObjectKind::request>},
    {"objects_messages", level, user, "Matched messages that wait for their receive.",
     alive<ObjectKind::message>},
    {"objects_infos", level, user, "Info objects alive.", alive<ObjectKind::info>},
    {"objects_errhandlers", level, user, "Error handlers alive, without predefined ones.",
     alive<ObjectKind::errhandler>},
    {"objects_sessions", level, user, "Sessions alive.", alive<ObjectKind::session>},
    {"objects_windows", level, user, "Windows alive.", alive<ObjectKind::win>},
    {"objects_files", level, user, "Files open.", alive<ObjectKind::file>},
};

}  // namespace

std::span<const PerformanceVariable> performance_variables() noexcept { return variables; }

std::span<const char* const> library_states() noexcept { return states; }

void PerformanceHandle::start(const PerformanceSources& sources) noexcept {
  if (running || variable->kind.reading == Reading::live) return;
  running = true;
  base = variable->read(sources, comm);
  if (variable->kind.reading == Reading::highest) value = std::max(value, base);
}

void PerformanceHandle::stop(const PerformanceSources& sources) noexcept {
  if (!running) return;
  value = current(sources);
  running = false;
}

void PerformanceHandle::set(const PerformanceSources& sources, std::uint64_t to) noexcept {
  value = to;
  base = variable->read(sources, comm);
}

void PerformanceHandle::reset(const PerformanceSources& sources) noexcept {
  set(sources, variable->kind.reading == Reading::highest ? variable->read(sources, comm) : 0);
}

std::uint64_t PerformanceHandle::current(const PerformanceSources& sources) noexcept {
  if (variable->kind.reading == Reading::live) return variable->read(sources, comm);
  if (!running) return value;
  if (variable->kind.reading == Reading::growth)
    return value + (variable->read(sources, comm) - base);
  follow(sources);
  return value;
}

void PerformanceHandle::follow(const PerformanceSources& sources) noexcept {
  value = std::max(value, variable->read(sources, comm));
}

}  // namespace fulmar::mpi
