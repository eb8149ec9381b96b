// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A file system that interrupts calls, does half of what it is asked for, and fails (faulty_calls.h).
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "faulty_calls.h"
#include "support/files.h"

namespace {

using faulty::Fault;
using test::expect;
using test::expect_class;
using test::expect_equal;
using test::succeeds;

constexpr int count = 20000;

struct Case {
  MPI_File file;
  std::vector<int> values = std::vector<int>(count);
  std::vector<int> back = std::vector<int>(count);
  int rank = test::rank_of(MPI_COMM_WORLD);

  explicit Case(MPI_File its_file) : file(its_file) {
    std::iota(values.begin(), values.end(), rank * count);
  }
  int write(bool collective, MPI_Datatype type, int elements) {
    const auto call = collective ? MPI_File_write_at_all : MPI_File_write_at;
    return call(file, 0, values.data(), elements, type, MPI_STATUS_IGNORE);
  }
  int read(bool collective, MPI_Datatype type, int elements) {
    const auto call = collective ? MPI_File_read_at_all : MPI_File_read_at;
    return call(file, 0, back.data(), elements, type, MPI_STATUS_IGNORE);
  }
};

void everything_arrives(Case& all, Fault what, MPI_Datatype pieces) {
  for (const bool collective : {false, true}) {
    for (const bool in_pieces : {false, true}) {
      MPI_Datatype type = in_pieces ? pieces : MPI_INT;
      const int elements = in_pieces ? count / 2048 : count;
      faulty::set(what);
      succeeds(all.write(collective, type, elements), "write");
      faulty::set(Fault::none);
      MPI_Barrier(MPI_COMM_WORLD);
      std::ranges::fill(all.back, -1);
      faulty::set(what);
      succeeds(all.read(collective, type, elements), "read");
      faulty::set(Fault::none);
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool is_data = !in_pieces || (i < elements * 2048 && i % 2048 < 1024);
        const int expected = is_data ? all.values[at] : -1;
        if (all.back[at] != expected) {
          expect_equal(all.back[at], expected, "a value");
          break;
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void failures_are_told(Case& all) {
  const int size = test::size_of(MPI_COMM_WORLD);
  for (int failing = 0; failing < size; ++failing) {
    for (int before : {0, 2}) {
      if (all.rank == failing) faulty::set(Fault::no_space, before);
      const int code = all.write(true, MPI_INT, count);
      // Which ranks write is the library's choice; if one of them fails, all get the error.
      std::array<int, 2> sums = {code != MPI_SUCCESS ? 1 : 0, faulty::state().failed};
      faulty::set(Fault::none);
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      expect_equal(sums[0], sums[1] != 0 ? size : 0, "an error at all ranks or at none");
      if (code != MPI_SUCCESS) {
        expect_class(code, MPI_ERR_NO_SPACE, "the class");
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(code, text, &length);
        expect(std::strstr(text, "offset") != nullptr, "the text says where");
      }
      if (failing == 0 && before == 0) expect_equal(sums[0], size, "rank 0 writes in any case");
    }
  }
  faulty::set(Fault::damaged);
  expect_class(all.read(false, MPI_INT, count), MPI_ERR_IO, "a read that fails");
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iread_at(all.file, 0, all.back.data(), count, MPI_INT, &request), "iread_at");
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_IO, "the error comes with the end");
  faulty::set(Fault::none);
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(all.write(true, MPI_INT, count), "the file goes on");
  succeeds(all.read(true, MPI_INT, count), "the file goes on");
  expect(all.back == all.values, "the data");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const char* use : {"enable", "disable"}) {
    const test::Folder folder;
    test::Hints hints;
    hints.set("romio_cb_write", use).set("romio_cb_read", use).set("cb_buffer_size", "65536");
    hints.set("fulmar_mapped", "disable");  // what fails here are calls of the system
    MPI_File file =
        test::open_file(MPI_COMM_WORLD, folder.file("faults"), test::scratch, hints.info());
    const int size = test::size_of(MPI_COMM_WORLD);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * size, &type);
    MPI_Type_commit(&type);
    MPI_Datatype half = MPI_DATATYPE_NULL;
    MPI_Datatype pieces = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1024, MPI_INT, &half);
    MPI_Type_create_resized(half, 0, 8192, &pieces);
    MPI_Type_commit(&pieces);
    Case all(file);
    for (const Fault what : {Fault::interrupted, Fault::halved}) {
      // Without gaps first, where vectored calls are made.
      succeeds(MPI_File_set_view(file, MPI_Offset{4} * count * all.rank, MPI_INT, MPI_INT, "native",
                                 MPI_INFO_NULL),
               "set_view");
      everything_arrives(all, what, pieces);
      succeeds(MPI_File_set_view(file, 4 * all.rank, MPI_INT, type, "native", MPI_INFO_NULL),
               "set_view");
      everything_arrives(all, what, pieces);
    }
    failures_are_told(all);
    MPI_Type_free(&half);
    MPI_Type_free(&pieces);
    MPI_Type_free(&type);
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
