// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "fulmar/doctor/gather.h"
#include "fulmar/doctor/judge.h"
#include "fulmar/rdma/devices.h"

namespace fulmar {
namespace {

namespace fs = std::filesystem;
using doctor::Finding;
using doctor::Verdict;
using rdma::Device;
using rdma::Gid;
using rdma::Port;

constexpr const char* no_gid = "0000:0000:0000:0000:0000:0000:0000:0000";
constexpr const char* link_local = "fe80:0000:0000:0000:5054:00ff:fe77:0001";
constexpr const char* ipv4 = "0000:0000:0000:0000:0000:ffff:0a4d:0001";

/// A folder that looks like /sys and /dev.
class RdmaTree : public ::testing::Test {
 protected:
  RdmaTree() {
    char name[] = "/tmp/fulmar-rdma-XXXXXX";
    base_ = ::mkdtemp(name);
    roots = {base_ + "/sys", base_ + "/dev"};
    fs::create_directories(roots.sysfs + "/class");
  }
  ~RdmaTree() override { fs::remove_all(base_); }

  void write(const std::string& file, const std::string& text) const {
    const fs::path path = roots.sysfs + "/" + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void link(const std::string& file, const std::string& target) const {
    const fs::path path = roots.sysfs + "/" + file;
    fs::create_directories(path.parent_path());
    fs::create_symlink(target, path);
  }
  void gid(const std::string& port, int index, const std::string& text, const std::string& type,
           const std::string& interface) const {
    const std::string number = std::to_string(index);
    write(port + "/gids/" + number, text);
    if (!type.empty()) write(port + "/gid_attrs/types/" + number, type);
    if (!interface.empty()) write(port + "/gid_attrs/ndevs/" + number, interface);
  }

  /// A port that works.
  std::string add_port(const std::string& device, int number, const std::string& layer) const {
    const std::string port = "class/infiniband/" + device + "/ports/" + std::to_string(number);
    write(port + "/state", "4: ACTIVE");
    write(port + "/phys_state", "5: LinkUp");
    write(port + "/link_layer", layer);
    write(port + "/rate", "100 Gb/sec (4X EDR)");
    write(port + "/lid", layer == "Ethernet" ? "0x0" : "0x1a");
    return port;
  }
  std::string add_device(const std::string& device, const std::string& type) const {
    write("class/infiniband/" + device + "/node_type", type);
    return "class/infiniband/" + device;
  }
  std::string add_roce() const {
    write(add_device("rxe0", "1: CA") + "/fw_ver", "20.31");
    const std::string port = add_port("rxe0", 1, "Ethernet");
    gid(port, 0, link_local, "IB/RoCE v1", "eth0");
    gid(port, 1, link_local, "RoCE v2", "eth0");
    gid(port, 2, ipv4, "IB/RoCE v1", "eth0");
    gid(port, 3, ipv4, "RoCE v2", "eth0");
    gid(port, 10, no_gid, "", "");
    write("class/net/eth0/mtu", "1500");
    write("class/net/eth0/flags", "0x1003");
    return port;
  }
  void add_verbs(const std::string& device) const {
    write("class/infiniband_verbs/uverbs0/ibdev", device);
    fs::create_directories(roots.devices + "/infiniband");
    std::ofstream(roots.devices + "/infiniband/uverbs0") << "";
  }

  rdma::Roots roots;

 private:
  std::string base_;
};

TEST_F(RdmaTree, Without_devices_there_are_none) {
  EXPECT_TRUE(rdma::find_devices(roots).empty());
  EXPECT_TRUE(rdma::find_devices({"/nowhere", "/nowhere"}).empty());
  const rdma::Support support = rdma::find_support(roots);
  EXPECT_FALSE(support.core || support.verbs || support.soft_roce);
  EXPECT_TRUE(support.adapters.empty());
}

TEST_F(RdmaTree, RoCE_is_reached_by_the_second_version_and_IPv4) {
  add_roce();
  add_verbs("rxe0");
  const auto devices = rdma::find_devices(roots);
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].firmware, "20.31");
  EXPECT_EQ(devices[0].verbs, "uverbs0");
  EXPECT_EQ(devices[0].verbs_error, 0);
  ASSERT_EQ(devices[0].ports.size(), 1U);
  const Port& port = devices[0].ports[0];
  EXPECT_EQ(port.state, Port::State::active);
  EXPECT_EQ(port.link, Port::Link::roce);
  EXPECT_EQ(port.interface, "eth0");
  EXPECT_TRUE(port.interface_up);
  EXPECT_EQ(port.gids.size(), 4U);
  ASSERT_NE(port.best_gid(), nullptr);
  EXPECT_EQ(port.best_gid()->index, 3U);
  EXPECT_EQ(summary_of(port),
            "RoCE, 100 Gb/sec (4X EDR), eth0, MTU 1024, GID 3 ::ffff:10.77.0.1 (RoCE v2)");
}

TEST_F(RdmaTree, InfiniBand_has_a_lid_and_ports_in_their_order) {
  const std::string device = add_device("mlx5_0", "1: CA");
  link(device + "/device/driver", "../../../bus/pci/drivers/mlx5_core");
  for (const int number : {10, 2, 1}) add_port("mlx5_0", number, "InfiniBand");
  gid("class/infiniband/mlx5_0/ports/1", 0, link_local, "IB/RoCE v1", "");
  write("class/infiniband/mlx5_0/ports/2/state", "2: INIT");
  write("class/infiniband/mlx5_0/ports/10/state", "1: DOWN");
  const auto devices = rdma::find_devices(roots);
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].driver, "mlx5_core");
  EXPECT_EQ(devices[0].verbs, "");
  ASSERT_EQ(devices[0].ports.size(), 3U);
  EXPECT_EQ(devices[0].ports[1].number, 2U);
  EXPECT_EQ(devices[0].ports[1].state, Port::State::waiting);
  EXPECT_EQ(devices[0].ports[2].state, Port::State::down);
  const Port& port = devices[0].ports[0];
  EXPECT_EQ(port.mtu(), 0U);
  EXPECT_EQ(summary_of(port),
            "InfiniBand, 100 Gb/sec (4X EDR), LID 26, GID 0 fe80::5054:ff:fe77:1 (InfiniBand)");
}

TEST_F(RdmaTree, IWarp_is_told_by_the_kind_of_the_node) {
  add_device("cxgb4_0", "4: RNIC");
  add_port("cxgb4_0", 1, "Ethernet");
  write("class/infiniband/cxgb4_0/device/net/eth5/mtu", "9000");
  write("class/net/eth5/mtu", "9000");
  const auto devices = rdma::find_devices(roots);
  ASSERT_EQ(devices.at(0).ports.size(), 1U);
  const Port& port = devices[0].ports[0];
  EXPECT_EQ(port.link, Port::Link::iwarp);
  EXPECT_EQ(port.interface, "eth5");
  EXPECT_FALSE(port.interface_up);
  EXPECT_EQ(port.mtu(), 0U);
  EXPECT_EQ(port.best_gid(), nullptr);
}

TEST_F(RdmaTree, A_port_without_addresses_has_the_interface_of_its_device) {
  write(add_device("rxe0", "1: CA") + "/parent", "eth1");
  add_port("rxe0", 1, "Ethernet");
  write("class/net/eth1/mtu", "4200");
  const auto devices = rdma::find_devices(roots);
  EXPECT_EQ(devices.at(0).ports.at(0).interface, "eth1");
  EXPECT_EQ(devices[0].ports[0].mtu(), 4096U);
}

TEST_F(RdmaTree, Errors_that_were_counted) {
  const std::string port = add_roce();
  write(port + "/counters/link_downed", "3");
  write(port + "/counters/symbol_error", "0");
  write(port + "/counters/port_rcv_data", "77");
  write(port + "/hw_counters/local_ack_timeout_err", "5");
  const auto devices = rdma::find_devices(roots);
  const std::vector<std::pair<std::string, std::uint64_t>> expected = {
      {"link_downed", 3}, {"local_ack_timeout_err", 5}};
  EXPECT_EQ(devices.at(0).ports.at(0).errors, expected);
}

TEST_F(RdmaTree, The_file_of_a_device_may_be_missing) {
  add_roce();
  add_verbs("rxe0");
  fs::remove(roots.devices + "/infiniband/uverbs0");
  EXPECT_EQ(rdma::find_devices(roots).at(0).verbs_error, ENOENT);
  if (::geteuid() == 0) GTEST_SKIP() << "root may open everything";
  add_verbs("rxe0");
  fs::permissions(roots.devices + "/infiniband/uverbs0", fs::perms::none);
  EXPECT_EQ(rdma::find_devices(roots).at(0).verbs_error, EACCES);
}

TEST_F(RdmaTree, Modules_and_adapters_without_a_driver) {
  write("module/ib_core/version", "1");
  write("module/rdma_rxe/version", "1");
  write("bus/pci/devices/0000:81:00.0/class", "0x020700");
  write("bus/pci/devices/0000:82:00.0/class", "0x020700");
  link("bus/pci/devices/0000:82:00.0/driver", "../drivers/mlx5_core");
  write("bus/pci/devices/0000:83:00.0/class", "0x020000");
  const rdma::Support support = rdma::find_support(roots);
  EXPECT_TRUE(support.core);
  EXPECT_FALSE(support.verbs);
  EXPECT_TRUE(support.soft_roce);
  EXPECT_EQ(support.adapters, std::vector<std::string>{"0000:81:00.0"});
}

/// One device with one port of RoCE, in order.
doctor::RdmaFacts sound() {
  Port port;
  port.state = Port::State::active;
  port.link = Port::Link::roce;
  port.physical = "LinkUp";
  port.interface = "eth0";
  port.interface_mtu = 4200;
  port.interface_up = true;
  port.gids = {{0, "fe80::1", Gid::Kind::roce_v2, "eth0"},
               {1, "::ffff:10.0.0.1", Gid::Kind::roce_v2, "eth0"}};
  Device device;
  device.name = "rxe0";
  device.verbs = "uverbs0";
  device.ports = {port};
  doctor::RdmaFacts facts;
  facts.devices = {device};
  facts.library.file = "libibverbs.so.1";
  facts.usable = {"rxe0"};
  return facts;
}

Finding finding_of(const doctor::RdmaFacts& facts, const std::string& name) {
  Finding wanted;
  for (const Finding& finding : judge_rdma(facts)) {
    EXPECT_EQ(finding.verdict == Verdict::ok, finding.remedy.empty()) << finding.name;
    EXPECT_FALSE(finding.found.empty()) << finding.name;
    if (finding.name == name) wanted = finding;
  }
  EXPECT_EQ(wanted.name, name);
  return wanted;
}

TEST(DoctorRdma, A_sound_device_is_ok) {
  EXPECT_EQ(worst_of(judge_rdma(sound())), Verdict::ok);
  EXPECT_NE(finding_of(sound(), "rxe0:1").found.find("GID 1"), std::string::npos);
  EXPECT_NE(finding_of(sound(), "rxe0:1").found.find("FULMAR_FABRIC=shm,verbs"), std::string::npos);
}

TEST(DoctorRdma, No_device_matters_to_those_who_want_one) {
  doctor::RdmaFacts facts;
  EXPECT_EQ(finding_of(facts, "RDMA devices").verdict, Verdict::ok);
  facts.asked_for = true;
  EXPECT_EQ(finding_of(facts, "RDMA devices").verdict, Verdict::warn);
  EXPECT_NE(finding_of(facts, "RDMA devices").found.find("ib_core"), std::string::npos);
  EXPECT_NE(finding_of(facts, "RDMA devices").remedy.find("rdma_rxe"), std::string::npos);
  facts.support.core = true;
  EXPECT_EQ(finding_of(facts, "RDMA devices").found.find("ib_core"), std::string::npos);
  facts.asked_for = false;
  facts.support.adapters = {"0000:81:00.0"};
  EXPECT_EQ(finding_of(facts, "RDMA devices").verdict, Verdict::warn);
  EXPECT_NE(finding_of(facts, "RDMA devices").remedy.find("0000:81:00.0"), std::string::npos);
}

TEST(DoctorRdma, Device_that_is_asked_for_has_to_be_there_and_active) {
  const char* const name = "FULMAR_VERBS_DEVICE";
  doctor::RdmaFacts facts = sound();
  for (const char* good : {"rxe0", "rxe0:1"}) {
    facts.wish = good;
    EXPECT_EQ(finding_of(facts, name).verdict, Verdict::ok) << good;
  }
  for (const char* bad : {"rxe0:2", "rxe", "mlx5_0", ":1"}) {
    facts.wish = bad;
    const Finding finding = finding_of(facts, name);
    EXPECT_EQ(finding.verdict, Verdict::warn) << bad;
    EXPECT_NE(finding.found.find("no such device or port"), std::string::npos) << bad;
    EXPECT_NE(finding.remedy.find("FULMAR_VERBS_DEVICE=rxe0:1"), std::string::npos) << bad;
  }
  facts.wish = "rxe0";
  facts.devices[0].ports[0].state = Port::State::down;
  EXPECT_NE(finding_of(facts, name).found.find("no port of it is active"), std::string::npos);
}

TEST(DoctorRdma, What_keeps_programs_from_a_device) {
  doctor::RdmaFacts facts = sound();
  Device& device = facts.devices[0];
  facts.usable.clear();
  EXPECT_NE(finding_of(facts, "rxe0").remedy.find("ibverbs-providers"), std::string::npos);
  facts.library.file = "";  // has a finding of its own
  EXPECT_EQ(finding_of(facts, "rxe0").verdict, Verdict::ok);
  device.verbs_error = EACCES;
  EXPECT_NE(finding_of(facts, "rxe0").remedy.find("chmod"), std::string::npos);
  device.verbs_error = EPERM;
  EXPECT_NE(finding_of(facts, "rxe0").remedy.find("--device /dev/infiniband/uverbs0"),
            std::string::npos);
  device.verbs = "";
  EXPECT_EQ(finding_of(facts, "rxe0").remedy, "modprobe ib_uverbs");
}

TEST(DoctorRdma, Ports_that_are_not_active) {
  doctor::RdmaFacts facts = sound();
  Port& port = facts.devices[0].ports[0];
  port.state = Port::State::down;
  EXPECT_EQ(finding_of(facts, "rxe0:1").verdict, Verdict::warn);
  EXPECT_NE(finding_of(facts, "rxe0:1").remedy.find("cable"), std::string::npos);
  port.interface_up = false;
  EXPECT_EQ(finding_of(facts, "rxe0:1").remedy, "ip link set eth0 up");
  port.state = Port::State::waiting;
  EXPECT_NE(finding_of(facts, "rxe0:1").remedy.find("subnet manager"), std::string::npos);
  Port second = port;
  second.number = 2;
  second.state = Port::State::active;
  facts.devices[0].ports.push_back(second);
  EXPECT_EQ(finding_of(facts, "rxe0:1").verdict, Verdict::note);
  EXPECT_EQ(finding_of(facts, "rxe0:2").verdict, Verdict::ok);
}

TEST(DoctorRdma, Addresses_of_RoCE) {
  doctor::RdmaFacts facts = sound();
  Port& port = facts.devices[0].ports[0];
  port.interface_mtu = 1500;
  EXPECT_EQ(finding_of(facts, "rxe0:1").verdict, Verdict::note);
  EXPECT_NE(finding_of(facts, "rxe0:1").remedy.find("mtu 4200"), std::string::npos);
  port.gids.pop_back();
  EXPECT_NE(finding_of(facts, "rxe0:1").found.find("no IPv4 address"), std::string::npos);
  port.gids[0].kind = Gid::Kind::roce_v1;
  EXPECT_NE(finding_of(facts, "rxe0:1").found.find("RoCE v1"), std::string::npos);
  port.gids.clear();
  EXPECT_EQ(finding_of(facts, "rxe0:1").verdict, Verdict::warn);
}

TEST(DoctorRdma, Errors_are_noted) {
  doctor::RdmaFacts facts = sound();
  facts.devices[0].ports[0].errors = {{"link_downed", 3}};
  EXPECT_EQ(finding_of(facts, "rxe0:1 errors").verdict, Verdict::note);
  EXPECT_NE(finding_of(facts, "rxe0:1 errors").found.find("link_downed 3"), std::string::npos);
}

TEST(Gather, The_library_for_verbs_is_found_or_a_problem) {
  const doctor::RdmaFacts facts = doctor::gather_rdma();
  EXPECT_NE(facts.library.file.empty(), facts.library.problem.empty());
}

}  // namespace
}  // namespace fulmar
