// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/handover.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "mpiexec/shell.h"

namespace fulmar::mpiexec {
namespace {

using Words = std::vector<std::string>;

const FoundManager hydra{Manager::hydra, "mpiexec.hydra", {}};
const FoundManager prte{Manager::prte, "prterun", {}};
const FoundManager slurm{Manager::slurm, "srun", "pmi2"};
const Words no_environment;

Words split(const std::string& line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Options parse(const std::string& line) {
  auto options = parse_options(split(line));
  EXPECT_TRUE(options.ok()) << line << ": " << options.error().text();
  return options.ok() ? options.value() : Options{};
}

base::Result<Handover> hand(const std::string& line, const FoundManager& manager,
                            const Words& environment = no_environment) {
  const Options options = parse(line);
  std::vector<Share> shares;
  if (!options.hosts.empty()) {
    shares = share_ranks(options.hosts, options.rank_count(), options.dealing);
  }
  return translate(options, shares, manager, environment);
}

/// The other command line; what is wrong where there is none.
std::string line_of(const std::string& line, const FoundManager& manager,
                    const Words& environment = no_environment) {
  const auto handover = hand(line, manager, environment);
  return handover.ok() ? shell_text(handover.value()) : handover.error().text();
}

TEST(Handover, Ranks_are_in_blocks_under_every_manager) {
  const std::string line = "--host a:2,b -n 4 ./p x";
  EXPECT_EQ(line_of(line, hydra), "mpiexec.hydra -hosts a:3,b:1 -n 4 ./p x");
  EXPECT_EQ(line_of(line, prte), "prterun --host a:3,b:1 --map-by slot:OVERSUBSCRIBE -n 4 ./p x");
  EXPECT_EQ(line_of(line, slurm),
            "srun --mpi=pmi2 --export=ALL -n 4 -N 2 --distribution=arbitrary -w a,a,a,b --input=0 "
            "./p x");
}

TEST(Handover, Slurm_is_told_numbers_that_are_alike) {
  EXPECT_EQ(line_of("--host a:2,b:2 ./p", slurm),
            "srun --mpi=pmi2 --export=ALL -n 4 -N 2 --distribution=block --ntasks-per-node=2 "
            "-w a,b --input=0 ./p");
}

TEST(Handover, Ranks_in_turn_under_every_manager) {
  const std::string line = "--host a:2,b --map-by node -n 3 ./p";
  EXPECT_EQ(line_of(line, hydra), "mpiexec.hydra -hosts a,b -n 3 ./p");
  EXPECT_EQ(line_of(line, prte), "prterun --host a:2,b:1 --map-by node:OVERSUBSCRIBE -n 3 ./p");
  EXPECT_NE(line_of(line, slurm).find("-N 2 --distribution=cyclic -w a,b "), std::string::npos);
}

TEST(Handover, Without_a_number_of_ranks_there_is_one_for_each_place) {
  EXPECT_EQ(line_of("--host a:2,b ./p", hydra), "mpiexec.hydra -hosts a:2,b:1 -n 3 ./p");
  EXPECT_EQ(line_of("--host a:2,b -ppn 4 ./p", hydra), "mpiexec.hydra -hosts a:4,b:4 -n 8 ./p");
  EXPECT_EQ(line_of("--host a:2,b ./p : ./q", hydra),
            "mpiexec.hydra -hosts a:2 -n 1 ./p : -n 1 ./q");
}

TEST(Handover, Variables_reach_the_ranks_and_nothing_else_does) {
  const Words environment = {"HOME=/h",        "FULMAR_FABRIC=tcp",  "HOSTNAME=a",
                             "SLURM_JOB_ID=3", "LD_LIBRARY_PATH=/l", "PRTE_PREFIX=/x"};
  const std::string line = "--host a,b -genv G 1 -env E two -n 2 ./p";
  EXPECT_EQ(line_of(line, hydra, environment),
            "G=1 mpiexec.hydra -hosts a:1,b:1 -n 2 -env E two ./p");
  EXPECT_EQ(line_of(line, prte, environment),
            "G=1 prterun --host a:1,b:1 --map-by slot:OVERSUBSCRIBE -n 2 -x FULMAR_FABRIC -x G "
            "-x HOME -x LD_LIBRARY_PATH -x E=two ./p");
  EXPECT_NE(line_of(line, slurm, environment).find("--input=0 env E=two ./p"), std::string::npos);
}

TEST(Handover, Lists_of_variables_are_kept_to) {
  const Words environment = {"A=1", "B=2", "C=3"};
  EXPECT_EQ(line_of("--host a -envlist A,C -n 1 ./p", hydra, environment),
            "mpiexec.hydra -hosts a:1 -n 1 -envlist A,C ./p");
  EXPECT_EQ(line_of("--host a -envnone -n 1 ./p", hydra, environment),
            "mpiexec.hydra -hosts a:1 -n 1 -envnone ./p");
  EXPECT_NE(line_of("--host a -genvlist A,C -n 1 ./p", prte, environment).find("-x A -x C ./p"),
            std::string::npos);
  EXPECT_NE(line_of("--host a -genvlist A,C -envlist C,B -n 1 ./p", slurm).find("--export=C "),
            std::string::npos);
  EXPECT_NE(line_of("--host a -genvnone -n 1 ./p", slurm).find("--export=NONE"), std::string::npos);
  EXPECT_NE(line_of("--host a -envlist A -n 1 ./p : ./q", slurm).find("-genvlist"),
            std::string::npos);
}

TEST(Handover, Several_programs) {
  const std::string line = "--host a:3 -n 1 ./p 'x : -n 2 -env E 1 -wdir /tmp ./q";
  EXPECT_EQ(line_of(line, hydra),
            "mpiexec.hydra -hosts a:3 -n 1 ./p ''\\''x' : -n 2 -env E 1 env -C /tmp ./q");
  EXPECT_EQ(line_of(line, prte),
            "prterun --host a:3 --map-by slot:OVERSUBSCRIBE -n 1 ./p ''\\''x' : -n 2 --wdir /tmp "
            "-x E=1 ./q");
  const auto handover = hand(line, slurm);
  ASSERT_TRUE(handover.ok());
  EXPECT_EQ(handover.value().words.back(),
            "if [ $SLURM_PROCID -lt 1 ]; then exec ./p ''\\''x'; elif [ $SLURM_PROCID -lt 3 ]; "
            "then exec env -C /tmp E=1 ./q; fi");
  EXPECT_EQ(handover.value().notes.size(), 1U);
}

TEST(Handover, A_folder_for_all) {
  EXPECT_EQ(line_of("--host a -n 1 -wdir /w ./p", hydra),
            "mpiexec.hydra -hosts a:1 -wdir /w -n 1 ./p");
  EXPECT_NE(line_of("--host a -n 1 -wdir /w ./p", slurm).find("--chdir=/w ./p"), std::string::npos);
  EXPECT_EQ(line_of("--host a -n 1 -wdir w ./p", hydra).find("-wdir w"), std::string::npos);
}

TEST(Handover, Labels_bindings_and_input) {
  const std::string line = "--host a -l --bind-to socket --report-bindings -n 1 ./p";
  EXPECT_EQ(line_of(line, hydra),
            "HYDRA_TOPO_DEBUG=1 mpiexec.hydra -hosts a:1 -bind-to socket -prepend-rank -n 1 ./p");
  EXPECT_EQ(line_of(line, prte),
            "prterun --host a:1 --map-by slot:OVERSUBSCRIBE --bind-to package:overload-allowed "
            "--output tag "
            "--display bind -n 1 ./p");
  EXPECT_NE(line_of(line, slurm).find("--cpu-bind=verbose,sockets --label --input=0"),
            std::string::npos);
  EXPECT_NE(line_of("--host a --stdin 1 -n 2 ./p", prte).find("--stdin 1"), std::string::npos);
  EXPECT_NE(line_of("--host a --stdin none -n 2 ./p", prte).find("</dev/null"), std::string::npos);
  EXPECT_NE(line_of("--host a --stdin all -n 2 ./p", slurm).find("--input=all"), std::string::npos);
}

TEST(Handover, What_a_manager_cannot_do_is_an_error_that_names_it) {
  EXPECT_NE(line_of("--host a --stdin 1 -n 2 ./p", hydra).find("Hydra cannot do what \"--stdin\""),
            std::string::npos);
  EXPECT_NE(line_of("--host a --map-by core -n 2 ./p", slurm).find("srun cannot"),
            std::string::npos);
  EXPECT_NE(line_of("--host a --bind-to l3cache -n 2 ./p", slurm).find("numa or socket"),
            std::string::npos);
}

TEST(Handover, A_timeout_is_kept_by_another_program) {
  EXPECT_EQ(line_of("--host a --timeout 1.5 -n 1 ./p", hydra),
            "timeout --foreground -k 5 1.5 mpiexec.hydra -hosts a:1 -n 1 ./p");
}

TEST(Handover, Slurm_may_deal_its_own_nodes) {
  EXPECT_EQ(line_of("./p", slurm), "srun --mpi=pmi2 --export=ALL --input=0 ./p");
  EXPECT_EQ(line_of("-n 4 -ppn 2 --oversubscribe ./p", slurm, {"SLURM_STEP_ID=0"}),
            "srun --mpi=pmi2 --overlap --export=ALL -n 4 --ntasks-per-node=2 --overcommit "
            "--input=0 ./p");
}

const char* no_variable(const char* /*name*/) { return nullptr; }
const char* wide_variable(const char* name) {
  if (std::strcmp(name, "SLURM_JOB_ID") == 0) return "7";
  return std::strcmp(name, "SLURM_JOB_NUM_NODES") == 0 ? "2" : nullptr;
}
const char* task_variable(const char* name) {
  return std::strcmp(name, "SLURM_STEP_NUM_TASKS") == 0 ? "2" : wide_variable(name);
}

TEST(Destination, Is_here_unless_another_host_gets_a_rank) {
  const ManagerSearch search{"", no_variable};
  for (const char* line : {"p", "-n 4 p", "--host localhost:4 p", "--host me,localhost -n 2 p",
                           "--host me:4,other:4 -n 4 p"}) {
    EXPECT_TRUE(destination_of(parse(line), search, "me").here) << line;
  }
  for (const char* line : {"--host other p", "--host me:4,other:4 -n 5 p", "--manager hydra p"}) {
    EXPECT_FALSE(destination_of(parse(line), search, "me").here) << line;
  }
}

TEST(Destination, Localhost_has_a_name_that_others_know) {
  const auto there = destination_of(parse("--host localhost,b -n 2 p"), {"", no_variable}, "me");
  EXPECT_EQ(there.shares, (std::vector<Share>{{"me", 1}, {"b", 1}}));
}

TEST(Destination, An_allocation_of_several_nodes_is_used_but_not_by_its_tasks) {
  EXPECT_FALSE(destination_of(parse("-n 4 p"), {"", wide_variable}, "me").here);
  EXPECT_TRUE(destination_of(parse("--host localhost -n 4 p"), {"", wide_variable}, "me").here);
  EXPECT_TRUE(destination_of(parse("-n 4 p"), {"", task_variable}, "me").here);
}

TEST(Shell, Words_come_back_as_they_were) {
  EXPECT_EQ(shell_word("plain/x-1,2"), "plain/x-1,2");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$x"), "'$x'");
}

TEST(Handover, Amounts_of_cores_and_ranks) {
  EXPECT_EQ(line_of("--host a,b --map-by ppr:2:node:PE=3 p", hydra),
            "mpiexec.hydra -hosts a:2,b:2 -bind-to core:3 -n 4 p");
  EXPECT_EQ(line_of("--host a --map-by ppr:2:socket:PE=3,HWTCPUS -n 4 p", prte),
            "prterun --host a:4 --map-by ppr:2:package:OVERSUBSCRIBE,PE=3,HWTCPUS -n 4 p");
  EXPECT_NE(line_of("--host a:2 --cpus-per-rank 3 -n 2 p", slurm).find(" --cpus-per-task=3 "),
            std::string::npos);
  EXPECT_NE(line_of("--host a --map-by ppr:2:socket -n 2 p", hydra).find("ppr:N:node"),
            std::string::npos);
}

TEST(Handover, Output_into_files) {
  const std::string files = "--host a -outfile-pattern o.%r.%h -errfile-pattern e p";
  EXPECT_NE(line_of(files, hydra).find("-outfile-pattern o.%r.%h -errfile-pattern e "),
            std::string::npos);
  EXPECT_NE(line_of(files, slurm).find("--output=o.%t.%N --error=e "), std::string::npos);
  EXPECT_NE(line_of(files, prte).find("use --output dir=NAME"), std::string::npos);
  const std::string folder = "--host a --output dir=d,tag p";
  EXPECT_NE(line_of(folder, prte).find("--output dir=d,tag -n"), std::string::npos);
  EXPECT_NE(line_of(folder, hydra).find("use -outfile-pattern"), std::string::npos);
  EXPECT_NE(line_of("--host a --output filename=f p", hydra).find("-outfile-pattern f.%r "),
            std::string::npos);
}

TEST(Handover, Reports_and_times) {
  EXPECT_NE(line_of("--host a --display map,bind p", prte).find("--display map,bind"),
            std::string::npos);
  EXPECT_NE(line_of("--host a --timestamp-output --label p", prte).find("--output tag,timestamp"),
            std::string::npos);
  EXPECT_NE(line_of("--host a -print-all-exitcodes -print-rank-map p", hydra)
                .find("-print-all-exitcodes -print-rank-map"),
            std::string::npos);
  EXPECT_NE(line_of("--host a --timestamp-output p", slurm).find("--timestamp-output"),
            std::string::npos);
  EXPECT_NE(line_of("--host a -prepend-pattern %r: p", hydra).find("-prepend-pattern %r:"),
            std::string::npos);
}

}  // namespace
}  // namespace fulmar::mpiexec
