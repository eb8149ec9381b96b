// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/cxx/mpich/errhandlers.h"

#include <pthread.h>

#include "compat/cxx/mpich/classes.h"

// Error handlers of MPICH's C++ bindings. A function of C++ gets the code of one of C, whose error handler has run by then, and
// passes it to Call_errhandler; this is where MPI::Exception is thrown. MPI::ERRORS_THROW_EXCEPTIONS is an error handler of C that
// returns, one for each kind of object, so that the code arrives here.
//
// Programs are linked to libmpicxx.so.12 ahead of libmpi.so.12, so the functions of C defined below are those that they call.

using fulmar::compat::cxx::throw_exceptions;

namespace {

void let_return(MPI_Comm* /*comm*/, int* /*code*/, ...) {}
void let_return_win(MPI_Win* /*win*/, int* /*code*/, ...) {}
void let_return_file(MPI_File* /*file*/, int* /*code*/, ...) {}

/// The error handler of C that stands for MPI::ERRORS_THROW_EXCEPTIONS at one kind of object. Made when it is first wanted.
class Stand {
 public:
  template <class Create, class Function>
  int get(Create create, Function* function, MPI_Errhandler* handler) {
    pthread_mutex_lock(&lock_);
    const int code = handler_ == MPI_ERRHANDLER_NULL ? create(function, &handler_)
                                                     : static_cast<int>(MPI_SUCCESS);
    *handler = handler_;
    pthread_mutex_unlock(&lock_);
    return code;
  }
  [[nodiscard]] bool is(MPI_Errhandler handler) {
    pthread_mutex_lock(&lock_);
    const bool equal = handler == handler_ && handler != MPI_ERRHANDLER_NULL;
    pthread_mutex_unlock(&lock_);
    return equal;
  }

 private:
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;  // under lock_
};
Stand of_comm;
Stand of_win;
Stand of_file;

template <class Handle, class Set, class Create, class Function>
int set_errhandler(Handle object, MPI_Errhandler handler, Set set, Stand& stand, Create create,
                   Function* function) {
  if (handler != throw_exceptions) return set(object, handler);
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  const int code = stand.get(create, function, &own);
  return code == MPI_SUCCESS ? set(object, own) : code;
}

template <class Handle, class Get>
int get_errhandler(Handle object, MPI_Errhandler* handler, Get get, Stand& stand) {
  const int code = get(object, handler);
  if (code != MPI_SUCCESS || !stand.is(*handler)) return code;
  PMPI_Errhandler_free(handler);
  *handler = throw_exceptions;
  return MPI_SUCCESS;
}

template <class Handle, class Get, class Call>
void call_errhandler(Handle object, int errorcode, Get get, Call call) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (get(object, &handler) != MPI_SUCCESS) return;
  if (handler == throw_exceptions) throw MPI::Exception(errorcode);
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  call(object, errorcode);
}

}  // namespace

#pragma GCC visibility push(default)

namespace MPI {

void Comm::Call_errhandler(int errorcode) const {
  const MPI_Comm comm = handle != MPI_COMM_NULL ? handle : MPI_COMM_WORLD;
  call_errhandler(comm, errorcode, MPI_Comm_get_errhandler, PMPI_Comm_call_errhandler);
}
void Win::Call_errhandler(int errorcode) const {
  call_errhandler(handle, errorcode, MPI_Win_get_errhandler, PMPI_Win_call_errhandler);
}
void File::Call_errhandler(int errorcode) const {
  call_errhandler(handle, errorcode, MPI_File_get_errhandler, PMPI_File_call_errhandler);
}
void MPIR_Call_world_errhand(int errorcode) {
  const Intracomm world(MPI_COMM_WORLD);
  world.Call_errhandler(errorcode);
}

}  // namespace MPI

extern "C" {

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  return set_errhandler(comm, errhandler, PMPI_Comm_set_errhandler, of_comm,
                        PMPI_Comm_create_errhandler, let_return);
}
int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  return set_errhandler(win, errhandler, PMPI_Win_set_errhandler, of_win,
                        PMPI_Win_create_errhandler, let_return_win);
}
int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  return set_errhandler(file, errhandler, PMPI_File_set_errhandler, of_file,
                        PMPI_File_create_errhandler, let_return_file);
}
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return get_errhandler(comm, errhandler, PMPI_Comm_get_errhandler, of_comm);
}
int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  return get_errhandler(win, errhandler, PMPI_Win_get_errhandler, of_win);
}
int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  return get_errhandler(file, errhandler, PMPI_File_get_errhandler, of_file);
}
int MPI_Errhandler_free(MPI_Errhandler* errhandler) {
  if (errhandler == nullptr || *errhandler != throw_exceptions)
    return PMPI_Errhandler_free(errhandler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

}  // extern "C"

#pragma GCC visibility pop
