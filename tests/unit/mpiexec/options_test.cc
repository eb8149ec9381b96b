// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "mpiexec/foreign_options.h"
#include "mpiexec/option_table.h"

namespace fulmar::mpiexec {
namespace {

using Words = std::vector<std::string>;

/// Splits at blanks: enough for the lines of these tests.
Words words(const std::string& line) {
  Words list;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) list.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

Options parse(const std::string& line) {
  auto parsed = parse_options(words(line));
  EXPECT_TRUE(parsed.ok()) << line << ": " << parsed.error().text();
  return parsed.ok() ? parsed.value() : Options{};
}

std::string complaint(const std::string& line) {
  const auto parsed = parse_options(words(line));
  EXPECT_TRUE(parsed.failed()) << line;
  return parsed.error().text();
}

TEST(Options, Count_has_three_names_and_one_or_two_dashes) {
  for (const char* line : {"-n 7 p", "-np 7 p", "--np 7 p", "-c 7 p", "--n=7 p", "-np=7 p"}) {
    EXPECT_EQ(parse(line).programs.at(0).count, 7U) << line;
  }
  EXPECT_EQ(parse("p").programs.at(0).count, 1U);
}

TEST(Options, Count_out_of_range_is_refused_with_its_value) {
  for (const char* line :
       {"-n 0 p", "-n -1 p", "-n x p", "-n 2x p", "-n 65537 p", "-n 99999999999999999999 p"}) {
    EXPECT_NE(complaint(line).find(words(line)[1]), std::string::npos) << line;
  }
}

TEST(Options, Arguments_after_the_program_are_its_own) {
  const Options options = parse("-n 2 p -n 3 --label -x");
  ASSERT_EQ(options.programs.size(), 1U);
  EXPECT_EQ(options.programs[0].argv, words("p -n 3 --label -x"));
  EXPECT_FALSE(options.label);
}

TEST(Options, Colon_separates_programs_with_rules_of_their_own) {
  const Options options = parse("-genv G 1 -n 2 -env A 1 -wdir /a p x : -n 3 -x B=2 q");
  ASSERT_EQ(options.programs.size(), 2U);
  EXPECT_EQ(options.rank_count(), 5U);
  EXPECT_EQ(options.programs[0].argv, words("p x"));
  EXPECT_EQ(options.programs[0].wdir, "/a");
  EXPECT_EQ(options.programs[0].env.settings.at(0).name, "A");
  EXPECT_EQ(options.programs[1].env.settings.at(0).name, "B");
  EXPECT_EQ(options.programs[1].env.settings.at(0).value, "2");
  EXPECT_EQ(options.env.settings.at(0).name, "G");
  EXPECT_TRUE(options.programs[1].wdir.empty());
}

TEST(Options, Initial_error_handler_is_a_variable_of_the_program) {
  const Options options = parse("-initial-errhandler mpi_errors_return p : q");
  EXPECT_EQ(options.programs[0].env.settings.at(0).name, "FULMAR_ERRHANDLER");
  EXPECT_EQ(options.programs[0].env.settings.at(0).value, "mpi_errors_return");
  EXPECT_TRUE(options.programs[1].env.settings.empty());
}

TEST(Options, Double_dash_ends_the_options) {
  EXPECT_EQ(parse("-n 2 -- -p x").programs.at(0).argv, words("-p x"));
}

TEST(Options, Value_of_x_may_hold_equals_signs) {
  const Options options = parse("-x A=b=c p");
  EXPECT_EQ(options.programs.at(0).env.settings.at(0).value, "b=c");
}

TEST(Options, Env_list_and_none_limit_what_is_passed) {
  EXPECT_EQ(parse("-envlist A,B p").programs.at(0).env.passed, words("A B"));
  EXPECT_EQ(parse("-genvlist A p").env.passed, words("A"));
  EXPECT_EQ(parse("-envnone p").programs.at(0).env.passed, Words{});
  EXPECT_FALSE(parse("p").env.passed.has_value());
}

TEST(Options, Places_are_read) {
  const Options options = parse("--bind-to numa --map-by socket p");
  EXPECT_EQ(options.bind_to, Place::numa);
  EXPECT_EQ(options.map_by, Place::socket);
  EXPECT_EQ(parse("--bind-to none p").bind_to, Place::none);
  EXPECT_EQ(parse("--map-by socket:OVERSUBSCRIBE p").map_by, Place::socket);
  EXPECT_EQ(parse("--map-by :OVERSUBSCRIBE p").map_by, Place::automatic);
  EXPECT_EQ(parse("--map-by numa --map-by :OVERSUBSCRIBE p").map_by, Place::numa);
  EXPECT_EQ(parse("--bind-to :overload-allowed p").bind_to, Place::automatic);
  EXPECT_NE(complaint("--map-by : p").find("\":\""), std::string::npos);
  EXPECT_NE(complaint("--map-by moon p").find("socket, node"), std::string::npos);
  EXPECT_NE(complaint("--bind-to node p").find("numa, socket"), std::string::npos);
  EXPECT_NE(complaint("--map-by socket:PE=x p").find("\"x\""), std::string::npos);
  EXPECT_NE(complaint("--map-by socket:MOON p").find("\"MOON\""), std::string::npos);
  EXPECT_NE(complaint("--bind-to moon p").find("\"moon\""), std::string::npos);
}

TEST(Options, Stdin_target_must_be_a_rank_of_the_job) {
  EXPECT_EQ(parse("--stdin 1 -n 2 p").stdin_rank, 1U);
  EXPECT_EQ(parse("--stdin all p").stdin_to, StdinTo::all);
  EXPECT_EQ(parse("--stdin none p").stdin_to, StdinTo::none);
  EXPECT_NE(complaint("--stdin 2 -n 2 p").find("0 to 1"), std::string::npos);
}

TEST(Options, Map_by_takes_amounts) {
  const Options blocks = parse("--map-by ppr:2:numa:PE=3,OVERSUBSCRIBE -n 4 p");
  EXPECT_EQ(blocks.map_by, Place::numa);
  EXPECT_EQ(blocks.ranks_per_object, 2U);
  EXPECT_EQ(blocks.units_per_rank, 3U);
  EXPECT_EQ(blocks.rank_count(), 4U);
  EXPECT_TRUE(blocks.oversubscribe);
  const Options node = parse("--map-by ppr:3:node p");
  EXPECT_EQ(node.per_host, 3U);
  EXPECT_EQ(node.rank_count(), 3U) << "one host";
  EXPECT_EQ(parse("--map-by PPR:3:Node --host a,b p").rank_count(), 6U);
  EXPECT_EQ(parse("--npersocket 2 -n 3 p").ranks_per_object, 2U);
  EXPECT_TRUE(parse("--map-by slot:pe=2,hwtcpus p").count_hwthreads);
  EXPECT_EQ(parse("--bind-to core:4 p").units_per_rank, 4U);
  EXPECT_EQ(parse("--cpus-per-rank 4 p").units_per_rank, 4U);
  EXPECT_NE(complaint("--map-by ppr:2 p").find("ppr:N:OBJECT"), std::string::npos);
  EXPECT_NE(complaint("--map-by ppr:0:core p").find("\"0\""), std::string::npos);
  EXPECT_NE(complaint("--map-by ppr:2:moon p").find("ppr:2:moon"), std::string::npos);
  EXPECT_NE(complaint("--bind-to numa:2 p").find("numa:2"), std::string::npos);
}

TEST(Options, Ppr_of_an_object_of_the_machine_counts_the_ranks) {
  const Options options = parse("--map-by ppr:1:core p");
  EXPECT_EQ(options.rank_count(), parse("--map-by ppr:2:core p").rank_count() / 2);
  EXPECT_GE(options.rank_count(), 1U);
}

TEST(Options, Output_names_files_in_the_layout_of_Open_MPI) {
  const OutputFiles folder = parse("--output dir=d%r p").output_files;
  EXPECT_EQ(folder.out, "d%%r/1/rank.%R/stdout");
  EXPECT_EQ(folder.err, "d%%r/1/rank.%R/stderr");
  EXPECT_TRUE(folder.copy);
  const OutputFiles quiet = parse("--output dir=d:nocopy,nojobid p").output_files;
  EXPECT_EQ(quiet.out, "d/rank.%R/stdout");
  EXPECT_FALSE(quiet.copy);
  const Options file = parse("--output tag,filename=a:b,timestamp,merge-stderr-to-stdout p");
  EXPECT_EQ(file.output_files.out, "a:b.%R");
  EXPECT_EQ(file.output_files.err, "a:b.%R");
  EXPECT_TRUE(file.label && file.timestamps && file.merge_stderr);
  EXPECT_EQ(parse("--output filename=a.%r:pattern p").output_files.out, "a.%r");
  EXPECT_EQ(parse("--output-filename d:nocopy p").output_files.err, "d/1/rank.%R/stderr");
  EXPECT_EQ(parse("-outfile-pattern=o.%r -errfile-pattern e p").output_files.err, "e");
  EXPECT_NE(complaint("--output moon p").find("\"moon\""), std::string::npos);
}

TEST(Options, Display_and_reports) {
  const Options options = parse("--display map,bind -print-all-exitcodes -print-rank-map p");
  EXPECT_TRUE(options.show_map && options.report_bindings);
  EXPECT_TRUE(options.print_exit_codes && options.print_rank_map);
  EXPECT_NE(complaint("--display topo p").find("\"topo\""), std::string::npos);
}

TEST(Options, Memory_kinds_are_checked_for_their_syntax) {
  (void)parse("-memory-alloc-kinds mpi,system p");
  (void)parse("--memory-alloc-kinds=cuda:device:managed,mpi p");
  for (const char* bad : {"", ",mpi", "mpi,", "mpi::x", "mpi, "}) {
    const auto parsed = parse_options(Words{"-memory-alloc-kinds", bad, "p"});
    EXPECT_TRUE(parsed.failed()) << bad;
  }
}

TEST(Options, Interface_is_a_variable_of_all_programs) {
  const Options options = parse("-iface eth1 p : q");
  EXPECT_EQ(options.env.settings.at(0).name, "FULMAR_TCP_INTERFACES");
  EXPECT_EQ(options.env.settings.at(0).value, "eth1");
}

TEST(Options, Deadlock_timeout_of_the_environment_counts_where_none_is_given) {
  EXPECT_EQ(parse("p").deadlock_timeout_s, 10);
  EXPECT_EQ(parse("p").polled_deadlock_timeout_s, 60);
  ::setenv(env_deadlock_timeout, "25", 1);
  EXPECT_EQ(parse("p").deadlock_timeout_s, 25);
  EXPECT_EQ(parse("p").polled_deadlock_timeout_s, 25);
  EXPECT_EQ(parse("--deadlock-timeout 3 p").deadlock_timeout_s, 3);
  ::setenv(env_deadlock_timeout, "soon", 1);
  EXPECT_NE(complaint("p").find("FULMAR_DEADLOCK_TIMEOUT is \"soon\""), std::string::npos);
  ::unsetenv(env_deadlock_timeout);
}

TEST(Options, Variables_of_hydra_count_where_no_option_is_given) {
  ::setenv(env_timeout, "25", 1);
  ::setenv(env_universe, "7", 1);
  EXPECT_EQ(parse("p").timeout_s, 25);
  EXPECT_EQ(parse("p").universe_size, 7U);
  EXPECT_EQ(parse("--timeout 3 p").timeout_s, 3);
  EXPECT_EQ(parse("-usize SYSTEM p").universe_size, 0U);
  ::setenv(env_universe, "many", 1);
  EXPECT_NE(complaint("p").find("MPIEXEC_UNIVERSE_SIZE"), std::string::npos);
  ::setenv(env_timeout, "soon", 1);
  EXPECT_NE(complaint("p").find("MPIEXEC_TIMEOUT is \"soon\""), std::string::npos);
  ::setenv(env_timeout, "0", 1);
  ::unsetenv(env_universe);
  EXPECT_EQ(parse("p").timeout_s, 0);
  ::unsetenv(env_timeout);
}

TEST(Options, Folders_of_all_programs_count_where_a_program_has_none) {
  const Options options = parse("-gwdir /g -gpath /b p : -wdir /w -path /q q : r");
  EXPECT_EQ(options.programs.at(0).wdir, "/g");
  EXPECT_EQ(options.programs.at(0).path, "/b");
  EXPECT_EQ(options.programs.at(1).wdir, "/w");
  EXPECT_EQ(options.programs.at(1).path, "/q");
  EXPECT_EQ(options.programs.at(2).wdir, "/g");
  EXPECT_EQ(options.programs.at(2).path, "/b");
}

TEST(Options, Other_launchers_words_for_ranks_that_go_on) {
  for (const char* line : {"-disable-auto-cleanup p", "--continuous p", "--with-ft ulfm p",
                           "--with-ft=mpi p", "--with-ft yes p"}) {
    EXPECT_TRUE(parse(line).continues) << line;
  }
  for (const char* line : {"p", "--with-ft none p", "--with-ft no p"}) {
    EXPECT_FALSE(parse(line).continues) << line;
  }
  EXPECT_NE(complaint("--with-ft maybe p").find("maybe"), std::string::npos);
}

TEST(Options, No_name_stands_in_two_tables_or_twice) {
  std::set<std::string> names;
  const auto add = [&](std::string_view list) {
    for (const std::string& name : words(std::string(list))) {
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  };
  for (const OptionRow& row : option_rows()) add(row.names);
  for (const ForeignOption& option : foreign_options()) add(option.names);
  EXPECT_GT(names.size(), 150U);
}

TEST(Options, Timeout_takes_fractions_and_refuses_nonsense) {
  EXPECT_DOUBLE_EQ(parse("--timeout 1.5 p").timeout_s, 1.5);
  for (const char* line :
       {"--timeout 0 p", "--timeout -1 p", "--timeout nan p", "--timeout 5s p"}) {
    EXPECT_NE(complaint(line).find("--timeout"), std::string::npos) << line;
  }
}

TEST(Options, Unknown_option_is_named_with_its_nearest_relative) {
  EXPECT_NE(complaint("--labell p").find("did you mean \"--label\""), std::string::npos);
  EXPECT_NE(complaint("--genvv A 1 p").find("\"--genv\""), std::string::npos);
  const std::string text = complaint("--xyzzyplugh p");
  EXPECT_NE(text.find("\"--xyzzyplugh\""), std::string::npos);
  EXPECT_EQ(text.find("did you mean"), std::string::npos);
}

TEST(Options, Missing_value_and_missing_program_are_told_apart) {
  EXPECT_NE(complaint("-n").find("needs 1 value"), std::string::npos);
  EXPECT_NE(complaint("-env A").find("needs 2 values"), std::string::npos);
  EXPECT_NE(complaint("-n 2").find("no program"), std::string::npos);
  EXPECT_NE(complaint("").find("no program"), std::string::npos);
  EXPECT_NE(complaint("-n 2 p :").find("after \":\""), std::string::npos);
  EXPECT_NE(complaint("--label=yes p").find("takes no value"), std::string::npos);
}

TEST(Options, Hosts_are_read_from_the_line_and_from_a_file) {
  EXPECT_EQ(parse("--host localhost:4 p").programs.at(0).count, 4U);
  EXPECT_EQ(parse("--host localhost:4 -n 2 p").programs.at(0).count, 2U);
  EXPECT_EQ(parse("-hosts a,b:2 -H b p").hosts, (std::vector<Host>{{"a", 1}, {"b", 3}}));
  EXPECT_EQ(parse("-hosts a,b -ppn 3 p").programs.at(0).count, 6U);
  EXPECT_NE(complaint("-host a:0 p").find("\"a:0\""), std::string::npos);
  const std::string name = ::testing::TempDir() + "fulmar_hosts_test." + std::to_string(::getpid());
  std::ofstream(name) << "a slots=2\nb\n";
  EXPECT_EQ(parse("-f " + name + " p").hosts, (std::vector<Host>{{"a", 2}, {"b", 1}}));
  std::remove(name.c_str());
  EXPECT_NE(complaint("--hostfile " + name + " p").find(name), std::string::npos);
  EXPECT_NE(complaint("--host a:65536,b:65536 p").find("131072"), std::string::npos);
}

TEST(Options, A_dry_run_and_a_manager) {
  EXPECT_EQ(parse("--dry-run -n 2 p").action, Action::show);
  EXPECT_NE(complaint("--dry-run").find("no program"), std::string::npos);
  EXPECT_EQ(parse("--manager prte p").manager, Manager::prte);
  EXPECT_NE(complaint("--manager lsf p").find("\"lsf\""), std::string::npos);
}

TEST(Options, Options_of_other_launchers_are_accepted) {
  const Options options = parse(
      "--oversubscribe --allow-run-as-root --mca btl self -ppn 2 -quiet --bind-to none -n 2 p");
  EXPECT_EQ(options.rank_count(), 2U);
}

TEST(Options, Help_and_version_need_no_program) {
  EXPECT_EQ(parse("--help").action, Action::help);
  EXPECT_EQ(parse("-h").action, Action::help);
  EXPECT_EQ(parse("-n 2 --version").action, Action::version);
  EXPECT_NE(help_text().find("--timeout"), std::string::npos);
}

TEST(Options, Total_of_ranks_is_limited) {
  EXPECT_NE(complaint("-n 65536 p : -n 1 p").find("65537"), std::string::npos);
}

TEST(Options, Configfile_gives_a_program_a_line) {
  const std::string name =
      ::testing::TempDir() + "fulmar_options_test." + std::to_string(::getpid());
  std::ofstream(name) << "# two programs\n-n 2 p 'a b'\n\n  -n 1 -env A \"x y\" q\n";
  const Options options = parse("-configfile " + name);
  ASSERT_EQ(options.programs.size(), 2U);
  EXPECT_EQ(options.programs[0].argv, (Words{"p", "a b"}));
  EXPECT_EQ(options.programs[1].env.settings.at(0).value, "x y");
  std::ofstream(name) << "-n 2 'p\n";
  EXPECT_NE(complaint("-configfile " + name).find("quote"), std::string::npos);
  std::remove(name.c_str());
  EXPECT_NE(complaint("-configfile " + name).find(name), std::string::npos);
  EXPECT_NE(complaint("-n 2 -configfile x").find("only option"), std::string::npos);
  EXPECT_NE(complaint("-configfile /").find("-configfile \"/\": Is a directory"),
            std::string::npos);
}

TEST(Options, Random_lines_are_parsed_or_refused) {
  const Words pieces = words(
      "-n -np 2 0 -1 : p -env A -x B= = -wdir / -path --stdin all --timeout 1 -- - --label=1 -l "
      "-configfile --bind-to core -genvlist , -host localhost --mca");
  std::mt19937 random(4711);
  for (int round = 0; round < 20000; ++round) {
    Words line;
    for (std::size_t i = random() % 8; i > 0; --i) line.push_back(pieces[random() % pieces.size()]);
    const auto parsed = parse_options(line);
    if (parsed.failed()) {
      EXPECT_FALSE(parsed.error().text().empty());
    } else if (parsed.value().action == Action::run) {
      ASSERT_FALSE(parsed.value().programs.empty());
      for (const Program& program : parsed.value().programs) ASSERT_FALSE(program.argv.empty());
    }
  }
}

}  // namespace
}  // namespace fulmar::mpiexec
