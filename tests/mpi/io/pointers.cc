// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Shared pointers and ordered access; non-blocking and split collective calls.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

int world_rank() { return test::rank_of(MPI_COMM_WORLD); }
int world_size() { return test::size_of(MPI_COMM_WORLD); }

std::vector<int> integers_of(const std::string& name) {
  const std::vector<char> content = test::content_of(name);
  std::vector<int> values(content.size() / 4);
  std::copy(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(4 * values.size()),
            reinterpret_cast<char*>(values.data()));
  return values;
}

void shared_writes_never_overlap(const Folder& folder, const char* place) {
  constexpr int rounds = 50;
  const std::string name = folder.file("shared");
  test::Hints hints;
  hints.set("fulmar_shared_pointer", place);
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch, hints.info());
  expect(test::Hints::value(file, "fulmar_shared_pointer") == place, "where the pointer is");
  succeeds(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "set_view");
  for (int i = 0; i < rounds; ++i) {
    // Rank r writes r + 1 times the same number at once.
    const std::vector<int> values(static_cast<std::size_t>(world_rank() + 1),
                                  world_rank() * 1000 + i);
    if (i % 2 == 0) {
      succeeds(
          MPI_File_write_shared(file, values.data(), world_rank() + 1, MPI_INT, MPI_STATUS_IGNORE),
          "write_shared");
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      succeeds(MPI_File_iwrite_shared(file, values.data(), world_rank() + 1, MPI_INT, &request),
               "iwrite_shared");
      succeeds(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset position = -1;
  succeeds(MPI_File_get_position_shared(file, &position), "get_position_shared");
  expect_equal(position, rounds * world_size() * (world_size() + 1) / 2, "all together");
  const std::vector<int> values = integers_of(name);
  std::vector<int> next(static_cast<std::size_t>(world_size()), 0);
  for (std::size_t at = 2; at < values.size();) {
    const int rank = values[at] / 1000;
    expect(rank >= 0 && rank < world_size(), "a number of some rank");
    if (rank < 0 || rank >= world_size()) break;
    int& expected = next[static_cast<std::size_t>(rank)];
    for (int i = 0; i <= rank && at < values.size(); ++i, ++at) {
      expect_equal(values[at], rank * 1000 + expected, "in one piece, and in order");
    }
    ++expected;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
  int value = -1;
  succeeds(MPI_File_read_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "read_shared");
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(sum, std::accumulate(values.begin() + 2, values.begin() + 2 + world_size(), 0),
               "each of the first numbers was read once");
  succeeds(MPI_File_seek_shared(file, -1, MPI_SEEK_END), "seek_shared to the end");
  succeeds(MPI_File_get_position_shared(file, &position), "get_position_shared");
  expect_equal(position, values.size() - 3, "one before the end");
  if (world_size() > 1) {
    expect_class(MPI_File_seek_shared(file, world_rank(), MPI_SEEK_SET), MPI_ERR_NOT_SAME,
                 "ranks differ");
  }
  succeeds(MPI_File_close(&file), "close");
}

void ordered_calls_follow_the_ranks(const Folder& folder, const char* place) {
  const std::string name = folder.file("ordered");
  test::Hints hints;
  hints.set("fulmar_shared_pointer", place);
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch, hints.info());
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "set_view");
  std::vector<int> expected;
  for (int round = 0; round < 4; ++round) {
    std::vector<int> mine(static_cast<std::size_t>((world_rank() + round) % 3),
                          10 * round + world_rank());
    for (int rank = 0; rank < world_size(); ++rank) {
      expected.insert(expected.end(), static_cast<std::size_t>((rank + round) % 3),
                      10 * round + rank);
    }
    const int count = static_cast<int>(mine.size());
    MPI_Status status;
    if (round % 2 == 0) {
      succeeds(MPI_File_write_ordered(file, mine.data(), count, MPI_INT, &status), "write_ordered");
    } else {
      succeeds(MPI_File_write_ordered_begin(file, mine.data(), count, MPI_INT), "begin");
      succeeds(MPI_File_write_ordered_end(file, mine.data(), &status), "end");
    }
    expect_equal(test::count_of(status, MPI_INT), count, "count");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect(integers_of(name) == expected, "one rank after the other");
  succeeds(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
  std::vector<int> back(static_cast<std::size_t>(world_rank() % 3), -1);
  succeeds(MPI_File_read_ordered(file, back.data(), world_rank() % 3, MPI_INT, MPI_STATUS_IGNORE),
           "read_ordered");
  for (const int value : back) expect_equal(value, world_rank(), "the own part");
  succeeds(MPI_File_close(&file), "close");
}

void requests_complete(const Folder& folder) {
  constexpr int many = 32;
  const std::string name = folder.file("requests");
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch);
  const MPI_Offset base = MPI_Offset{world_rank()} * many * 4;
  std::vector<int> values(many);
  std::iota(values.begin(), values.end(), 100 * world_rank());
  std::vector<MPI_Request> requests(many, MPI_REQUEST_NULL);
  for (int i = 0; i < many; ++i) {
    succeeds(MPI_File_iwrite_at(file, base + 4 * i, &values[static_cast<std::size_t>(i)], 1,
                                MPI_INT, &requests[static_cast<std::size_t>(i)]),
             "iwrite_at");
  }
  std::vector<MPI_Status> statuses(many);
  succeeds(MPI_Waitall(many, requests.data(), statuses.data()), "waitall");
  for (const MPI_Status& status : statuses)
    expect_equal(test::count_of(status, MPI_INT), 1, "count");
  succeeds(MPI_File_seek(file, base, MPI_SEEK_SET), "seek");
  std::vector<int> back(many, -1);
  for (int i = 0; i < many; ++i) {
    succeeds(MPI_File_iread(file, &back[static_cast<std::size_t>(i)], 1, MPI_INT,
                            &requests[static_cast<std::size_t>(i)]),
             "iread");
  }
  for (int done = 0; done < many;) {
    std::vector<int> indices(many);
    int count = 0;
    succeeds(MPI_Testsome(many, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE),
             "testsome");
    done += std::max(count, 0);
  }
  expect(back == values, "each read has its data");
  // A request that is given up goes on.
  const int last = -5;
  succeeds(MPI_File_iwrite_at(file, base, &last, 1, MPI_INT, requests.data()), "iwrite_at");
  succeeds(MPI_Request_free(requests.data()), "request_free");
  MPI_Barrier(MPI_COMM_WORLD);
  // Errors come with the completion, to the handler of the file.
  MPI_File closed = open_file(MPI_COMM_SELF, name, MPI_MODE_RDONLY);
  expect_class(MPI_File_iwrite(closed, &last, 1, MPI_INT, requests.data()), MPI_ERR_READ_ONLY,
               "iwrite to a file that can be read only");
  succeeds(MPI_File_close(&closed), "close");
  succeeds(MPI_File_close(&file), "close");
}

void collective_requests_complete(const Folder& folder) {
  constexpr int count = 1000;
  const std::string name = folder.file("collective");
  test::Hints hints;
  hints.set("romio_cb_write", "enable")
      .set("romio_cb_read", "enable")
      .set("cb_buffer_size", "4096");
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch, hints.info());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{4} * world_size(), &type);
  MPI_Type_commit(&type);
  succeeds(MPI_File_set_view(file, 4 * world_rank(), MPI_INT, type, "native", MPI_INFO_NULL),
           "set_view");
  MPI_Type_free(&type);
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = i * world_size() + world_rank();
  }
  // Two at a time, on top of each other.
  MPI_Request requests[2];
  succeeds(MPI_File_iwrite_at_all(file, 0, values.data(), count / 2, MPI_INT, &requests[0]),
           "iwrite_at_all");
  succeeds(MPI_File_iwrite_at_all(file, count / 2, values.data() + count / 2, count / 2, MPI_INT,
                                  &requests[1]),
           "iwrite_at_all");
  succeeds(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), "wait");
  MPI_Status status;
  succeeds(MPI_Wait(&requests[0], &status), "wait");
  expect_equal(test::count_of(status, MPI_INT), count / 2, "count");
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<int> content = integers_of(name);
  expect_equal(content.size(), count * world_size(), "size of the file");
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (content[i] != static_cast<int>(i)) expect_equal(content[i], i, "each in its place");
  }
  std::vector<int> back(count + 10, -1);
  succeeds(MPI_File_iread_all(file, back.data(), count + 10, MPI_INT, requests), "iread_all");
  expect_class(MPI_Request_free(requests), MPI_ERR_REQUEST, "a collective request is not given up");
  succeeds(MPI_Wait(requests, &status), "wait");
  expect_equal(test::count_of(status, MPI_INT), count, "up to the end of the file");
  expect_equal(back[count], -1, "untouched behind it");
  back.resize(count);
  expect(back == values, "what was written");
  std::vector<int> again(count, -1);
  succeeds(MPI_File_read_at_all_begin(file, 0, again.data(), count, MPI_INT), "begin");
  expect_class(MPI_File_read_at_all_begin(file, 0, again.data(), count, MPI_INT), MPI_ERR_IO,
               "a second one");
  expect_class(MPI_File_write_all_end(file, again.data(), &status), MPI_ERR_IO, "another end");
  succeeds(MPI_File_read_at_all_end(file, again.data(), &status), "end");
  expect(again == values, "what was written");
  expect_class(MPI_File_read_at_all_end(file, again.data(), &status), MPI_ERR_IO, "not begun");
  // A rank that has not ended its operation keeps the file open everywhere.
  succeeds(MPI_File_read_at_all_begin(file, 0, again.data(), count, MPI_INT), "begin");
  const bool is_last = world_rank() == world_size() - 1;
  if (!is_last) succeeds(MPI_File_read_at_all_end(file, again.data(), &status), "end");
  expect_class(MPI_File_close(&file), MPI_ERR_IO, "close while an operation is under way");
  expect(file != MPI_FILE_NULL, "the file stays open");
  if (is_last) succeeds(MPI_File_read_at_all_end(file, again.data(), &status), "end");
  succeeds(MPI_File_close(&file), "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    const Folder folder;
    for (const char* place : {"memory", "messages"}) {
      shared_writes_never_overlap(folder, place);
      ordered_calls_follow_the_ranks(folder, place);
    }
    requests_complete(folder);
    collective_requests_complete(folder);
  }
  return test::finish();
}
