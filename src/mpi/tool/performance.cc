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
using Form = PerformanceVariable::Form;
using Way = PerformanceVariable::Way;

constexpr std::uint64_t billion = 1'000'000'000;

/// Reads one of the device's counters.
template <std::uint64_t Device::Counters::* counter>
std::uint64_t counted(const Figures& figures, const Comm* /*comm*/) {
  return figures.device == nullptr ? 0 : figures.device->counters().*counter;
}
/// Asks the device something.
template <auto ask>
std::uint64_t asked(const Figures& figures, const Comm* /*comm*/) {
  return figures.device == nullptr ? 0 : static_cast<std::uint64_t>((figures.device->*ask)());
}
using Kept = device::Registrations::Figures;
/// Reads one of the figures about memory that adapters know.
template <std::uint64_t Kept::* figure>
std::uint64_t kept(const Figures& figures, const Comm* /*comm*/) {
  return figures.device == nullptr ? 0 : figures.device->memory().figures().*figure;
}
/// Reads one of the counters of the channel designs, which are networks with counts of their own.
template <const char* const& name>
std::uint64_t designed(const Figures& figures, const Comm* /*comm*/) {
  const auto* const network = figures.device == nullptr ? nullptr : figures.device->network();
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
std::uint64_t of_windows(const Figures& figures, const Comm* /*comm*/) {
  const World* world = figures.library.world;
  return world == nullptr ? 0 : world->rma.*counter;
}
/// Reads one of the counters of adapters that windows use.
template <std::uint64_t device::RemoteCounters::* counter>
std::uint64_t of_adapters(const Figures& figures, const Comm* /*comm*/) {
  const World* world = figures.library.world;
  return world == nullptr ? 0 : world->rma.adapters.*counter;
}
/// Asks the queues something.
template <auto ask>
std::uint64_t matched(const Figures& figures, const Comm* /*comm*/) {
  if (figures.device == nullptr) return 0;
  return static_cast<std::uint64_t>((figures.device->matcher().*ask)());
}
template <auto ask>
std::uint64_t matched_of(const Figures& /*figures*/, const Comm* comm) {
  const match::Matcher& matcher = comm->device->matcher();
  return static_cast<std::uint64_t>((matcher.*ask)(comm->context) +
                                    (matcher.*ask)(comm->context | Comm::collective_bit));
}
template <ObjectKind kind>
std::uint64_t alive(const Figures& figures, const Comm* /*comm*/) {
  return figures.library.live(kind);
}

/// Reads one of the figures about files.
template <io::FileFigures::Counter io::FileFigures::* counter>
std::uint64_t filed(const Figures& figures, const Comm* /*comm*/) {
  const FileState* files = figures.library.files;
  return files == nullptr ? 0 : (files->log().figures.*counter).load(std::memory_order_relaxed);
}

std::uint64_t budget(const Figures& figures, const Comm* /*comm*/) {
  return figures.device == nullptr ? 0 : figures.device->config().unexpected_budget_bytes;
}
std::uint64_t processes(const Figures& figures, const Comm* /*comm*/) {
  return figures.device == nullptr ? 0 : figures.device->config().size;
}
std::uint64_t budget_share(const Figures& figures, const Comm* comm) {
  const std::uint64_t limit = budget(figures, comm);
  if (limit == 0) return 0;
  const double share =
      static_cast<double>(figures.device->unexpected_bytes()) / static_cast<double>(limit);
  return static_cast<std::uint64_t>(std::min(share, 1.0) * static_cast<double>(billion));
}
std::uint64_t object_memory(const Figures& figures, const Comm* /*comm*/) {
  return figures.library.object_bytes();
}
std::uint64_t state(const Figures& figures, const Comm* /*comm*/) {
  if (figures.device == nullptr) return 0;
  return figures.library.predefined(reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD)) != nullptr
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
constexpr int free_standing = MPI_T_BIND_NO_OBJECT;
constexpr int of_comm = MPI_T_BIND_MPI_COMM;
constexpr int counter = MPI_T_PVAR_CLASS_COUNTER;
constexpr int level = MPI_T_PVAR_CLASS_LEVEL;
constexpr int size = MPI_T_PVAR_CLASS_SIZE;
constexpr int high = MPI_T_PVAR_CLASS_HIGHWATERMARK;
constexpr int aggregate = MPI_T_PVAR_CLASS_AGGREGATE;
constexpr int percentage = MPI_T_PVAR_CLASS_PERCENTAGE;
using Counters = Device::Counters;
using Files = io::FileFigures;
using Remote = device::RemoteCounters;

constexpr PerformanceVariable variables[] = {
    {"library_state", MPI_T_PVAR_CLASS_STATE, Form::state, Way::live, user, free_standing,
     "Whether MPI_Init and MPI_Finalize were called.", state},
    {"library_processes", size, Form::number, Way::live, user, free_standing,
     "Processes of the job.", processes},

    {"device_eager_sends", counter, Form::number, Way::growth, user, free_standing,
     "Messages copied to the receiver at once, without the short ones that a granted ring takes "
     "directly; channel_packets_sent counts those too.",
     counted<&Counters::eager_sends>},
    {"device_rendezvous_sends", counter, Form::number, Way::growth, user, free_standing,
     "Messages that were announced and wait for their receive.",
     counted<&Counters::rendezvous_sends>},
    {"device_rendezvous_bytes", aggregate, Form::number, Way::growth, user, free_standing,
     "Bytes of the messages that were announced.", counted<&Counters::rendezvous_bytes>},
    {"device_unexpected_messages", counter, Form::number, Way::growth, user, free_standing,
     "Messages that arrived before their receive.", counted<&Counters::unexpected>},
    {"device_unexpected_memory", level, Form::number, Way::live, user, free_standing,
     "Bytes that hold messages without a receive now.", asked<&Device::unexpected_bytes>},
    {"device_unexpected_memory_high", high, Form::number, Way::highest, user, free_standing,
     "The most bytes that held messages without a receive.", asked<&Device::unexpected_bytes>},
    {"device_unexpected_memory_share", percentage, Form::billionth, Way::live, user, free_standing,
     "What part of the memory for messages without a receive is in use; at 1 senders keep theirs.",
     budget_share},
    {"device_unexpected_budget", size, Form::number, Way::live, user, free_standing,
     "Bytes that messages without a receive may take: half of FULMAR_MEMORY.", budget},
    {"device_holds", counter, Form::number, Way::growth, user, free_standing,
     "Times that a sender was told to keep its messages.", counted<&Counters::holds>},
    {"device_held_senders", level, Form::number, Way::live, detail, free_standing,
     "Senders that keep their messages now.", asked<&Device::held_senders>},
    {"device_backlogged_peers", level, Form::number, Way::live, detail, free_standing,
     "Receivers for which messages wait here because they have no room.",
     asked<&Device::backlogged_peers>},
    {"device_connected_peers", level, Form::number, Way::live, detail, free_standing,
     "Processes that this one has sent something to.", asked<&Device::connected_peers>},
    {"device_unattended_sends", level, Form::number, Way::live, detail, free_standing,
     "Sends under way that no request stands for.", asked<&Device::unattended_sends>},
    {"device_named_operations", level, Form::number, Way::live, inner, free_standing,
     "Sends and receives that a peer may answer.", asked<&Device::named_operations>},
    {"device_single_copies", counter, Form::number, Way::growth, tuner, free_standing,
     "Pieces of long messages that this process moved between address spaces.",
     counted<&Counters::single_copies>},
    {"device_streamed_messages", counter, Form::number, Way::growth, tuner, free_standing,
     "Long messages received through the ring.", counted<&Counters::streamed>},
    {"device_fetched_messages", counter, Form::number, Way::growth, tuner, free_standing,
     "Long messages that an adapter of this process read from the sender's memory.",
     counted<&Counters::fetched>},
    {"device_put_messages", counter, Form::number, Way::growth, tuner, free_standing,
     "Long messages that an adapter of this process wrote to the receiver's memory.",
     counted<&Counters::put>},
    {"device_remote_bytes", aggregate, Form::number, Way::growth, tuner, free_standing,
     "Bytes that adapters of this process were told to read from or write to peers' memory.",
     counted<&Counters::remote_bytes>},
    {"device_remote_messages", level, Form::number, Way::live, detail, free_standing,
     "Long messages for which memory is open to adapters now.", asked<&Device::transfers>},
    {"device_remote_retreats", counter, Form::number, Way::growth, tuner, free_standing,
     "Long messages received in packets after adapters had begun to move them.",
     counted<&Counters::remote_retreats>},
    {"device_memory_opened", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that memory was opened to adapters for a long message.", kept<&Kept::opened>},
    {"device_memory_hits", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that memory of a long message was open to adapters already.", kept<&Kept::hits>},
    {"device_memory_passing", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that memory was opened for one message alone, because it cannot be kept open.",
     kept<&Kept::not_kept>},
    {"device_memory_evicted", counter, Form::number, Way::growth, tuner, free_standing,
     "Pieces of memory that were closed to make room for others.", kept<&Kept::evicted>},
    {"device_memory_gone", counter, Form::number, Way::growth, detail, free_standing,
     "Pieces of memory that were closed because the program gave them back, or a larger one came.",
     kept<&Kept::unlisted>},
    {"device_memory_regions", level, Form::number, Way::live, detail, free_standing,
     "Pieces of memory that are open to adapters now.", kept<&Kept::regions>},
    {"device_memory_bytes", level, Form::number, Way::live, tuner, free_standing,
     "Bytes of memory that are open to adapters now, in whole pages.", kept<&Kept::bytes>},
    {"device_memory_refused", counter, Form::number, Way::growth, tuner, free_standing,
     "Long messages whose memory could not be opened to adapters.", counted<&Counters::refused>},
    {"device_progress_calls", counter, Form::number, Way::growth, tuner, free_standing,
     "Looks at everything that can move.", asked<&Device::progress_calls>},
    {"device_thread_turns", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that the library's own thread took progress over because the program was not in MPI "
     "(FULMAR_PROGRESS_THREAD).",
     counted<&Counters::thread_turns>},
    {"device_thread_wakeups", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that something woke the library's own thread while it was its turn.",
     counted<&Counters::thread_wakeups>},
    {"device_second_thread_wakeups", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that the end of an own order woke the second thread (FULMAR_PROGRESS_THREAD=two).",
     counted<&Counters::second_thread_wakeups>},
    {"device_thread_moved", counter, Form::number, Way::growth, tuner, free_standing,
     "What the library's own thread moved: packets, pieces of messages, steps of schedules.",
     counted<&Counters::thread_moved>},
    {"device_sleeps", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that a waiting call went to sleep.", counted<&Counters::sleeps>},
    {"device_sleep_time", MPI_T_PVAR_CLASS_TIMER, Form::billionth, Way::growth, tuner,
     free_standing, "Seconds that waiting calls slept.", counted<&Counters::sleep_ns>},
    {"device_malformed_packets", counter, Form::number, Way::growth, inner, free_standing,
     "Packets that made no sense and were dropped.", counted<&Counters::malformed>},

    {"match_unexpected_length", level, Form::number, Way::live, user, free_standing,
     "Messages without a receive now.", matched<&match::Matcher::unexpected_count>},
    {"match_unexpected_length_high", high, Form::number, Way::highest, user, free_standing,
     "The most messages that had no receive at a time.",
     matched<&match::Matcher::unexpected_count>},
    {"match_posted_length", level, Form::number, Way::live, user, free_standing,
     "Receives without a message now.", matched<&match::Matcher::posted_count>},
    {"match_indexed_receives", level, Form::number, Way::live, tuner, free_standing,
     "Receives that stand in the index, because a search of the list took long.",
     matched<&match::Matcher::posted_indexed>},
    {"match_indexed_total", counter, Form::number, Way::growth, tuner, free_standing,
     "Receives that were moved to the index.", matched<&match::Matcher::posted_indexed_ever>},
    {"match_comm_unexpected_length", level, Form::number, Way::live, user, of_comm,
     "Messages of a communicator without a receive now, those of collective calls included.",
     matched_of<&match::Matcher::unexpected_of_context>},
    {"match_comm_posted_length", level, Form::number, Way::live, user, of_comm,
     "Receives on a communicator without a message now, those of collective calls included.",
     matched_of<&match::Matcher::posted_of_context>},

    {"channel_packets_sent", counter, Form::number, Way::growth, user, free_standing,
     "Packets put into rings and mailboxes of other processes, control packets included.",
     asked<&Device::packets_sent>},
    {"channel_packets_received", counter, Form::number, Way::growth, user, free_standing,
     "Packets taken from rings and mailboxes of this process, control packets included.",
     asked<&Device::packets_received>},
    {"channel_rings_granted", level, Form::number, Way::live, tuner, free_standing,
     "Private rings that other processes hold here.", asked<&Device::rings_polled>},
    {"channel_design_writes", counter, Form::number, Way::growth, tuner, free_standing,
     "With FULMAR_CHANNEL: writes into other processes' memory, each of which an adapter would do.",
     designed<design_writes>},
    {"channel_design_credit_writes", counter, Form::number, Way::growth, tuner, free_standing,
     "With FULMAR_CHANNEL: those of them that only tell how much was taken.",
     designed<design_credit_writes>},
    {"channel_design_copies", counter, Form::number, Way::growth, tuner, free_standing,
     "With FULMAR_CHANNEL: copies of bodies into a ring and out of one.", designed<design_copies>},
    {"channel_design_copied_bytes", aggregate, Form::number, Way::growth, tuner, free_standing,
     "With FULMAR_CHANNEL: bytes of those copies.", designed<design_copied_bytes>},
    {"channel_design_handshakes", counter, Form::number, Way::growth, tuner, free_standing,
     "With FULMAR_CHANNEL: descriptors of long messages that were answered.",
     designed<design_handshakes>},
    {"channel_design_moved_bytes", aggregate, Form::number, Way::growth, tuner, free_standing,
     "With FULMAR_CHANNEL: bytes read from or written to another program's buffer directly.",
     designed<design_moved_bytes>},

    {"rma_requests", counter, Form::number, Way::growth, user, free_standing,
     "Messages of this process that asked the target of one-sided communication for something; "
     "there are none for memory that is mapped here.",
     of_windows<&RmaCounters::requests>},
    {"rma_request_bytes", aggregate, Form::number, Way::growth, user, free_standing,
     "Bytes of data that went with those messages, or that they asked for.",
     of_windows<&RmaCounters::request_bytes>},
    {"rma_type_descriptions", counter, Form::number, Way::growth, tuner, free_standing,
     "Those of them that described a datatype.", of_windows<&RmaCounters::type_descriptions>},
    {"rma_served_requests", counter, Form::number, Way::growth, user, free_standing,
     "Requests of other processes that this one has carried out.",
     of_windows<&RmaCounters::served>},
    {"rma_merged_requests", counter, Form::number, Way::growth, tuner, free_standing,
     "Short puts that travelled in the message of another one (FULMAR_RMA_MERGE).",
     of_windows<&RmaCounters::merged>},
    {"rma_adapter_writes", counter, Form::number, Way::growth, user, free_standing,
     "Orders to adapters to write memory of a window.", of_adapters<&Remote::writes>},
    {"rma_adapter_reads", counter, Form::number, Way::growth, user, free_standing,
     "Orders to adapters to read memory of a window.", of_adapters<&Remote::reads>},
    {"rma_adapter_changes", counter, Form::number, Way::growth, user, free_standing,
     "Atomic operations of adapters on memory of a window.", of_adapters<&Remote::changes>},
    {"rma_adapter_merged", counter, Form::number, Way::growth, tuner, free_standing,
     "Short puts that travelled in the write of another one (FULMAR_RMA_MERGE).",
     of_adapters<&Remote::merged>},
    {"rma_calls", counter, Form::number, Way::growth, tuner, free_standing,
     "Short operations that targets on this node carried out while they waited in MPI.",
     of_windows<&RmaCounters::calls>},
    {"rma_kernel_copies", counter, Form::number, Way::growth, tuner, free_standing,
     "Puts and gets that the kernel copied between address spaces.",
     of_windows<&RmaCounters::kernel_copies>},
    {"rma_lock_waits", counter, Form::number, Way::growth, user, free_standing,
     "Locks of mapped memory that were not free at once.", of_windows<&RmaCounters::lock_waits>},
    {"file_read_operations", counter, Form::number, Way::growth, user, free_standing,
     "Calls of the program that read files.", filed<&Files::read_operations>},
    {"file_write_operations", counter, Form::number, Way::growth, user, free_standing,
     "Calls of the program that write files.", filed<&Files::write_operations>},
    {"file_collective_operations", counter, Form::number, Way::growth, user, free_standing,
     "Those of both that are collective.", filed<&Files::collective_operations>},
    {"file_exchanges", counter, Form::number, Way::growth, user, free_standing,
     "Collective calls whose data were exchanged between ranks (two phases).",
     filed<&Files::exchanges>},
    {"file_bytes_read", aggregate, Form::number, Way::growth, user, free_standing,
     "Bytes that this process has read from files, for itself and as an aggregator.",
     filed<&Files::bytes_read>},
    {"file_bytes_written", aggregate, Form::number, Way::growth, user, free_standing,
     "Bytes that this process has written to files, for itself and as an aggregator.",
     filed<&Files::bytes_written>},
    {"file_system_calls", counter, Form::number, Way::growth, tuner, free_standing,
     "System calls that read, wrote or stored data of files.", filed<&Files::system_calls>},
    {"file_lock_waits", counter, Form::number, Way::growth, tuner, free_standing,
     "Times that a part of a file was locked by another process (atomic mode, sieving writes).",
     filed<&Files::lock_waits>},
    {"file_lock_wait_time", MPI_T_PVAR_CLASS_TIMER, Form::billionth, Way::growth, tuner,
     free_standing, "Seconds that accesses waited for such locks.", filed<&Files::lock_wait_ns>},
    {"file_checked_bytes", aggregate, Form::number, Way::growth, detail, free_standing,
     "Bytes that were compared with the checksums of their writers (FULMAR_CHECK=files).",
     filed<&Files::checked_bytes>},

    {"objects_memory", level, Form::number, Way::live, detail, free_standing,
     "Bytes that hold MPI objects.", object_memory},
    {"objects_communicators", level, Form::number, Way::live, user, free_standing,
     "Communicators alive, without predefined ones.", alive<ObjectKind::comm>},
    {"objects_groups", level, Form::number, Way::live, user, free_standing, "Groups alive.",
     alive<ObjectKind::group>},
    {"objects_datatypes", level, Form::number, Way::live, user, free_standing,
     "Datatypes alive, without predefined ones.", alive<ObjectKind::datatype>},
    {"objects_ops", level, Form::number, Way::live, user, free_standing,
     "Reduction operations alive, without predefined ones.", alive<ObjectKind::op>},
    {"objects_requests", level, Form::number, Way::live, user, free_standing,
     "Requests alive; sends that were complete at once have none.", alive<ObjectKind::request>},
    {"objects_messages", level, Form::number, Way::live, user, free_standing,
     "Matched messages that wait for their receive.", alive<ObjectKind::message>},
    {"objects_infos", level, Form::number, Way::live, user, free_standing, "Info objects alive.",
     alive<ObjectKind::info>},
    {"objects_errhandlers", level, Form::number, Way::live, user, free_standing,
     "Error handlers alive, without predefined ones.", alive<ObjectKind::errhandler>},
    {"objects_sessions", level, Form::number, Way::live, user, free_standing, "Sessions alive.",
     alive<ObjectKind::session>},
    {"objects_windows", level, Form::number, Way::live, user, free_standing, "Windows alive.",
     alive<ObjectKind::win>},
    {"objects_files", level, Form::number, Way::live, user, free_standing, "Files open.",
     alive<ObjectKind::file>},
};

}  // namespace

std::span<const PerformanceVariable> performance_variables() noexcept { return variables; }

std::span<const char* const> library_states() noexcept { return states; }

void PerformanceHandle::start(const Figures& figures) noexcept {
  if (running || variable->way == Way::live) return;
  running = true;
  base = variable->read(figures, comm);
  if (variable->way == Way::highest) value = std::max(value, base);
}

void PerformanceHandle::stop(const Figures& figures) noexcept {
  if (!running) return;
  value = current(figures);
  running = false;
}

void PerformanceHandle::set(const Figures& figures, std::uint64_t to) noexcept {
  value = to;
  base = variable->read(figures, comm);
}

void PerformanceHandle::reset(const Figures& figures) noexcept {
  set(figures, variable->way == Way::highest ? variable->read(figures, comm) : 0);
}

std::uint64_t PerformanceHandle::current(const Figures& figures) noexcept {
  if (variable->way == Way::live) return variable->read(figures, comm);
  if (!running) return value;
  if (variable->way == Way::growth) return value + (variable->read(figures, comm) - base);
  follow(figures);
  return value;
}

void PerformanceHandle::follow(const Figures& figures) noexcept {
  value = std::max(value, variable->read(figures, comm));
}

}  // namespace fulmar::mpi
