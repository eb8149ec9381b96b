// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/pmi1.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fulmar::runtime::bootstrap {
namespace {

struct CollContext {
  std::string request;
  std::string answer;  ///< empty: the connection is closed instead
};

const std::vector<CollContext> beginning = {
    {"cmd=init pmi_version=1 pmi_subversion=1\n",
     "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"},
    {"cmd=get_appnum\n", "cmd=appnum appnum=3\n"},
    {"cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=space\n"},
};

/// A server that expects these requests and no other.
class Server {
 public:
  explicit Server(std::vector<CollContext> script, std::size_t piece = 4096) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    client_.reset(ends[0]);
    server_.reset(ends[1]);
    thread_ = std::thread([this, script = std::move(script), piece] { serve(script, piece); });
  }
  ~Server() { thread_.join(); }
  base::UniqueFd take_client() { return std::move(client_); }

 private:
  void serve(const std::vector<CollContext>& script, std::size_t piece) {
    for (const CollContext& exchange : script) {
      std::string got(exchange.request.size(), ' ');
      if (!got.empty() && ::recv(server_.get(), got.data(), got.size(), MSG_WAITALL) < 0) break;
      EXPECT_EQ(got, exchange.request);
      if (exchange.answer.empty()) break;
      for (std::size_t at = 0; at < exchange.answer.size(); at += piece) {
        const std::string part = exchange.answer.substr(at, piece);
        // A client that refuses an answer hangs up before it has all of it.
        const ssize_t sent = ::send(server_.get(), part.data(), part.size(), MSG_NOSIGNAL);
        EXPECT_TRUE(sent >= 0 || errno == EPIPE) << errno;
      }
    }
    server_.reset();
  }

  base::UniqueFd client_;
  base::UniqueFd server_;
  std::thread thread_;
};

std::vector<CollContext> script_with(std::vector<CollContext> more) {
  std::vector<CollContext> script = beginning;
  script.insert(script.end(), more.begin(), more.end());
  return script;
}

TEST(Pmi1, Whole_life_with_answers_in_single_bytes) {
  Server server(script_with({{"cmd=get kvsname=space key=PMI_process_mapping\n",
                              "cmd=get_result rc=0 value=(vector,(0,2,1))\n"},
                             {"cmd=put kvsname=space key=fulmar.1.card value=1.AA\n",
                              "cmd=put_result rc=0 msg=success\n"},
                             {"cmd=barrier_in\n", "cmd=barrier_out\n"},
                             {"cmd=get kvsname=space key=fulmar.0.card\n",
                              "cmd=get_result rc=0 msg=success value=1.BB\n"},
                             {"cmd=finalize\n", "cmd=finalize_ack\n"}}),
                1);
  auto opened = Pmi1::open(server.take_client(), {1, 2, -1});
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  Bootstrap& pmi = *opened.value();
  EXPECT_EQ(pmi.rank(), 1U);
  EXPECT_EQ(pmi.size(), 2U);
  EXPECT_EQ(pmi.appnum(), 3);
  EXPECT_EQ(pmi.launcher_nodes().value(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(pmi.publish("card", "1.AA").ok());
  EXPECT_TRUE(pmi.fence().ok());
  EXPECT_EQ(pmi.lookup(0, "card").value(), "1.BB");
  EXPECT_TRUE(pmi.finalize().ok());
}

TEST(Pmi1, A_port_tells_the_rank) {
  std::vector<CollContext> script = {
      {"cmd=initack pmiid=4\n", "cmd=initack\ncmd=set size=6\ncmd=set rank=5\ncmd=set debug=0\n"}};
  script.insert(script.end(), beginning.begin(), beginning.end());
  Server server(script);
  auto opened = Pmi1::open(server.take_client(), {-1, -1, 4});
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened.value()->rank(), 5U);
  EXPECT_EQ(opened.value()->size(), 6U);
}

TEST(Pmi1, No_mapping_is_no_error) {
  Server server(script_with({{"cmd=get kvsname=space key=PMI_process_mapping\n",
                              "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"}}));
  auto opened = Pmi1::open(server.take_client(), {0, 2, -1});
  ASSERT_TRUE(opened.ok());
  const auto nodes = opened.value()->launcher_nodes();
  ASSERT_TRUE(nodes.ok());
  EXPECT_TRUE(nodes.value().empty());
}

TEST(Pmi1, Refusals_and_strange_answers_are_errors) {
  for (const char* answer :
       {"cmd=barrier_out rc=1\n", "cmd=get_result value=1\n", "nonsense\n", ""}) {
    Server server(script_with({{"cmd=barrier_in\n", answer}}));
    auto opened = Pmi1::open(server.take_client(), {0, 2, -1});
    ASSERT_TRUE(opened.ok());
    EXPECT_TRUE(opened.value()->fence().failed()) << answer;
  }
}

TEST(Pmi1, A_line_without_end_is_an_error) {
  Server server({{"cmd=init pmi_version=1 pmi_subversion=1\n", std::string(70000, 'a')}});
  auto socket = server.take_client();
  EXPECT_TRUE(Pmi1::open(std::move(socket), {0, 2, -1}).failed());
}

TEST(Pmi1, Spawn_is_a_block_for_each_program) {
  StartOrder first{"./child", {"a b", ""}, 3, "/tmp", {{"A", "1"}}, {{"host", "node1"}}};
  StartOrder second{"other", {}, 1, "/", {}, {}};
  Server server(
      script_with({{"mcmd=spawn\nnprocs=3\nexecname=/usr/bin/env\ntotspawns=2\n"
                    "spawnssofar=1\narg1=A=1\narg2=./child\narg3=a b\narg4=\nargcnt=4\n"
                    "preput_num=1\npreput_key_0=fulmar.parent_port\n"
                    "preput_val_0=1.cG9ydCAx\ninfo_num=2\ninfo_key_0=wdir\n"
                    "info_val_0=/tmp\ninfo_key_1=host\ninfo_val_1=node1\nendcmd\n"
                    "mcmd=spawn\nnprocs=1\nexecname=other\ntotspawns=2\nspawnssofar=2\n"
                    "argcnt=0\npreput_num=1\npreput_key_0=fulmar.parent_port\n"
                    "preput_val_0=1.cG9ydCAx\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/\n"
                    "endcmd\n",
                    "cmd=spawn_result rc=0 jobid=x nerrs=0\n"}}));
  auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
  ASSERT_TRUE(opened.ok());
  const StartOrder orders[] = {first, second};
  const base::Error error = opened.value()->spawn(orders, "port 1");
  EXPECT_TRUE(error.ok()) << error.text();
}

TEST(Pmi1, Spawn_that_is_refused_says_why) {
  const StartOrder order{"p", {}, 1, "/", {}, {}};
  const std::string request =
      "mcmd=spawn\nnprocs=1\nexecname=p\ntotspawns=1\nspawnssofar=1\nargcnt=0\npreput_num=1\n"
      "preput_key_0=fulmar.parent_port\npreput_val_0=1.eA\ninfo_num=1\ninfo_key_0=wdir\n"
      "info_val_0=/\nendcmd\n";
  for (const char* answer : {"cmd=spawn_result rc=-1 msg=no_slots\n", "cmd=spawn_result\n",
                             "cmd=get_result rc=0\n", "nonsense\n", ""}) {
    Server server(script_with({{request, answer}}));
    auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
    ASSERT_TRUE(opened.ok());
    const base::Error error = opened.value()->spawn({&order, 1}, "x");
    EXPECT_EQ(error.error_class(), base::ErrorClass::spawn) << answer;
  }
}

TEST(Pmi1, A_newline_cannot_be_passed_on) {
  const StartOrder orders[] = {{"p\nq", {}, 1, "/", {}, {}},
                               {"p", {"a\nendcmd"}, 1, "/", {}, {}},
                               {"p", {}, 1, "/", {{"A", "x\ny"}}, {}},
                               {"p", {}, 1, "/\n", {}, {}},
                               {"p", {}, 1, "/", {}, {{"host", "x\ny"}}}};
  for (const StartOrder& order : orders) {
    Server server(beginning);
    auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
    ASSERT_TRUE(opened.ok());
    const base::Error error = opened.value()->spawn({&order, 1}, "x");
    EXPECT_EQ(error.error_class(), base::ErrorClass::spawn);
    EXPECT_NE(error.text().find("newline"), std::string::npos);
  }
}

TEST(Pmi1, Spawned_processes_find_the_port_of_their_parent) {
  ::setenv(wire::env_pmi_spawned, "1", 1);
  Server server(script_with({{"cmd=get kvsname=space key=fulmar.parent_port\n",
                              "cmd=get_result rc=0 value=1.cG9ydCAx\n"}}));
  auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened.value()->parent_port(), "port 1");
  ::unsetenv(wire::env_pmi_spawned);
}

TEST(Pmi1, Other_processes_have_no_parent) {
  ::setenv(wire::env_pmi_spawned, "1", 1);
  for (const char* answer : {"cmd=get_result rc=-1 msg=key_not_found value=unknown\n",
                             "cmd=get_result rc=0 value=nonsense\n", "cmd=get_result rc=0\n"}) {
    Server server(script_with({{"cmd=get kvsname=space key=fulmar.parent_port\n", answer}}));
    auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened.value()->parent_port(), "") << answer;
  }
  ::setenv(wire::env_pmi_spawned, "0", 1);
  Server server(beginning);
  auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened.value()->parent_port(), "");  // without a question
  ::unsetenv(wire::env_pmi_spawned);
}

TEST(Pmi1, Names_are_published_and_looked_up) {
  Server server(script_with(
      {{"cmd=publish_name service=my%20ocean port=a%3Db%25\n", "cmd=publish_result rc=0\n"},
       {"cmd=lookup_name service=my%20ocean\n", "cmd=lookup_result rc=0 port=a%3Db%25\n"},
       {"cmd=unpublish_name service=my%20ocean\n", "cmd=unpublish_result rc=0\n"},
       {"cmd=publish_name service=x port=p\n", "cmd=publish_result rc=1 msg=duplicate_service_x\n"},
       {"cmd=lookup_name service=y\n", "cmd=lookup_result rc=1 msg=service_y_not_found\n"},
       {"cmd=unpublish_name service=y\n", "cmd=unpublish_result rc=1 msg=service_y_not_found\n"}}));
  auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
  ASSERT_TRUE(opened.ok());
  Bootstrap& pmi = *opened.value();
  EXPECT_TRUE(pmi.publish_name("my ocean", "a=b%").ok());
  EXPECT_EQ(pmi.lookup_name("my ocean").value(), "a=b%");
  EXPECT_TRUE(pmi.unpublish_name("my ocean").ok());
  EXPECT_EQ(pmi.publish_name("x", "p").error_class(), base::ErrorClass::service);
  EXPECT_EQ(pmi.lookup_name("y").error().error_class(), base::ErrorClass::name);
  EXPECT_EQ(pmi.unpublish_name("y").error_class(), base::ErrorClass::service);
}

TEST(Pmi1, Universe_is_what_the_launcher_knows) {
  for (const auto& [answer, expected] : {std::pair{"cmd=universe_size size=12\n", 12U},
                                         {"cmd=universe_size size=-1\n", 0U},
                                         {"cmd=universe_size\n", 0U}}) {
    Server server(script_with({{"cmd=get_universe_size\n", answer}}));
    auto opened = Pmi1::open(server.take_client(), {0, 1, -1});
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened.value()->universe_size(), expected) << answer;
  }
}

TEST(Pmi1, Impossible_places_are_refused) {
  for (const Pmi1::Place& place :
       {Pmi1::Place{2, 2, -1}, {-1, 2, -1}, {0, 0, -1}, {0, 1L << 40, -1}}) {
    EXPECT_TRUE(Pmi1::open(base::UniqueFd(), place).failed());
  }
}

}  // namespace
}  // namespace fulmar::runtime::bootstrap
