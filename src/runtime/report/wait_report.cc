// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/report/wait_report.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "device/shm_coll/shm_coll_area.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/jobs.h"
#include "mpi/comm/world.h"
#include "mpi/group/group.h"
#include "mpi/io/file_state.h"
#include "mpi/request/request.h"
#include "runtime/report/report_names.h"
#include "runtime/report/window_report.h"

namespace fulmar::runtime {
namespace {

using device::Operation;
using device::WaitNote;
using mpi::Comm;

// --- the name of the call

struct Search {
  const void* library = nullptr;
  std::string_view name;
};

/// Each MPI function is an exported symbol of this library, so the outermost frame that has such a
/// symbol is the call that the program made.
_Unwind_Reason_Code examine(_Unwind_Context* frame, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  auto* address = reinterpret_cast<void*>(_Unwind_GetIP(frame) - 1);
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fbase != search.library) return _URC_NO_REASON;
  if (info.dli_sname == nullptr) return _URC_NO_REASON;
  std::string_view name = info.dli_sname;
  if (name.starts_with("PMPI_")) name.remove_prefix(1);
  if (name.starts_with("MPI_")) search.name = name;
  return _URC_NO_REASON;
}

std::string call_name() {
  Search search;
  Dl_info own{};
  static const char anchor = 0;
  if (::dladdr(&anchor, &own) != 0) search.library = own.dli_fbase;
  _Unwind_Backtrace(examine, &search);
  std::string name(search.name);
  if (name.ends_with("_c")) name.resize(name.size() - 2);
  return name.empty() ? "an MPI call" : name;
}

// --- communicators

/// Calls visit(Comm&) for every communicator of the program.
template <class Visit>
void for_each_comm(const mpi::Library& library, Visit visit) {
  constexpr int first_made = 4096;
  constexpr int generations = 64;
  for (const int predefined : {257, 258}) {
    auto* comm = library.find<Comm>(static_cast<std::uintptr_t>(predefined));
    if (comm != nullptr) visit(*comm);
  }
  for (int slot = first_made;; slot += generations) {
    if (library.handle_of_number(mpi::ObjectKind::comm, slot) == 0) return;
    for (int number = slot; number < slot + generations; ++number) {
      const std::uintptr_t handle = library.handle_of_number(mpi::ObjectKind::comm, number);
      auto* comm = library.find<Comm>(handle);
      if (comm != nullptr) visit(*comm);
    }
  }
}

template <class Fits>
Comm* find_comm(const mpi::Library& library, Fits fits) {
  Comm* found = nullptr;
  for_each_comm(library, [&](Comm& comm) {
    if (found == nullptr && fits(comm)) found = &comm;
  });
  return found;
}

/// The communicator whose messages have this key. A send carries the receiver's number of it.
Comm* comm_of(const mpi::Library& library, const match::Key& key, bool is_send) {
  const std::uint32_t context = key.context & ~context_kind_mask;
  return find_comm(library, [&](Comm& comm) {
    if (!is_send) return comm.context == context;
    const int rank = comm.rank_of(key.peer);
    return rank >= 0 && comm.routes[rank].context == context;
  });
}

std::string message_text(Comm* comm, const match::Key& key, Members members = Members::told) {
  std::string text = rank_text(comm, key.peer);
  if ((key.context & context_kind_mask) == 0 ||
      (key.context & context_kind_mask) == Comm::partitioned_bit) {
    text += key.tag == match::any_tag ? " any tag" : " tag " + std::to_string(key.tag);
  }
  return text + " on " + name_of(comm, members);
}

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// --- the record

class Writer {
 public:
  Writer(const mpi::Library& library, const device::QuietWait& wait) : library_(library), body_{} {
    body_.since_ns = wait.since_ns;
    body_.polled = wait.polled ? 1 : 0;
    call_ = call_name();
  }

  void describe(const WaitNote& note) {
    within_job_ = note.kind != WaitNote::Kind::nothing;
    switch (note.kind) {
      case WaitNote::Kind::message:
        return describe(*static_cast<const Operation*>(note.subject), "");
      case WaitNote::Kind::request:
        return describe_request(*static_cast<const Operation*>(note.subject));
      case WaitNote::Kind::arrival: {
        const auto& key = *static_cast<const match::Key*>(note.subject);
        return describe_receive(key, "from ");
      }
      case WaitNote::Kind::coll_area:
        return describe_collective(find_comm(
            library_, [&](const Comm& comm) { return comm.coll_area.get() == note.subject; }));
      case WaitNote::Kind::collective:
        return describe_call_on(
            find_comm(library_, [&](const Comm& comm) { return &comm == note.subject; }));
      case WaitNote::Kind::nothing:
        return describe_any();
    }
  }

  /// Facts that may explain the waits of other ranks.
  void add_hints() {
    add_held_locks(library_, body_);
    add_calls_left_out();
    add_unexpected();
  }

  [[nodiscard]] const wire::WaitBody& body() {
    copy(call_, body_.call);
    copy(what_, body_.what);
    copy(hint_, body_.hint);
    return body_;
  }

  /// mpiexec finds the processes that are waited for by their ranks in this job. Of other jobs it
  /// gets the ids, of all that are known unless the wait is surely for this job's ranks.
  void tell_other_jobs() {
    const auto peers = std::span(body_.peers).first(body_.peer_count);
    const auto is_foreign = [&](std::uint32_t peer) { return peer >= library_.world->processes; };
    if (std::any_of(peers.begin(), peers.end(), is_foreign)) {
      set_kind(wire::WaitKind::other);
      body_.peer_count = 0;
      within_job_ = false;
    }
    if (within_job_) return;
    for (const auto& other : library_.device->processes().other_jobs()) {
      if (body_.job_count < body_.jobs.size()) body_.jobs[body_.job_count] = other.job;
      if (body_.job_count <= body_.jobs.size()) ++body_.job_count;
    }
  }

 private:
  /// Collective calls that ended with an error of their arguments before this rank gave its data.
  void add_calls_left_out() {
    for_each_comm(library_, [&](const Comm& comm) {
      if (comm.left_out_of == nullptr) return;
      const std::string line = std::string("it has taken no part in ") + comm.left_out_of + " on " +
                               name_of(&comm, Members::left_out) +
                               ", because its arguments were wrong\n";
      if (hint_.size() + line.size() < body_.hint.size()) hint_ += line;
    });
  }

  /// Messages that have arrived without a matching receive.
  void add_unexpected() {
    match::Matcher& queues = library_.device->queues();
    constexpr std::size_t room_for_more = 24;
    int left_out = 0;
    for (match::Unexpected* at = queues.oldest_unexpected(); at != nullptr;
         at = queues.next_unexpected(*at)) {
      const match::Key& key = at->key;
      if ((key.context & context_kind_mask) != 0) continue;
      Comm* comm = comm_of(library_, key, false);
      if (comm == nullptr) continue;
      if (left_out > 0) {
        ++left_out;
        continue;
      }
      const std::string line = "it has not received a message of " +
                               bytes_text(device::Arrival::of(at)->length) + " from " +
                               message_text(comm, key, Members::left_out) + "\n";
      if (hint_.size() + line.size() + room_for_more < body_.hint.size()) {
        hint_ += line;
      } else {
        left_out = 1;
      }
    }
    if (left_out > 0) hint_ += "and " + std::to_string(left_out) + " more\n";
  }

  template <std::size_t size>
  static void copy(const std::string& text, std::array<char, size>& to) {
    std::snprintf(to.data(), size, "%s", text.c_str());
  }
  void set_kind(wire::WaitKind kind) { body_.kind = static_cast<std::uint32_t>(kind); }
  void add_peer(std::uint32_t peer) {
    if (body_.peer_count < body_.peers.size()) body_.peers[body_.peer_count++] = peer;
  }

  void describe(const Operation& operation, const std::string& prefix) {
    const match::Key& key = operation.key();
    if ((key.context & Comm::collective_bit) != 0) {
      return describe_collective(comm_of(library_, key, operation.is_send));
    }
    // The name MPI_Recv implies a receive; MPI_Sendrecv and MPI_Wait do not.
    const bool plain = prefix.empty() && call_.find("Sendrecv") == std::string::npos;
    if (!operation.is_send) {
      describe_receive(key, plain ? "from " : prefix + "receive from ");
    } else {
      Comm* comm = comm_of(library_, key, true);
      set_kind(wire::WaitKind::message);
      add_peer(key.peer);
      what_ = (plain ? "to " : prefix + "send to ") + message_text(comm, key);
    }
    what_ += " (" + bytes_text(operation.buffer.bytes) + ")";
  }

  void describe_receive(const match::Key& key, const std::string& prefix) {
    Comm* comm = comm_of(library_, key, false);
    what_ = prefix + message_text(comm, key);
    if (key.peer != match::any_peer) {
      set_kind(wire::WaitKind::message);
      return add_peer(key.peer);
    }
    set_kind(wire::WaitKind::any);
    within_job_ = comm != nullptr && !mpi::spans_jobs(*comm);
    if (comm == nullptr) return;
    for (const mpi::Route route : comm->routes) {
      if (body_.peer_count == body_.peers.size()) return;
      if (route.peer != library_.device->config().self) add_peer(route.peer);
    }
  }

  void describe_request(const Operation& operation) {
    const mpi::Request& request = mpi::Request::of(const_cast<Operation&>(operation));
    const mpi::RequestKind& kind = *request.what;
    if (kind.plain || (kind.start != nullptr && !kind.must_complete)) {
      return describe(operation, "for a ");
    }
    what_ = std::string("for ") + kind.name;
    within_job_ = request.comm != nullptr && !mpi::spans_jobs(*request.comm);
    if (request.comm != nullptr) what_ += " on " + name_of(request.comm);
    add_posted(request.comm);
  }

  /// The collective calls that the rank itself has started on a communicator.
  void add_posted(const Comm* comm) {
    if (comm == nullptr) return;
    library_.device->queues().for_each_posted([&](const match::Posted& posted) {
      const match::Key& key = posted.key;
      if ((key.context & ~context_kind_mask) != comm->context ||
          (key.context & context_kind_mask) == 0)
        return;
      if (key.peer == match::any_peer) return;
      set_kind(wire::WaitKind::message);
      add_peer(key.peer);
    });
  }

  void describe_collective(const Comm* comm) {
    set_kind(wire::WaitKind::collective);
    what_ = "on " + name_of(comm);
    within_job_ = comm != nullptr && !mpi::spans_jobs(*comm);
    if (comm != nullptr && !within_job_) return set_kind(wire::WaitKind::other);
    if (comm == nullptr || comm->is_inter || comm->routes.empty()) return;
    body_.comm = common_number(*comm);
    body_.member_count = static_cast<std::uint32_t>(comm->routes.size());
    // The record has room for the first 1,024 ranks of the job: more are not looked at.
    const int most = std::min(comm->routes.size(), static_cast<int>(64 * body_.members.size()));
    for (int rank = 0; rank < most; ++rank) {
      const std::uint32_t peer = comm->routes[rank].peer;
      if (peer / 64 >= body_.members.size()) continue;
      body_.members[peer / 64] |= std::uint64_t{1} << peer % 64;
    }
  }

  /// A collective call, or one on a window that waits for something else.
  void describe_call_on(const Comm* comm) {
    const mpi::Win* win = comm == nullptr ? nullptr : window_of(*comm);
    if (win == nullptr || win->watch.waits.empty()) return describe_collective(comm);
    if (win->watch.waits.back()->what == mpi::WindowWait::For::fence) {
      return describe_collective(comm);
    }
    within_job_ = !mpi::spans_jobs(*comm);
    const WindowWaitText text = explain(*win->watch.waits.back());
    what_ = text.what;
    set_kind(text.kind);
    body_.comm = text.comm;
    for (const std::uint32_t peer : text.peers) add_peer(peer);
  }

  /// One of several requests, or something that says nothing of itself.
  void describe_any() {
    set_kind(wire::WaitKind::any);
    library_.device->queues().for_each_posted([&](const match::Posted& posted) {
      const match::Key& key = posted.key;
      if ((key.context & context_kind_mask) != 0 || key.peer == match::any_peer) return;
      add_peer(key.peer);
      if (what_.size() > 100) return;
      what_ += (what_.empty() ? "for one of: receive from " : ", receive from ") +
               message_text(comm_of(library_, key, false), key);
    });
    if (body_.peer_count == 0) set_kind(wire::WaitKind::other);
  }

  const mpi::Library& library_;
  wire::WaitBody body_;
  bool within_job_ = true;  ///< only ranks of this job can end the wait
  std::string call_;
  std::string what_;
  std::string hint_;
};

/// The number of threads of this process; 0 where it is unknown.
unsigned thread_count() {
  struct stat status{};
  return ::stat("/proc/self/task", &status) == 0 && status.st_nlink > 2
             ? static_cast<unsigned>(status.st_nlink) - 2
             : 0;
}

}  // namespace

wire::WaitBody WaitReporter::write(const device::QuietWait& wait) noexcept {
  Writer writer(library_, wait);
  writer.describe(wait.note);
  writer.tell_other_jobs();
  // A thread that is not waiting may do what the others wait for.
  if (wait.many_threads && thread_count() != wait.threads) return writer.body();
  // So may the end of a file operation, which can take as long as the disk does.
  if (library_.files != nullptr && library_.files->pending() != 0) return writer.body();
  writer.add_hints();
  wire::write_wait(record_, writer.body());
  return writer.body();
}

}  // namespace fulmar::runtime
