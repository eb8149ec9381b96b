// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// Handles, names and constants of another ABI: what our library gives is what the program's header says; numbers of
// Fortran; structs with bounds; contents of datatypes.
#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

#define FULMAR_ROUND_TRIP(Kind, name, handle) \
  expect(name##_f2c(name##_c2f(handle)) == (handle), #handle " through Fortran")

void fortran_numbers() {
  FULMAR_ROUND_TRIP(MPI_Comm, MPI_Comm, MPI_COMM_WORLD);
  FULMAR_ROUND_TRIP(MPI_Comm, MPI_Comm, MPI_COMM_NULL);
  FULMAR_ROUND_TRIP(MPI_Group, MPI_Group, MPI_GROUP_EMPTY);
  FULMAR_ROUND_TRIP(MPI_Datatype, MPI_Type, MPI_DOUBLE_PRECISION);
  FULMAR_ROUND_TRIP(MPI_Datatype, MPI_Type, MPI_DATATYPE_NULL);
  FULMAR_ROUND_TRIP(MPI_Op, MPI_Op, MPI_SUM);
  FULMAR_ROUND_TRIP(MPI_Request, MPI_Request, MPI_REQUEST_NULL);
  FULMAR_ROUND_TRIP(MPI_File, MPI_File, MPI_FILE_NULL);
  FULMAR_ROUND_TRIP(MPI_Win, MPI_Win, MPI_WIN_NULL);
  FULMAR_ROUND_TRIP(MPI_Info, MPI_Info, MPI_INFO_NULL);
  FULMAR_ROUND_TRIP(MPI_Errhandler, MPI_Errhandler, MPI_ERRORS_ARE_FATAL);
  FULMAR_ROUND_TRIP(MPI_Message, MPI_Message, MPI_MESSAGE_NO_PROC);
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  FULMAR_ROUND_TRIP(MPI_Comm, MPI_Comm, twin);
  int result = -1;
  MPI_Comm_compare(MPI_COMM_WORLD, twin, &result);
  expect_equal(result, MPI_CONGRUENT, "a duplicate is congruent");
  MPI_Comm_compare(twin, twin, &result);
  expect_equal(result, MPI_IDENT, "the same");
  MPI_Comm_free(&twin);
  expect(twin == MPI_COMM_NULL, "freed");
  MPI_Status status;
  std::memset(&status, 0, sizeof status);
  status.MPI_SOURCE = 5;
  status.MPI_TAG = 6;
  MPI_Fint numbers[MPI_F_STATUS_SIZE];
  static_assert(sizeof numbers == sizeof status);
  MPI_Status_c2f(&status, numbers);
  expect_equal(numbers[MPI_F_SOURCE], 5, "MPI_SOURCE in Fortran");
  expect_equal(numbers[MPI_F_TAG], 6, "MPI_TAG in Fortran");
  MPI_Status back;
  MPI_Status_f2c(numbers, &back);
  expect_equal(back.MPI_TAG, 6, "MPI_TAG of Fortran");
}

void groups_and_topologies() {
  MPI_Group world;
  MPI_Group nobody;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 0, nullptr, &nobody);
  expect(nobody == MPI_GROUP_EMPTY, "the empty group");
  const int ranks[2] = {0, MPI_PROC_NULL};
  int found[2] = {-9, -9};
  MPI_Group_translate_ranks(world, 2, ranks, nobody, found);
  expect_equal(found[0], MPI_UNDEFINED, "a rank that is not there");
  expect_equal(found[1], MPI_PROC_NULL, "nobody");
  MPI_Group_free(&world);
  const int dims = 1;
  const int periods = 0;
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_SELF, 1, &dims, &periods, 0, &line);
  int status = -1;
  MPI_Topo_test(line, &status);
  expect_equal(status, MPI_CART, "the topology");
  MPI_Topo_test(MPI_COMM_SELF, &status);
  expect_equal(status, MPI_UNDEFINED, "no topology");
  int before = 0;
  int after = 0;
  MPI_Cart_shift(line, 0, 1, &before, &after);
  expect(before == MPI_PROC_NULL && after == MPI_PROC_NULL, "nobody beside a line of one");
  MPI_Comm_free(&line);
  MPI_Comm none;
  MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
  expect(none == MPI_COMM_NULL, "no colour, no communicator");
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  expect(node != MPI_COMM_NULL, "the node");
  MPI_Comm_free(&node);
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, nullptr, MPI_WEIGHTS_EMPTY, 0, nullptr,
                                 MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
  int in = 0;
  int out = 0;
  int weighted = -1;
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  expect_equal(weighted, 1, "empty weights are weights");
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, nullptr, MPI_UNWEIGHTED, 0, nullptr,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  expect_equal(weighted, 0, "no weights");
  MPI_Comm_free(&graph);
}

void datatypes() {
  const int sizes[2] = {4, 6};
  const int parts[2] = {2, 3};
  const int starts[2] = {1, 1};
  MPI_Datatype part;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &part);
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = -1;
  MPI_Type_get_envelope(part, &integers, &addresses, &types, &combiner);
  expect_equal(combiner, MPI_COMBINER_SUBARRAY, "the combiner");
  int content[16];
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(part, integers, addresses, types, content, nullptr, &inner);
  expect_equal(content[7], MPI_ORDER_FORTRAN, "the order");
  expect(inner == MPI_INT, "the inner datatype");
  MPI_Type_free(&part);
  const int distributions[1] = {MPI_DISTRIBUTE_BLOCK};
  const int arguments[1] = {MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[1] = {1};
  MPI_Type_create_darray(1, 0, 1, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT,
                         &part);
  MPI_Type_get_envelope(part, &integers, &addresses, &types, &combiner);
  MPI_Type_get_contents(part, integers, addresses, types, content, nullptr, &inner);
  expect_equal(content[4], MPI_DISTRIBUTE_BLOCK, "the distribution");
  expect_equal(content[5], MPI_DISTRIBUTE_DFLT_DARG, "its argument");
  expect_equal(content[7], MPI_ORDER_C, "the order of the distributed array");
  MPI_Type_free(&part);
  MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &inner);
  int bytes = 0;
  MPI_Type_size(inner, &bytes);
  expect_equal(bytes, 8, "a real number of 8 bytes");
  int lengths[3] = {1, 1, 1};
  MPI_Aint places[3] = {-8, 0, 24};
  MPI_Datatype entries[3] = {MPI_LB, MPI_INT, MPI_UB};
  MPI_Type_struct(3, lengths, places, entries, &part);
  MPI_Aint extent = 0;
  MPI_Aint low = 0;
  MPI_Type_extent(part, &extent);
  MPI_Type_lb(part, &low);
  expect_equal(extent, 32, "the extent between two bounds");
  expect_equal(low, -8, "the lower bound");
  MPI_Type_free(&part);
}

void names() {
  char name[MPI_MAX_OBJECT_NAME + 1];
  std::memset(name, 'x', sizeof name);
  int length = -1;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  expect(std::strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "the name");
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(library, &length);
  expect(std::strncmp(library, "Fulmar", 6) == 0, "whose library it is");
  int version = 0;
  int subversion = -1;
  MPI_Get_version(&version, &subversion);
  expect(version == MPI_VERSION && subversion == MPI_SUBVERSION,
         "the version of the program's header");
  char text[MPI_MAX_ERROR_STRING + 1];
  text[MPI_MAX_ERROR_STRING] = 'x';
  MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
  expect(text[MPI_MAX_ERROR_STRING] == 'x' && std::strlen(text) == static_cast<unsigned>(length),
         "a text");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  char key[MPI_MAX_INFO_KEY + 1];
  MPI_Info_get_nthkey(info, 0, key);
  expect(std::strcmp(key, "key") == 0, "a key");
  MPI_Info_free(&info);
  expect(info == MPI_INFO_NULL, "the info is freed");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fortran_numbers();
  groups_and_topologies();
  datatypes();
  names();
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
