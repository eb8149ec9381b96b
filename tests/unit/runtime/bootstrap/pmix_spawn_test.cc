// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/bootstrap/pmix.h"

namespace fulmar::runtime::bootstrap {
namespace {

/// What a library that does not exist was asked, and what it answers.
struct FakeLibrary {
  int status = pmix::success;
  std::vector<std::string> apps;
  std::vector<std::string> job_info;
  std::map<std::string, std::string> published;
};
FakeLibrary* fake = nullptr;

std::string joined(char** list) {
  std::string text;
  for (; *list != nullptr; ++list) text += (text.empty() ? "" : "|") + std::string(*list);
  return text;
}

std::string text_of(const pmix::Info& info) {
  EXPECT_EQ(info.value.kind, pmix::Kind::string);
  return std::string(info.key.data()) + "=" + info.value.string;
}

int spawn(const pmix::Info* info, std::size_t info_count, const pmix::App* apps,
          std::size_t app_count, char* space) {
  for (std::size_t i = 0; i < info_count; ++i) fake->job_info.push_back(text_of(info[i]));
  for (std::size_t i = 0; i < app_count; ++i) {
    std::string text = std::string(apps[i].program) + " " + std::to_string(apps[i].processes) +
                       " in " + apps[i].folder + " " + joined(apps[i].argv) + " env " +
                       joined(apps[i].environment);
    for (std::size_t k = 0; k < apps[i].info_count; ++k) text += " " + text_of(apps[i].info[k]);
    fake->apps.push_back(text);
  }
  std::strcpy(space, "new job");
  return fake->status;
}

int publish(const pmix::Info* info, std::size_t count) {
  EXPECT_EQ(count, 1U);
  if (fake->status == pmix::success) fake->published[info->key.data()] = info->value.string;
  return fake->status;
}

int lookup(pmix::Published* data, std::size_t count, const pmix::Info*, std::size_t) {
  EXPECT_EQ(count, 1U);
  const auto found = fake->published.find(data->key.data());
  if (found == fake->published.end()) return -46;
  data->value.kind = pmix::Kind::string;
  data->value.string = ::strdup(found->second.c_str());
  return pmix::success;
}

int unpublish(char** keys, const pmix::Info*, std::size_t) {
  EXPECT_EQ(keys[1], nullptr);
  fake->published.erase(keys[0]);
  return fake->status;
}

class PmixSpawn : public testing::Test {
 protected:
  void SetUp() override { fake = &library_; }

  static pmix::Functions functions() {
    pmix::Functions all;
    all.spawn = spawn;
    all.publish = publish;
    all.lookup = lookup;
    all.unpublish = unpublish;
    return all;
  }

  FakeLibrary library_;
  Pmix pmix_{functions()};
};

TEST_F(PmixSpawn, Orders_become_applications) {
  const StartOrder orders[] = {{"./child",
                                {"a b"},
                                2,
                                "/tmp",
                                {{"A", "1"}},
                                {{"host", "n1"}, {"bind_to", "core"}, {"x", "y"}}},
                               {"other", {}, 1, "/", {}, {}}};
  EXPECT_TRUE(pmix_.spawn(orders, "the port").ok());
  EXPECT_EQ(library_.apps, (std::vector<std::string>{
                               "./child 2 in /tmp ./child|a b env A=1|FULMAR_PARENT_PORT=the port "
                               "pmix.host=n1",
                               "other 1 in / other env FULMAR_PARENT_PORT=the port"}));
  EXPECT_EQ(library_.job_info, std::vector<std::string>{"pmix.bindto=core"});
}

TEST_F(PmixSpawn, A_refusal_names_status_and_launchers_that_can) {
  library_.status = -47;
  const StartOrder order{"p", {}, 1, "/", {}, {}};
  const base::Error error = pmix_.spawn({&order, 1}, "x");
  EXPECT_EQ(error.error_class(), base::ErrorClass::spawn);
  EXPECT_NE(error.text().find("-47"), std::string::npos);
  EXPECT_NE(error.text().find("--mpi=pmi2"), std::string::npos);
}

TEST_F(PmixSpawn, Names_are_kept_by_the_server) {
  EXPECT_EQ(pmix_.lookup_name("ocean").error().error_class(), base::ErrorClass::name);
  EXPECT_TRUE(pmix_.publish_name("ocean", "port").ok());
  EXPECT_EQ(pmix_.publish_name("ocean", "other").error_class(), base::ErrorClass::service);
  EXPECT_EQ(pmix_.lookup_name("ocean").value(), "port");
  EXPECT_TRUE(pmix_.unpublish_name("ocean").ok());
  EXPECT_EQ(pmix_.unpublish_name("ocean").error_class(), base::ErrorClass::service);
  EXPECT_EQ(pmix_.publish_name(std::string(1000, 'x'), "p").error_class(),
            base::ErrorClass::service);
  library_.status = -1;
  EXPECT_EQ(pmix_.publish_name("air", "p").error_class(), base::ErrorClass::service);
}

TEST(PmixWithout, A_library_without_the_functions_says_so) {
  Pmix pmix{pmix::Functions{}};
  const StartOrder order{"p", {}, 1, "/", {}, {}};
  EXPECT_EQ(pmix.spawn({&order, 1}, "x").error_class(), base::ErrorClass::spawn);
  EXPECT_EQ(pmix.publish_name("a", "b").error_class(), base::ErrorClass::service);
  EXPECT_EQ(pmix.lookup_name("a").error().error_class(), base::ErrorClass::service);
  EXPECT_EQ(pmix.unpublish_name("a").error_class(), base::ErrorClass::service);
}

}  // namespace
}  // namespace fulmar::runtime::bootstrap
