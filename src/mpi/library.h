// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/engine_lock.h"
#include "base/memory/slot_arena.h"
#include "mpi/done_handles.h"
#include "mpi/object.h"

namespace fulmar::base {
class Trace;
}
namespace fulmar::device {
class Device;
}

namespace fulmar::mpi {

class ErrorState;
class FileState;
class Keyvals;
class LaunchService;
class PredefinedDatatypes;
class PortService;
class Schedules;
class SendBuffer;
class Recovery;
struct Comm;
struct Info;
struct Win;
struct World;

/// The state behind the MPI API of one process: the table of handles and pointers to what the
/// chapters keep. Made by `runtime` at the first MPI call, before initialisation, because info
/// objects, error handlers and sessions can be made then. It owns the objects that users create;
/// the chapters' states are owned by `runtime` and only named here.
///
/// Thread rule: every member function needs `lock`, which the entry of each MPI call takes.
class Library {
 public:
  Library() noexcept;
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The object behind an ABI handle of T's kind, or nullptr: null handle, freed handle, garbage.
  template <class T>
  [[nodiscard]] T* find(std::uintptr_t handle) const noexcept {
    if (handle < predefined_limit) {
      Object* object = predefined_[handle];
      if (object == nullptr || object->kind != T::object_kind) return nullptr;
      return static_cast<T*>(object);
    }
    const SlotArena& home = arena(T::object_kind);
    if (home.lives_in_first(handle)) return static_cast<T*>(SlotArena::object_of(handle));
    if constexpr (T::object_kind == ObjectKind::request) {
      if (done_handles.holds(handle)) return static_cast<T*>(done_request);
    }
    return static_cast<T*>(home.find_in_later(handle));
  }
  template <class T, class Handle>
  [[nodiscard]] T* find(Handle* handle) const noexcept {
    return find<T>(reinterpret_cast<std::uintptr_t>(handle));
  }

  /// As find, where only the kind is known.
  [[nodiscard]] Object* find_object(ObjectKind kind, std::uintptr_t handle) const noexcept {
    if (handle < predefined_limit) {
      Object* object = predefined_[handle];
      return object != nullptr && object->kind == kind ? object : nullptr;
    }
    if (kind == ObjectKind::request && done_handles.holds(handle)) return done_request;
    return static_cast<Object*>(arena(kind).find(handle));
  }

  /// A handle as a number (MPI_Comm_toint): its value for predefined ones, from 4096 on for others,
  /// -1 for what is no handle of this kind.
  [[nodiscard]] int number_of(ObjectKind kind, std::uintptr_t handle) const noexcept {
    if (handle < first_number) return static_cast<int>(handle);
    if (kind == ObjectKind::request) {
      const std::int64_t done = done_handles.number_of(handle);
      if (done >= 0) return static_cast<int>(done + first_done_number);
    }
    const std::int64_t number = arena(kind).number_of(handle);
    return number < 0 ? -1 : static_cast<int>(number + first_number);
  }
  /// The handle that has this number, or 0.
  [[nodiscard]] std::uintptr_t handle_of_number(ObjectKind kind, int number) const noexcept {
    if (number < 0) return 0;
    if (number < first_number) return static_cast<std::uintptr_t>(number);
    if (kind == ObjectKind::request && number >= first_done_number) {
      return done_handles.handle_of_number(number - first_done_number);
    }
    return arena(kind).handle_of_number(number - first_number);
  }

  /// This process makes a call again that makes a communicator from groups, whose arguments were
  /// wrong here, to tell the others so: see take_refusal in mpi/comm_make/bridge.h.
  bool refused = false;

  /// A new object with a handle and one reference, the user's; nullptr when memory is used up.
  template <class T, class... Args>
  [[nodiscard]] T* make(Args&&... args) noexcept {
    static_assert(sizeof(T) <= slot_bytes[static_cast<std::size_t>(T::object_kind)]);
    void* memory = arena(T::object_kind).allocate();
    if (memory == nullptr) return nullptr;
    T* object = new (memory) T(std::forward<Args>(args)...);
    object->handle = arena(T::object_kind).handle_of(memory);
    return object;
  }

  /// Makes a predefined object, which lives in the caller's storage, known under its constant.
  void define(Object& object, std::uintptr_t handle) noexcept;
  void undefine(std::uintptr_t handle) noexcept {
    predefined_[handle] = nullptr;
    if (const Object* hidden = find_hidden_object(handle)) forget_hidden(*hidden);
  }
  /// The predefined object behind a constant below 1024 whatever its kind; nullptr if there is none
  /// (yet).
  [[nodiscard]] Object* predefined(std::uintptr_t handle) const noexcept {
    if (handle >= predefined_limit) return nullptr;
    return predefined_[handle] != nullptr ? predefined_[handle] : find_hidden_object(handle);
  }

  /// From now on `find` fails for the handle, which stays the user's: a communicator that was
  /// revoked. So calls that must not use it cost those that may nothing.
  template <class T>
  void hide(T& object) {
    if (object.predefined) {
      predefined_[object.handle] = nullptr;
    } else {
      arena(T::object_kind).retire(&object);
    }
    hidden_.push_back(&object);
  }
  /// The hidden object behind a handle; nullptr if there is none.
  template <class T>
  [[nodiscard]] T* find_hidden(std::uintptr_t handle) const noexcept {
    Object* object = find_hidden_object(handle);
    return object != nullptr && object->kind == T::object_kind ? static_cast<T*>(object) : nullptr;
  }
  /// As find, also where the object is hidden.
  template <class T>
  [[nodiscard]] T* find_any(std::uintptr_t handle) const noexcept {
    T* const object = find<T>(handle);
    return object != nullptr ? object : find_hidden<T>(handle);
  }
  /// A hidden object ends.
  void forget_hidden(const Object& object) noexcept { std::erase(hidden_, &object); }
  /// Whether there is a live object of its kind, with a handle, at this address, which may be any.
  template <class T>
  [[nodiscard]] bool holds(const T* object) const noexcept {
    return arena(T::object_kind).holds(object);
  }

  /// The user gave the handle back: `find` fails from now on, and the user's reference is dropped.
  /// Predefined objects cannot be freed; the caller has checked that.
  template <class T>
  void retire(T& object) noexcept {
    arena(T::object_kind).retire(&object);
    release(object);
  }

  template <class T>
  void acquire(T& object) noexcept {
    ++object.references;
  }
  /// Drops one reference; the last one destroys the object. Predefined objects are not counted down
  /// to destruction.
  template <class T>
  void release(T& object) noexcept {
    if (--object.references != 0 || object.predefined) return;
    SlotArena& home = arena(T::object_kind);
    object.~T();
    home.free(&object);
  }

  /// Hands the handle of an existing object to the user once more (MPI_Comm_get_errhandler,
  /// MPI_Type_get_contents): works also after the user freed it, as long as something in the
  /// library uses the object. T has a member `user_handles`. Each handle given is taken back by
  /// `give_back`.
  template <class T>
  void share(T& object) noexcept {
    if (object.predefined) return;
    if (object.user_handles++ == 0) arena(T::object_kind).revive(&object);
    acquire(object);
  }
  /// The user freed one handle of an object that `share` may have handed out several times.
  template <class T>
  void give_back(T& object) noexcept {
    if (object.predefined) return;
    if (--object.user_handles == 0) arena(T::object_kind).retire(&object);
    release(object);
  }

  /// Whether `test(const T&)` is true of an object that has a handle and is not predefined. Looks
  /// at all of them.
  template <class T, class Test>
  [[nodiscard]] bool any(Test&& test) const noexcept {
    return arena(T::object_kind).any([&](void* object) { return test(*static_cast<T*>(object)); });
  }

  /// Objects of one kind that are alive, for leak reports and tests.
  [[nodiscard]] std::size_t live(ObjectKind kind) const noexcept { return arena(kind).live(); }

  /// Memory that the objects of all kinds take.
  [[nodiscard]] std::size_t object_bytes() const noexcept;

  /// All communicators that exist, in no order.
  std::vector<Comm*> comms;

  base::EngineLock lock;

  /// What a Fortran layer said of its compiler (MPI_Abi_set_fortran_info); nullptr: nothing yet.
  Info* fortran_facts = nullptr;

  // Set by runtime; nullptr where not initialised (yet, or any more).
  ErrorState* errors = nullptr;
  Keyvals* keyvals = nullptr;
  PredefinedDatatypes* datatypes = nullptr;
  device::Device* device = nullptr;
  Schedules* schedules = nullptr;
  FileState* files = nullptr;
  Recovery* recovery = nullptr;
  World* world = nullptr;
  PortService* ports = nullptr;       ///< see mpi/spawn
  LaunchService* launcher = nullptr;  ///< see mpi/spawn
  /// Where calls are recorded, while MPI runs and they are. Calls that any thread may make at any
  /// time look at it beside MPI_Init and MPI_Finalize.
  std::atomic<base::Trace*> trace{nullptr};
  /// Networks are closed for a checkpoint: no call that needs them is possible.
  std::atomic<bool> quiet{false};
  /// FULMAR_CHECK=types, while MPI runs; see api/receive_check.h.
  std::atomic<bool> checks_types{false};

  /// What MPI_Buffer_attach attached to the process; see mpi/p2p/buffered.h.
  SendBuffer* send_buffer = nullptr;
  /// What MPI_Session_attach_buffer attached, by the handle of the session.
  struct SessionBuffer {
    std::uintptr_t session;
    SendBuffer* buffer;
  };
  std::vector<SessionBuffer> session_buffers;

  /// A one-sided operation has failed with proc_failed. Communicators may learn of that failure later.
  bool told_failure = false;

  /// Handles of sends that were complete at once, and the request that all of them name; made with
  /// the first of them (mpi/request).
  DoneHandles done_handles;
  Object* done_request = nullptr;

 private:
  [[nodiscard]] Object* find_hidden_object(std::uintptr_t handle) const noexcept;

  using SlotArena = base::SlotArena;
  static constexpr std::uintptr_t predefined_limit = 1024;
  static constexpr int first_number = 4096;
  /// Above the numbers of the arena: four million requests with 64 generations.
  static constexpr int first_done_number = 1 << 30;
  /// Room for one object of each kind, in the order of ObjectKind; `make` checks it.
  static constexpr std::array<std::size_t, object_kind_count> slot_bytes = {
      192, 960, 192, 576, 192, 448, 192, 192, 192, 448, 448};

  [[nodiscard]] SlotArena& arena(ObjectKind kind) const noexcept {
    return const_cast<SlotArena&>(arenas_[static_cast<std::size_t>(kind)]);
  }

  std::array<SlotArena, object_kind_count> arenas_;
  std::array<Object*, predefined_limit> predefined_{};
  std::vector<Object*> hidden_;
};

/// Writes an object's ABI handle.
template <class Handle>
[[nodiscard]] Handle handle_cast(const Object& object) noexcept {
  return reinterpret_cast<Handle>(object.handle);
}

}  // namespace fulmar::mpi
