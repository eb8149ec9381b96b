// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/foreign_options.h"

#include <algorithm>
#include <array>

namespace fulmar::mpiexec {
namespace {

constexpr bool accepted = false;
constexpr bool refused = true;

constexpr std::array table = {
    // Environment and command line
    ForeignOption{"envall genvall", 0, accepted, "all variables are passed on anyway"},
    ForeignOption{"soft", 1, accepted, "exactly -n ranks are started, which every list allows"},
    ForeignOption{"genvexcl envexcl", 1, refused, "use -genvlist with the variables to pass on"},
    ForeignOption{"file", 1, refused, "write the programs into a file for -configfile"},
    ForeignOption{"app", 1, refused, "write the programs into a file for -configfile"},
    ForeignOption{"prefix", 1, accepted, "nothing of the library is started on other hosts"},
    ForeignOption{"noprefix", 0, accepted, "nothing of the library is started on other hosts"},
    ForeignOption{"personality", 1, accepted, "there is one"},
    ForeignOption{"set-cwd-to-session-dir set-sid", 0, refused, "use -wdir"},
    ForeignOption{"umask gumask", 1, refused, "set the umask in the shell that starts mpiexec"},
    ForeignOption{"preload-binary", 0, accepted, "the file is on this machine already"},
    ForeignOption{"preload-files preload-files-dest-dir", 1, accepted,
                  "the files are on this machine already"},
    ForeignOption{"index-argv-by-rank", 0, refused, "use a shell: sh -c 'exec ... $FULMAR_RANK'"},

    // How many ranks may run
    ForeignOption{"nooversubscribe no-oversubscribe", 0, accepted,
                  "ranks that outnumber cores yield while they wait"},
    ForeignOption{"use-hwthread-cpus", 0, accepted, "hardware threads are used when cores run out"},
    ForeignOption{"nolocal", 0, accepted, "without other hosts there is only this one"},
    ForeignOption{"rank-by", 1, accepted, "ranks follow each other as --map-by deals them"},
    ForeignOption{"order-nodes", 1, accepted, "hosts keep the order of the command line"},
    ForeignOption{"pset", 1, accepted, "process sets are those of docs/processes.md"},
    ForeignOption{"do-not-resolve novm no-vm", 0, accepted, "hosts are looked up when needed"},
    ForeignOption{"membind", 1, refused, "start the program under numactl --membind"},
    ForeignOption{"cpu-set cpu-list", 1, refused, "start mpiexec under taskset -c LIST"},
    ForeignOption{"rankfile rf", 1, refused, "use --map-by and --bind-to"},
    ForeignOption{"gpus-per-proc gpu-subdevs-per-proc", 1, refused,
                  "set CUDA_VISIBLE_DEVICES from $FULMAR_LOCAL_RANK in a wrapper"},
    ForeignOption{"slot-list", 1, refused, "use --bind-to, or taskset -c LIST"},
    ForeignOption{"use-app-topology", 1, accepted, "all ranks are on this machine"},

    // Output, errors and limits
    ForeignOption{"quiet q", 0, accepted, "mpiexec says nothing unless something is wrong"},
    ForeignOption{"ordered-output", 0, accepted, "lines of different ranks never mix"},
    ForeignOption{"exitcodes", 0, accepted, "the first failure is reported anyway"},
    ForeignOption{"report-child-jobs-separately", 0, accepted,
                  "each spawned job's failure is a line of its own"},
    ForeignOption{"parsable parseable", 0, accepted, "lines keep one form"},
    ForeignOption{"xml", 0, refused, "leave it out"},
    ForeignOption{"xml-file", 1, refused, "leave it out"},
    ForeignOption{"xterm", 1, refused, "start the program as \"xterm -e program\""},
    ForeignOption{"output-proctable report-pid report-uri", 1, refused,
                  "use --verbose, or $FULMAR_RANK in a wrapper"},
    ForeignOption{"silent-abort", 0, accepted, "a failure is one line"},
    ForeignOption{"report-state-on-timeout", 0, accepted,
                  "--deadlock-timeout says what ranks wait for"},
    ForeignOption{"get-stack-traces", 0, refused, "use gdb, or --deadlock-timeout"},
    ForeignOption{"show-progress", 0, accepted, "there is nothing to show on one machine"},
    ForeignOption{"demux", 1, accepted, "events are waited for by epoll"},
    ForeignOption{"forward-signals", 1, accepted, "signals are forwarded (see The end of a job)"},
    ForeignOption{"max-restarts", 1, refused, "ranks are not started again"},
    ForeignOption{"enable-recovery", 0, refused, "ranks are not started again"},
    ForeignOption{"disable-recovery abort-on-non-zero-status", 0, accepted,
                  "that is what happens anyway"},

    // How another launcher starts ranks
    ForeignOption{"launcher-exec bootstrap-exec launch-agent exec-agent", 1, accepted,
                  "ranks of this machine need no remote shell"},
    ForeignOption{"bootstrap-exec-args", 1, accepted, "ranks of this machine need no remote shell"},
    ForeignOption{"enable-x disable-x", 0, accepted, "ranks of this machine see the same display"},
    ForeignOption{"rmk topolib ckpointlib", 1, accepted, "Slurm and the kernel are asked directly"},
    ForeignOption{"mca gmca gomca omca prtemca pmixmca", 2, accepted,
                  "parameters of Open MPI; see fulmar info for those of Fulmar"},
    ForeignOption{"tune am", 1, accepted, "parameters of Open MPI; see fulmar info"},
    ForeignOption{"runtime-options rtos", 1, accepted, "options of PRRTE's servers"},
    ForeignOption{"pmi-port skip-launch-node disable-hostname-propagation localhost-only", 0,
                  accepted, "there are no proxies on this machine"},
    ForeignOption{"localhost tree-width branch-count tmpdir hostos", 1, accepted,
                  "there are no proxies on this machine"},
    ForeignOption{"pmi-connect", 1, accepted, "ranks read what others have published in memory"},
    ForeignOption{"pmi-noaggregate", 0, accepted, "the same"},
    ForeignOption{"keepalive", 1, accepted, "mpiexec and its guard watch the ranks"},
    ForeignOption{"leave-session-attached no-ready-msg tree-spawn", 0, accepted,
                  "there are no servers on this machine"},
    ForeignOption{"dvm dvm-hostfile ompi-server nameserver", 1, refused,
                  "there is no server to connect to; leave it out"},
    ForeignOption{"daemonize do-not-launch", 0, refused, "use nohup, or --dry-run"},

    // Tools
    ForeignOption{"debug-daemons debug-devel d", 0, accepted,
                  "there are no servers; see --verbose"},
    ForeignOption{"dbg", 0, refused, "start the program as \"xterm -e gdb program\""},
    ForeignOption{"debug debugger gdb gdb-ia tv", 0, refused,
                  "start the program as \"xterm -e gdb program\""},
    ForeignOption{"stop-on-exec stop-in-init stop-in-app", 0, refused,
                  "start the program under gdb"},
    ForeignOption{"profile check_mpi", 0, refused,
                  "set FULMAR_CHECK=collectives, or FULMAR_TRACE=FOLDER"},
    ForeignOption{"trace t gtool", 1, refused, "set FULMAR_TRACE=FOLDER, or use a wrapper"},
    ForeignOption{"aps mps", 0, refused, "start the program as \"aps program\""},
    ForeignOption{"ckpoint-interval ckpoint-prefix ckpoint-num", 1, refused,
                  "there are no checkpoints"},
};

}  // namespace

std::span<const ForeignOption> foreign_options() { return table; }

bool is_named(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t at = std::min(names.find(' '), names.size());
    if (names.substr(0, at) == name) return true;
    names.remove_prefix(std::min(at + 1, names.size()));
  }
  return false;
}

const ForeignOption* find_foreign(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const ForeignOption& option) {
    return is_named(option.names, name);
  });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace fulmar::mpiexec
