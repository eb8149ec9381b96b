// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2 4
//
// MPI_T: performance variables, their sessions and handles (MPI 5.0, 15.3.7).
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

struct Facts {
  std::string name;
  int var_class = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumtype = MPI_T_ENUM_NULL;
  int bind = 0;
  int readonly = -1;
  int continuous = -1;
  int atomic = -1;
};

Facts facts_of(int index) {
  Facts facts;
  char name[128] = "";
  char text[1024] = "";
  int name_length = sizeof name;
  int text_length = sizeof text;
  int verbosity = 0;
  expect_equal(MPI_T_pvar_get_info(index, name, &name_length, &verbosity, &facts.var_class,
                                   &facts.type, &facts.enumtype, text, &text_length, &facts.bind,
                                   &facts.readonly, &facts.continuous, &facts.atomic),
               MPI_SUCCESS, "info of a performance variable");
  facts.name = name;
  expect(text_length > 1, "a variable has a description");
  expect(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL,
         "verbosity");
  return facts;
}

/// A session with one handle.
class Watched {
 public:
  Watched(const char* name, int var_class, void* object = nullptr) {
    int index = -1;
    int count = 0;
    expect_equal(MPI_T_pvar_get_index(name, var_class, &index), MPI_SUCCESS, name);
    MPI_T_pvar_session_create(&session_);
    expect_equal(MPI_T_pvar_handle_alloc(session_, index, object, &handle_, &count), MPI_SUCCESS,
                 name);
    expect_equal(count, 1, "one element");
  }
  ~Watched() { MPI_T_pvar_session_free(&session_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void start() { expect_equal(MPI_T_pvar_start(session_, handle_), MPI_SUCCESS, "start"); }
  void stop() { expect_equal(MPI_T_pvar_stop(session_, handle_), MPI_SUCCESS, "stop"); }
  void reset() { expect_equal(MPI_T_pvar_reset(session_, handle_), MPI_SUCCESS, "reset"); }
  unsigned long long read() {
    unsigned long long value = ~0ULL;
    expect_equal(MPI_T_pvar_read(session_, handle_, &value), MPI_SUCCESS, "read");
    return value;
  }
  [[nodiscard]] MPI_T_pvar_session session() const { return session_; }
  [[nodiscard]] MPI_T_pvar_handle handle() const { return handle_; }

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

bool fits_class(const Facts& facts) {
  const bool number = facts.type == MPI_UNSIGNED_LONG_LONG;
  const bool real = facts.type == MPI_DOUBLE;
  switch (facts.var_class) {
    case MPI_T_PVAR_CLASS_STATE:
      return facts.type == MPI_INT && facts.enumtype != MPI_T_ENUM_NULL;
    case MPI_T_PVAR_CLASS_PERCENTAGE:
      return real;
    case MPI_T_PVAR_CLASS_COUNTER:
      return number;
    case MPI_T_PVAR_CLASS_LEVEL:
    case MPI_T_PVAR_CLASS_SIZE:
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
    case MPI_T_PVAR_CLASS_AGGREGATE:
    case MPI_T_PVAR_CLASS_TIMER:
      return number || real;
    default:
      return false;
  }
}

/// What every variable does that is continuous or read-only, or is neither.
void rules(const Facts& facts, MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  alignas(8) char value[8] = "";
  const int startable = facts.continuous != 0 ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS;
  const int writable = facts.readonly != 0 ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS;
  expect_equal(MPI_T_pvar_start(session, handle), startable, "start");
  expect_equal(MPI_T_pvar_read(session, handle, value), MPI_SUCCESS, "read");
  expect_equal(MPI_T_pvar_write(session, handle, value), writable, "write");
  expect_equal(MPI_T_pvar_reset(session, handle), writable, "reset");
  const int both = facts.readonly != 0 ? MPI_T_ERR_PVAR_NO_WRITE
                   : facts.atomic == 0 ? MPI_T_ERR_PVAR_NO_ATOMIC
                                       : MPI_SUCCESS;
  expect_equal(MPI_T_pvar_readreset(session, handle, value), both, "read and reset");
  expect_equal(MPI_T_pvar_stop(session, handle), startable, "stop");
  expect_equal(MPI_T_pvar_read(session, handle, nullptr), MPI_T_ERR_INVALID, "null buffer");
}

void walk() {
  int number = 0;
  expect_equal(MPI_T_pvar_get_num(&number), MPI_SUCCESS, "number of performance variables");
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_session other = MPI_T_PVAR_SESSION_NULL;
  expect_equal(MPI_T_pvar_session_create(&session), MPI_SUCCESS, "session");
  expect_equal(MPI_T_pvar_session_create(&other), MPI_SUCCESS, "session");
  std::set<std::pair<std::string, int>> names;
  for (int i = 0; i < number; ++i) {
    const Facts facts = facts_of(i);
    expect(names.insert({facts.name, facts.var_class}).second, "name and class are unique");
    expect(fits_class(facts), facts.name.c_str());
    int index = -1;
    expect_equal(MPI_T_pvar_get_index(facts.name.c_str(), facts.var_class, &index), MPI_SUCCESS,
                 "index by name");
    expect_equal(index, i, "index by name");
    MPI_Comm comm = MPI_COMM_WORLD;
    const bool bound = facts.bind == MPI_T_BIND_MPI_COMM;
    expect(bound || facts.bind == MPI_T_BIND_NO_OBJECT, "binding");
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    expect_equal(MPI_T_pvar_handle_alloc(session, i, bound ? &comm : nullptr, &handle, &count),
                 MPI_SUCCESS, "handle");
    expect_equal(count, 1, "count");
    rules(facts, session, handle);
    expect_equal(MPI_T_pvar_start(other, handle), MPI_T_ERR_INVALID_HANDLE, "another session");
    expect_equal(MPI_T_pvar_handle_free(other, &handle), MPI_T_ERR_INVALID_HANDLE,
                 "another session");
    if (i % 2 == 0) {
      expect_equal(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS, "free");
      expect(handle == MPI_T_PVAR_HANDLE_NULL, "a freed handle is null");
    }
  }
  expect_equal(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "start all");
  expect_equal(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "reset all");
  expect_equal(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "stop all");
  MPI_T_pvar_session old = session;
  expect_equal(MPI_T_pvar_session_free(&session), MPI_SUCCESS, "end of a session");
  expect(session == MPI_T_PVAR_SESSION_NULL, "a freed session is null");
  expect_equal(MPI_T_pvar_start(old, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION,
               "freed session");
  MPI_T_pvar_session_free(&other);
}

void wrong_arguments() {
  int number = 0;
  MPI_T_pvar_get_num(&number);
  Watched some("match_posted_length", MPI_T_PVAR_CLASS_LEVEL);
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_session none = MPI_T_PVAR_SESSION_NULL;
  int index = 0;
  unsigned long long value = 0;
  for (const int wrong : {-1, number}) {
    expect_equal(MPI_T_pvar_handle_alloc(some.session(), wrong, nullptr, &handle, &index),
                 MPI_T_ERR_INVALID_INDEX, "index");
  }
  expect_equal(MPI_T_pvar_handle_alloc(none, 0, nullptr, &handle, &index),
               MPI_T_ERR_INVALID_SESSION, "session");
  expect_equal(MPI_T_pvar_read(some.session(), MPI_T_PVAR_ALL_HANDLES, &value),
               MPI_T_ERR_INVALID_HANDLE, "all handles cannot be read");
  expect_equal(MPI_T_pvar_read(none, some.handle(), &value), MPI_T_ERR_INVALID_SESSION, "session");
  expect_equal(MPI_T_pvar_get_index("match_posted_length", MPI_T_PVAR_CLASS_COUNTER, &index),
               MPI_T_ERR_INVALID_NAME, "the name of another class");
  expect_equal(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index),
               MPI_T_ERR_INVALID_NAME, "name");
  MPI_T_pvar_get_index("match_comm_posted_length", MPI_T_PVAR_CLASS_LEVEL, &index);
  expect_equal(MPI_T_pvar_handle_alloc(some.session(), index, nullptr, &handle, &number),
               MPI_T_ERR_INVALID, "no object");
  MPI_Comm comm = MPI_COMM_NULL;
  expect_equal(MPI_T_pvar_handle_alloc(some.session(), index, &comm, &handle, &number),
               MPI_T_ERR_INVALID, "null communicator");
}

/// Sends to itself: what arrives before its receive, in figures.
void queues() {
  Watched length("match_unexpected_length", MPI_T_PVAR_CLASS_LEVEL);
  Watched high("match_unexpected_length_high", MPI_T_PVAR_CLASS_HIGHWATERMARK);
  Watched bytes("device_unexpected_memory_high", MPI_T_PVAR_CLASS_HIGHWATERMARK);
  Watched total("device_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER);
  Watched idle("device_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm world = MPI_COMM_WORLD;
  Watched ours("match_comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &comm);
  Watched others("match_comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &world);
  high.start();
  bytes.start();
  total.start();
  int data[3] = {1, 2, 3};
  for (int i = 0; i < 3; ++i) MPI_Send(&data[i], 1, MPI_INT, 0, i, comm);
  expect_equal(ours.read(), 3, "unexpected messages of a communicator");
  expect_equal(others.read(), 0, "unexpected messages of another communicator");
  expect(length.read() >= 3, "unexpected messages");
  for (int i = 0; i < 3; ++i) MPI_Recv(&data[i], 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
  expect_equal(ours.read(), 0, "nothing is left");
  expect(high.read() >= 3, "the highest stays");
  expect(bytes.read() >= 3 * sizeof(int), "the most bytes stay");
  expect_equal(total.read(), 3, "counted while started");
  expect_equal(idle.read(), 0, "not counted while not started");
  high.reset();
  expect_equal(high.read(), length.read(), "a reset highest is the present value");
  total.stop();
  MPI_Send(data, 1, MPI_INT, 0, 0, comm);
  MPI_Recv(data, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  expect_equal(total.read(), 3, "not counted while stopped");
  total.start();
  MPI_Send(data, 1, MPI_INT, 0, 0, comm);
  MPI_Recv(data, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  expect_equal(total.read(), 4, "goes on after a stop");
  unsigned long long value = 100;
  expect_equal(MPI_T_pvar_write(total.session(), total.handle(), &value), MPI_SUCCESS, "write");
  MPI_Send(data, 1, MPI_INT, 0, 0, comm);
  expect_equal(MPI_T_pvar_readreset(total.session(), total.handle(), &value), MPI_SUCCESS,
               "read and reset");
  expect_equal(value, 101, "counts on from what was written");
  expect_equal(total.read(), 0, "reset");
  MPI_Recv(data, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  // The handle keeps what it is bound to alive.
  MPI_Comm_free(&comm);
  expect_equal(ours.read(), 0, "a variable of a freed communicator");
}

void receives() {
  Watched posted("match_posted_length", MPI_T_PVAR_CLASS_LEVEL);
  Watched requests("objects_requests", MPI_T_PVAR_CLASS_LEVEL);
  MPI_Comm self = MPI_COMM_SELF;
  Watched ours("match_comm_posted_length", MPI_T_PVAR_CLASS_LEVEL, &self);
  const unsigned long long before = posted.read();
  const unsigned long long alive = requests.read();
  MPI_Request request = MPI_REQUEST_NULL;
  int data = 0;
  MPI_Irecv(&data, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
  expect_equal(posted.read(), before + 1, "a receive waits");
  expect_equal(ours.read(), 1, "a receive of a communicator waits");
  expect_equal(requests.read(), alive + 1, "its request lives");
  MPI_Send(&data, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(posted.read(), before, "no receive waits");
  expect_equal(requests.read(), alive, "its request has gone");
}

void objects() {
  Watched groups("objects_groups", MPI_T_PVAR_CLASS_LEVEL);
  Watched types("objects_datatypes", MPI_T_PVAR_CLASS_LEVEL);
  const unsigned long long groups_before = groups.read();
  const unsigned long long types_before = types.read();
  MPI_Group group = MPI_GROUP_NULL;
  const int zero = 0;
  MPI_Group whole = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &whole);
  MPI_Group_incl(whole, 1, &zero, &group);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  expect(groups.read() > groups_before, "a group lives");
  expect_equal(types.read(), types_before + 1, "a datatype lives");
  MPI_Group_free(&group);
  MPI_Group_free(&whole);
  MPI_Type_free(&pair);
  expect_equal(groups.read(), groups_before, "no group is left");
  expect_equal(types.read(), types_before, "no datatype is left");
}

/// Packets and announced messages between two ranks.
void messages() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (test::size_of(MPI_COMM_WORLD) < 2 || rank > 1) return;
  Watched sent("channel_packets_sent", MPI_T_PVAR_CLASS_COUNTER);
  Watched received("channel_packets_received", MPI_T_PVAR_CLASS_COUNTER);
  Watched announced("device_rendezvous_sends", MPI_T_PVAR_CLASS_COUNTER);
  Watched bytes("device_rendezvous_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  Watched rings("channel_rings_granted", MPI_T_PVAR_CLASS_LEVEL);
  sent.start();
  received.start();
  announced.start();
  bytes.start();
  constexpr int count = 500;
  constexpr int long_bytes = 1 << 20;
  double value = 0;
  std::vector<char> data(long_bytes);
  for (int i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    MPI_Send(data.data(), long_bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    expect(sent.read() >= count + 1, "every message is a packet");
    expect_equal(announced.read(), 1, "a long message is announced");
    expect_equal(bytes.read(), long_bytes, "bytes announced");
  } else {
    MPI_Recv(data.data(), long_bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(received.read() >= count + 1, "every message is a packet");
    expect_equal(announced.read(), 0, "nothing was announced here");
    expect(rings.read() >= 1, "a busy sender has a ring");
  }
}

int state() {
  int index = -1;
  int count = 0;
  int value = -1;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_get_index("library_state", MPI_T_PVAR_CLASS_STATE, &index);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count);
  MPI_T_pvar_read(session, handle, &value);
  MPI_T_pvar_session_free(&session);
  return value;
}

double asleep(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  double seconds = -1;
  MPI_T_pvar_read(session, handle, &seconds);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  const int before = state();
  Watched early("device_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER);
  Watched highest("match_unexpected_length_high", MPI_T_PVAR_CLASS_HIGHWATERMARK);
  Watched sleeping("device_sleep_time", MPI_T_PVAR_CLASS_TIMER);
  early.start();
  highest.start();
  sleeping.start();
  expect_equal(early.read(), 0, "nothing happens before MPI_Init");
  MPI_Init(&argc, &argv);
  const int running = state();
  expect(before != running, "the state changes with MPI_Init");
  walk();
  wrong_arguments();
  queues();
  expect(early.read() >= 3, "started before MPI_Init");
  expect(highest.read() >= 3, "started before MPI_Init");
  receives();
  objects();
  messages();
  const double seconds = asleep(sleeping.session(), sleeping.handle());
  expect(seconds >= 0 && seconds < 60, "time asleep is in seconds");
  MPI_Finalize();
  const int after = state();
  expect(after != running && after != before, "the state changes with MPI_Finalize");
  MPI_T_finalize();
  return test::failures() == 0 ? 0 : 1;
}
