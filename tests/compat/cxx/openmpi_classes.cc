// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// ranks: 2
// The C++ bindings of Open MPI 4: what its header has inline, as far as it is needed here, over libmpi_cxx.so.40. Tables of
// virtual functions are this program's.
#include <mpi.h>

#include "support/check.h"

extern "C" {
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* datatype,
                               MPI_User_function* function);
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function* function);
int ompi_mpi_cxx_grequest_query_fn_intercept(void* state, MPI_Status* status);
int ompi_mpi_cxx_grequest_free_fn_intercept(void* state);
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void* state, int cancelled);
}

namespace MPI {

class Errhandler {
 public:
  virtual ~Errhandler() {}
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
};
class Datatype {
 public:
  virtual ~Datatype();  // brings the class's table here, not into the library
  virtual int size() const {
    int bytes = 0;
    MPI_Type_size(handle, &bytes);
    return bytes;
  }
  virtual void Free();
  MPI_Datatype handle = MPI_DATATYPE_NULL;
};
Datatype::~Datatype() = default;
class Op {
 public:
  virtual ~Op() {}
  using Function = void(const void* in, void* inout, int length, const Datatype& datatype);
  void init(Function* function) {
    MPI_Op_create(
        reinterpret_cast<MPI_User_function*>(reinterpret_cast<void*>(ompi_mpi_cxx_op_intercept)), 1,
        &handle);
    ompi_op_set_cxx_callback(
        handle, reinterpret_cast<MPI_User_function*>(reinterpret_cast<void*>(function)));
  }
  MPI_Op handle = MPI_OP_NULL;
};
class Comm_Null {
 public:
  virtual ~Comm_Null() {}
  virtual int kind() const { return 0; }
  MPI_Comm handle = MPI_COMM_NULL;
};
class Comm : public Comm_Null {
 public:
  Comm();
  Comm(const Comm_Null& other);
  int kind() const override { return 1; }
  using Copy = int(const Comm& comm, int keyval, void* extra, void* in, void* out, bool& flag);
  using Remove = int(Comm& comm, int keyval, void* value, void* extra);
  static int do_create_keyval(int (*c_copy)(MPI_Comm, int, void*, void*, void*, int*),
                              int (*c_remove)(MPI_Comm, int, void*, void*), Copy* copy,
                              Remove* remove, void* extra, int& keyval);
  static Errhandler Create_errhandler(void (*function)(Comm&, int*, ...));
};
class Intracomm : public Comm {
 public:
  int kind() const override;
};
int Intracomm::kind() const { return 2; }
class Cartcomm : public Intracomm {
 public:
  int kind() const override;
};
int Cartcomm::kind() const { return 3; }
class Status {
 public:
  virtual ~Status();
  MPI_Status status{};
};
Status::~Status() = default;

extern Intracomm COMM_WORLD;
extern const Datatype INT;
extern const Op SUM;
extern Errhandler ERRORS_THROW_EXCEPTIONS;
extern void* const IN_PLACE;
extern int mpi_errno;
void InitializeIntercepts();

}  // namespace MPI

namespace {

using test::expect;

int size_in_operation;

void add_twice(const void* in, void* inout, int length, const MPI::Datatype& datatype) {
  size_in_operation = datatype.size();
  for (int i = 0; i < length; ++i)
    static_cast<int*>(inout)[i] += 2 * static_cast<const int*>(in)[i];
}
void larger(const void* in, void* inout, int length, const MPI::Datatype& /*datatype*/) {
  for (int i = 0; i < length; ++i) {
    const int other = static_cast<const int*>(in)[i];
    if (static_cast<int*>(inout)[i] < other) static_cast<int*>(inout)[i] = other;
  }
}

void check_operations(int rank) {
  MPI::Op twice;
  MPI::Op most;
  twice.init(add_twice);
  most.init(larger);
  int mine = rank + 1;
  int result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI::INT.handle, most.handle, MPI::COMM_WORLD.handle);
  expect(result == 2, "result == 2");
  MPI_Allreduce(&mine, &result, 1, MPI::INT.handle, twice.handle, MPI::COMM_WORLD.handle);
  expect(result == 4 || result == 5, "result == 4 || result == 5");
  expect(size_in_operation == 4, "size_in_operation == 4");
  MPI_Op_free(&twice.handle);
  MPI_Op_free(&most.handle);
  for (int i = 0; i < 1000; ++i) {  // more than exist at a time
    MPI::Op again;
    again.init(larger);
    expect(again.handle != MPI_OP_NULL, "again.handle != MPI_OP_NULL");
    MPI_Op_free(&again.handle);
  }
  MPI_Allreduce(MPI::IN_PLACE, &mine, 1, MPI::INT.handle, MPI::SUM.handle, MPI::COMM_WORLD.handle);
  expect(mine == 3, "mine == 3");
}

int copies;
int removals;
int kind_of_copied;

int copy(const MPI::Comm& comm, int /*keyval*/, void* /*extra*/, void* in, void* out, bool& flag) {
  ++copies;
  kind_of_copied = comm.kind();
  *static_cast<void**>(out) = in;
  flag = true;
  return MPI_SUCCESS;
}
int remove(MPI::Comm& /*comm*/, int /*keyval*/, void* /*value*/, void* extra) {
  removals += *static_cast<int*>(extra);
  return MPI_SUCCESS;
}

void check_attributes() {
  int extra = 10;
  int keyval = MPI_KEYVAL_INVALID;
  expect(MPI::Comm::do_create_keyval(nullptr, nullptr, copy, remove, &extra, keyval) == MPI_SUCCESS,
         "a key was made");
  int two[] = {2};
  int periodic[] = {1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI::COMM_WORLD.handle, 1, two, periodic, 0, &cart);
  MPI_Comm_set_attr(cart, keyval, &extra);
  MPI_Comm copied = MPI_COMM_NULL;
  MPI_Comm_dup(cart, &copied);
  expect(copies == 1, "copies == 1");
  expect(kind_of_copied == 3, "kind_of_copied == 3");  // the class that the communicator has
  MPI_Comm_free(&copied);
  MPI_Comm_free(&cart);
  expect(removals == 20, "removals == 20");
  MPI_Comm_free_keyval(&keyval);
}

int handled_code;
int handled_kind;

void handle_error(MPI::Comm& comm, int* code, ...) {
  handled_code = *code;
  handled_kind = comm.kind();
}

void check_errors() {
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(handle_error);
  MPI_Comm_set_errhandler(MPI::COMM_WORLD.handle, handler.handle);
  int value = 0;
  MPI_Send(&value, 1, MPI::INT.handle, 17, 0, MPI::COMM_WORLD.handle);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(handled_code, &error_class);
  expect(error_class == MPI_ERR_RANK, "error_class == MPI_ERR_RANK");
  expect(handled_kind == 2, "handled_kind == 2");
  MPI_Comm_set_errhandler(MPI::COMM_WORLD.handle, MPI::ERRORS_THROW_EXCEPTIONS.handle);
  MPI_Send(&value, 1, MPI::INT.handle, 0, -5, MPI::COMM_WORLD.handle);
  MPI_Error_class(MPI::mpi_errno, &error_class);
  expect(error_class == MPI_ERR_TAG, "error_class == MPI_ERR_TAG");
  MPI_Comm_set_errhandler(MPI::COMM_WORLD.handle, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler.handle);
}

struct Grequest {
  void* extra;
  int (*query)(void*, MPI::Status&);
  int (*free)(void*);
  int (*cancel)(void*, bool);
};

void check_requests() {
  auto* state =
      new Grequest{nullptr,
                   [](void*, MPI::Status& status) {
                     status.status.MPI_TAG = 8;
                     MPI_Status_set_elements(&status.status, MPI_BYTE, 3);
                     return MPI_SUCCESS;
                   },
                   [](void*) { return MPI_SUCCESS; }, [](void*, bool) { return MPI_SUCCESS; }};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(ompi_mpi_cxx_grequest_query_fn_intercept,
                     ompi_mpi_cxx_grequest_free_fn_intercept,
                     ompi_mpi_cxx_grequest_cancel_fn_intercept, state, &request);
  MPI_Grequest_complete(request);
  MPI_Status status;
  MPI_Wait(&request, &status);
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  expect(bytes == 3, "bytes == 3");
  expect(status.MPI_TAG == 8, "status.MPI_TAG == 8");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI::InitializeIntercepts();
  int rank = 0;
  MPI_Comm_rank(MPI::COMM_WORLD.handle, &rank);
  const MPI::Comm_Null& any = MPI::COMM_WORLD;
  expect(any.kind() == 2, "any.kind() == 2");
  expect(MPI::Cartcomm().handle == MPI_COMM_NULL, "a communicator that is none");
  expect(MPI::Comm(any).handle == MPI_COMM_WORLD, "MPI::Comm(any).handle == MPI_COMM_WORLD");
  check_operations(rank);
  check_attributes();
  check_errors();
  check_requests();
  MPI::Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair.handle);
  pair.Free();
  expect(pair.handle == MPI_DATATYPE_NULL, "pair.handle == MPI_DATATYPE_NULL");
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
