// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// env: FULMAR_MEMORY=64K
//
// MPI_T: event types, sources, registrations and callbacks (MPI 5.0, 15.3.8).
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

int event(const char* name) {
  int index = -1;
  expect_equal(MPI_T_event_get_index(name, &index), MPI_SUCCESS, name);
  return index;
}

/// A registration and what its callback saw last.
struct Listener {
  explicit Listener(const char* name) {
    expect_equal(MPI_T_event_handle_alloc(event(name), nullptr, MPI_INFO_NULL, &registration),
                 MPI_SUCCESS, name);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void listen(int level, MPI_T_event_cb_function* function) {
    expect_equal(MPI_T_event_register_callback(registration, static_cast<MPI_T_cb_safety>(level),
                                               MPI_INFO_NULL, this, function),
                 MPI_SUCCESS, "callback");
  }
  void end() {
    expect_equal(MPI_T_event_handle_free(registration, this, freed_function), MPI_SUCCESS, "free");
    expect_equal(freed, 1, "the free function is called");
  }
  static void freed_function(MPI_T_event_registration registration, MPI_T_cb_safety /*safety*/,
                             void* data) {
    auto& self = *static_cast<Listener*>(data);
    expect(registration == self.registration, "the registration that ends");
    ++self.freed;
  }

  MPI_T_event_registration registration = nullptr;
  int calls = 0;
  int freed = 0;
  int process = -1;
  int tag = -1;
  int traffic = -1;
  unsigned long long bytes = 0;
  MPI_Count timestamp = 0;
  int safety = -1;
  int sum = 0;
  MPI_Count dropped = 0;
  MPI_T_event_instance instance = nullptr;
};

/// Takes a message event to pieces, in both ways.
void note(MPI_T_event_instance instance, MPI_T_event_registration registration,
          MPI_T_cb_safety safety, void* data) {
  auto& self = *static_cast<Listener*>(data);
  ++self.calls;
  self.safety = static_cast<int>(safety);
  self.instance = instance;
  expect(registration == self.registration, "the registration of the callback");
  expect_equal(MPI_T_event_read(instance, 0, &self.process), MPI_SUCCESS, "read");
  expect_equal(MPI_T_event_read(instance, 1, &self.tag), MPI_SUCCESS, "read");
  expect_equal(MPI_T_event_read(instance, 2, &self.traffic), MPI_SUCCESS, "read");
  expect_equal(MPI_T_event_read(instance, 3, &self.bytes), MPI_SUCCESS, "read");
  expect_equal(MPI_T_event_read(instance, 4, &self.bytes), MPI_T_ERR_INVALID_INDEX, "no element");
  expect_equal(MPI_T_event_read(instance, -1, &self.bytes), MPI_T_ERR_INVALID_INDEX, "no element");
  struct {
    int process;
    int tag;
    int traffic;
    unsigned long long bytes;
  } copy{};
  expect_equal(MPI_T_event_copy(instance, &copy), MPI_SUCCESS, "copy");
  expect(copy.process == self.process && copy.tag == self.tag && copy.bytes == self.bytes,
         "a copy has the same elements");
  int source = -1;
  expect_equal(MPI_T_event_get_source(instance, &source), MPI_SUCCESS, "source");
  expect_equal(source, 0, "source");
  expect_equal(MPI_T_event_get_timestamp(instance, &self.timestamp), MPI_SUCCESS, "time");
}

void sources() {
  int number = 0;
  expect_equal(MPI_T_source_get_num(&number), MPI_SUCCESS, "number of sources");
  expect(number >= 1, "there is a source");
  for (int i = 0; i < number; ++i) {
    char name[64] = "";
    char text[256] = "";
    int name_length = sizeof name;
    int text_length = sizeof text;
    MPI_T_source_order order{};
    MPI_Count ticks = 0;
    MPI_Count most = 0;
    MPI_Info info = MPI_INFO_NULL;
    expect_equal(MPI_T_source_get_info(i, name, &name_length, text, &text_length, &order, &ticks,
                                       &most, &info),
                 MPI_SUCCESS, "info of a source");
    expect(name_length > 1 && text_length > 1, "a source has a name and a description");
    expect(order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED, "order");
    expect(ticks > 0 && most > 0, "clock of a source");
    expect(info != MPI_INFO_NULL, "info object of a source");
    MPI_Info_free(&info);
    MPI_Count first = 0;
    MPI_Count second = 0;
    expect_equal(MPI_T_source_get_timestamp(i, &first), MPI_SUCCESS, "time");
    const double start = MPI_Wtime();
    while (MPI_Wtime() < start + 0.01) {
    }
    MPI_T_source_get_timestamp(i, &second);
    const double seconds = static_cast<double>(second - first) / static_cast<double>(ticks);
    expect(seconds > 0.009 && seconds < 10, "time is in ticks");
  }
  MPI_Count time = 0;
  expect_equal(MPI_T_source_get_timestamp(number, &time), MPI_T_ERR_INVALID_INDEX, "index");
  expect_equal(MPI_T_source_get_info(-1, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                     nullptr, nullptr),
               MPI_T_ERR_INVALID_INDEX, "index");
}

void one_type(int index, std::set<std::string>& names) {
  char name[64] = "";
  char text[512] = "";
  int name_length = sizeof name;
  int text_length = sizeof text;
  int verbosity = 0;
  int elements = 0;
  int bind = 0;
  MPI_T_enum enumtype = MPI_T_ENUM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  expect_equal(MPI_T_event_get_info(index, name, &name_length, &verbosity, nullptr, nullptr,
                                    &elements, &enumtype, &info, text, &text_length, &bind),
               MPI_SUCCESS, "info of an event type");
  expect(names.insert(name).second, "names are unique");
  expect(text_length > 1 && elements > 0, "description and elements");
  expect_equal(bind, MPI_T_BIND_NO_OBJECT, "binding");
  MPI_Info_free(&info);
  int found = -1;
  expect_equal(MPI_T_event_get_index(name, &found), MPI_SUCCESS, "index by name");
  expect_equal(found, index, "index by name");
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(elements) + 1, MPI_DATATYPE_NULL);
  std::vector<MPI_Aint> places(static_cast<std::size_t>(elements) + 1, -1);
  // Room for one less, then for all.
  for (const int room : {elements - 1, elements + 1}) {
    int number = room;
    MPI_T_event_get_info(index, nullptr, nullptr, nullptr, types.data(), places.data(), &number,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
    expect_equal(number, elements, "number of elements");
    const auto given = static_cast<std::size_t>(room < elements ? room : elements);
    expect(types[given] == MPI_DATATYPE_NULL, "no more than there is room for, or are");
  }
  MPI_Aint end = 0;
  for (int i = 0; i < elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    expect(types[at] == MPI_INT || types[at] == MPI_UNSIGNED_LONG_LONG, "type of an element");
    expect(places[at] >= end, "elements do not overlap");
    end = places[at] + (types[at] == MPI_INT ? 4 : 8);
  }
  int items = 0;
  expect_equal(MPI_T_enum_get_info(enumtype, &items, nullptr, nullptr), MPI_SUCCESS, "names");
  expect_equal(items, elements, "every element has a name");
}

void types() {
  int number = 0;
  expect_equal(MPI_T_event_get_num(&number), MPI_SUCCESS, "number of event types");
  std::set<std::string> names;
  for (int i = 0; i < number; ++i) one_type(i, names);
  int categories = 0;
  std::set<int> in_categories;
  MPI_T_category_get_num(&categories);
  for (int i = 0; i < categories; ++i) {
    int members = 0;
    expect_equal(MPI_T_category_get_num_events(i, &members), MPI_SUCCESS, "events of a category");
    std::vector<int> indices(static_cast<std::size_t>(members) + 1, -1);
    expect_equal(MPI_T_category_get_events(i, members, indices.data()), MPI_SUCCESS, "events");
    in_categories.insert(indices.begin(), indices.end() - 1);
  }
  expect_equal(in_categories.size(), number, "every event type is in a category");
  expect_equal(MPI_T_event_get_index("no such event", &number), MPI_T_ERR_INVALID_NAME, "name");
}

void wrong_arguments() {
  int number = 0;
  MPI_T_event_get_num(&number);
  MPI_T_event_registration registration = nullptr;
  expect_equal(MPI_T_event_handle_alloc(number, nullptr, MPI_INFO_NULL, &registration),
               MPI_T_ERR_INVALID_INDEX, "index");
  expect_equal(MPI_T_event_handle_free(nullptr, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE,
               "null registration");
  Listener some("match_unexpected_message");
  expect_equal(MPI_T_event_register_callback(some.registration, static_cast<MPI_T_cb_safety>(7),
                                             MPI_INFO_NULL, nullptr, note),
               MPI_T_ERR_INVALID, "no safety level");
  MPI_Info info = MPI_INFO_NULL;
  int keys = -1;
  expect_equal(MPI_T_event_handle_get_info(some.registration, &info), MPI_SUCCESS, "hints");
  expect_equal(MPI_Info_get_nkeys(info, &keys), MPI_SUCCESS, "hints");
  expect_equal(MPI_T_event_handle_set_info(some.registration, info), MPI_SUCCESS, "hints");
  MPI_Info_free(&info);
  expect_equal(MPI_T_event_callback_get_info(some.registration, MPI_T_CB_REQUIRE_NONE, &info),
               MPI_SUCCESS, "hints of a callback");
  expect_equal(MPI_T_event_callback_set_info(some.registration, MPI_T_CB_REQUIRE_NONE, info),
               MPI_SUCCESS, "hints of a callback");
  MPI_Info_free(&info);
  some.end();
  expect_equal(MPI_T_event_handle_free(some.registration, nullptr, nullptr),
               MPI_T_ERR_INVALID_HANDLE, "freed registration");
}

void to_self(int tag) {
  int value = tag;
  MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
  MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

void at_once() {
  Listener one("match_unexpected_message");
  Listener silent("match_unexpected_message");
  one.listen(MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, note);
  MPI_Count before = 0;
  MPI_Count after = 0;
  MPI_T_source_get_timestamp(0, &before);
  to_self(7);
  MPI_T_source_get_timestamp(0, &after);
  expect_equal(one.calls, 1, "one unexpected message, one event");
  expect_equal(one.process, test::rank_of(MPI_COMM_WORLD), "who sent it");
  expect_equal(one.tag, 7, "its tag");
  expect_equal(one.traffic, 0, "a message of the program");
  expect_equal(one.bytes, sizeof(int), "its length");
  expect(one.timestamp >= before && one.timestamp <= after, "when it came");
  expect(one.safety != MPI_T_CB_REQUIRE_NONE, "the callback may not call everything");
  int number = 0;
  expect_equal(MPI_T_event_read(one.instance, 0, &number), MPI_T_ERR_INVALID_HANDLE,
               "an instance ends with its callback");
  expect_equal(silent.calls, 0, "no callback, no call");
  one.listen(MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, nullptr);
  to_self(8);
  expect_equal(one.calls, 1, "a callback that was taken away");
  one.end();
  silent.end();
}

/// With several levels the least demanding one that serves is called, and only that.
void levels() {
  Listener all("match_unexpected_message");
  static int others;
  others = 0;
  const auto count = [](MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {
    ++others;
  };
  all.listen(MPI_T_CB_REQUIRE_NONE, count);
  all.listen(MPI_T_CB_REQUIRE_MPI_RESTRICTED, note);
  all.listen(MPI_T_CB_REQUIRE_THREAD_SAFE, count);
  to_self(1);
  MPI_Barrier(MPI_COMM_SELF);
  expect_equal(all.calls, 1, "one callback of several");
  expect_equal(others, 0, "the others are not called");
  all.end();
}

/// A callback that calls MPI, of its own kind.
void free_callback(MPI_T_event_instance instance, MPI_T_event_registration /*registration*/,
                   MPI_T_cb_safety safety, void* data) {
  auto& self = *static_cast<Listener*>(data);
  ++self.calls;
  self.safety = static_cast<int>(safety);
  MPI_T_event_read(instance, 1, &self.tag);
  const int one = 1;
  int sum = 0;
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 99, &sum, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  self.sum += sum;
}

void make_progress() {
  for (int i = 0; i < 3; ++i) {
    int flag = 0;
    MPI_Iprobe(0, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
}

void later() {
  Listener one("match_unexpected_message");
  one.listen(MPI_T_CB_REQUIRE_NONE, free_callback);
  to_self(5);
  make_progress();
  expect(one.calls >= 1, "called between two looks at progress");
  expect_equal(one.safety, MPI_T_CB_REQUIRE_NONE, "it may call everything");
  expect_equal(one.sum, one.calls, "what it called worked");
  one.end();
}

void dropping() {
  Listener one("match_unexpected_message");
  one.listen(MPI_T_CB_REQUIRE_NONE,
             [](MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void* data) {
               ++static_cast<Listener*>(data)->calls;
             });
  expect_equal(
      MPI_T_event_set_dropped_handler(
          one.registration,
          [](MPI_Count count, MPI_T_event_registration, int source, MPI_T_cb_safety, void* data) {
            static_cast<Listener*>(data)->dropped += count;
            expect_equal(source, 0, "source of what was dropped");
          }),
      MPI_SUCCESS, "handler");
  // There is no progress here: the messages are delivered within the call.
  constexpr int many = 5000;
  for (int i = 0; i < many; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;
    MPI_Send(nullptr, 0, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Request_free(&request);
  }
  make_progress();
  expect_equal(one.calls + one.dropped, many, "what is not delivered is counted");
  one.end();
}

void between_ranks() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (test::size_of(MPI_COMM_WORLD) < 2 || rank > 1) return;
  Listener long_sends("device_rendezvous_start");
  Listener arrivals("match_unexpected_message");
  Listener holds("device_sender_held");
  Listener held("device_hold_begin");
  long_sends.listen(MPI_T_CB_REQUIRE_MPI_RESTRICTED, note);
  arrivals.listen(MPI_T_CB_REQUIRE_MPI_RESTRICTED, note);
  const auto count = [](MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety,
                        void* data) { ++static_cast<Listener*>(data)->calls; };
  holds.listen(MPI_T_CB_REQUIRE_THREAD_SAFE, count);
  held.listen(MPI_T_CB_REQUIRE_THREAD_SAFE, count);
  std::vector<char> data(1 << 20);
  constexpr int flood = 100;
  constexpr int piece = 4096;
  if (rank == 0) {
    MPI_Send(data.data(), 1 << 20, MPI_CHAR, 1, 17, MPI_COMM_WORLD);
    expect_equal(long_sends.calls, 1, "a long message is announced");
    expect_equal(long_sends.process, 1, "to whom");
    expect_equal(long_sends.tag, 17, "with which tag");
    expect_equal(long_sends.bytes, 1 << 20, "how long");
    std::vector<MPI_Request> requests(flood);
    for (int i = 0; i < flood; ++i) {
      MPI_Isend(data.data(), piece, MPI_CHAR, 1, 18, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
    MPI_Send(nullptr, 0, MPI_CHAR, 1, 19, MPI_COMM_WORLD);
    MPI_Waitall(flood, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(nullptr, 0, MPI_CHAR, 1, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(held.calls >= 1, "a flood is stopped: heard by the sender");
  } else {
    MPI_Recv(data.data(), 1 << 20, MPI_CHAR, 0, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int before = arrivals.calls;
    MPI_Recv(nullptr, 0, MPI_CHAR, 0, 19, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    make_progress();  // reports what came while a thread of the library made progress
    expect(arrivals.calls > before, "messages before their receive");
    expect_equal(arrivals.process, 0, "from whom");
    expect(holds.calls >= 1, "a flood is stopped: heard by the receiver");
    // Behind the word to hold, which the sender has heard when it gets this.
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_CHAR, 0, 20, MPI_COMM_WORLD, &request);
    for (int i = 0; i < flood; ++i) {
      MPI_Recv(data.data(), piece, MPI_CHAR, 0, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  long_sends.end();
  arrivals.end();
  holds.end();
  held.end();
}

/// A free callback of its own registration, in a callback that may do that.
void freed_inside() {
  Listener one("match_unexpected_message");
  one.listen(MPI_T_CB_REQUIRE_NONE, [](MPI_T_event_instance instance, MPI_T_event_registration self,
                                       MPI_T_cb_safety, void* data) {
    auto& listener = *static_cast<Listener*>(data);
    ++listener.calls;
    expect_equal(MPI_T_event_handle_free(self, data, Listener::freed_function), MPI_SUCCESS,
                 "freed inside");
    expect_equal(listener.freed, 0, "the callback still runs");
    expect_equal(MPI_T_event_read(instance, 1, &listener.tag), MPI_SUCCESS, "still readable");
  });
  to_self(1);
  to_self(2);
  make_progress();
  expect_equal(one.calls, 1, "no call after the end");
  expect_equal(one.freed, 1, "the free function is called after the callback");
}

/// What happens within one process. Ranks take turns, and whose turn is over sends nothing before
/// the last one has had it, so that no rank's events are disturbed by a message of another rank.
void within_ranks() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  constexpr int turn = 21;
  if (rank > 0) MPI_Recv(nullptr, 0, MPI_INT, rank - 1, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  at_once();
  levels();
  later();
  dropping();
  freed_inside();
  MPI_Send(nullptr, 0, MPI_INT, (rank + 1) % size, turn, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(nullptr, 0, MPI_INT, size - 1, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  sources();
  types();
  wrong_arguments();
  Listener early("match_unexpected_message");
  early.listen(MPI_T_CB_REQUIRE_MPI_RESTRICTED, note);
  int level = MPI_THREAD_SINGLE;
  if (argc > 1) level = MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  to_self(3);
  expect(early.calls >= 1, "registered before MPI_Init");
  early.end();
  within_ranks();
  between_ranks();
  MPI_Finalize();
  MPI_T_finalize();
  return test::failures() == 0 ? 0 : 1;
}
