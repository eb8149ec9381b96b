// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/translate_output.h"

#include <array>
#include <string_view>
#include <utility>

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;

constexpr std::string_view default_label = "[%r] ";

void append(Handover& out, std::initializer_list<std::string> words) {
  out.words.insert(out.words.end(), words);
}

/// Ours and theirs of the letters behind a percent sign; a letter without one stays.
using Letters = std::array<std::pair<char, std::string_view>, 3>;

std::string with_letters(std::string_view pattern, const Letters& letters) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    text += pattern[i];
    if (pattern[i] != '%' || i + 1 == pattern.size()) continue;
    const char letter = pattern[++i];
    std::string_view other(&pattern[i], 1);
    for (const auto& [own, theirs] : letters) {
      if (own == letter) other = theirs;
    }
    text += other;
  }
  return text;
}

/// Folders are made by mpiexec and prterun only.
Error check_folders(const char* manager, const OutputFiles& files) {
  if (files.out.ends_with("/stdout") && files.copy) {
    return not_there(manager, "--output dir", "use -outfile-pattern, with a folder that is there");
  }
  return {};
}

void note_copies(const char* manager, const OutputFiles& files, Handover& out) {
  if (!files.copy) return;
  out.notes.push_back(std::string(manager) + " writes output to files only, not here as well");
}

Error check_times(const char* manager, const Options& options) {
  if (options.timestamps) {
    return not_there(manager, "--timestamp-output", "let the program print the time");
  }
  if (options.merge_stderr) {
    return not_there(manager, "--merge-stderr-to-stdout",
                     "start the program as sh -c 'exec program 2>&1'");
  }
  return {};
}

}  // namespace

Error not_there(const char* manager, const char* option, const char* remedy) {
  return base::failure(ErrorClass::arg, "%s cannot do what \"%s\" asks for; %s", manager, option,
                       remedy);
}

Error add_hydra_output(const Options& options, Handover& out) {
  if (Error error = check_times("Hydra", options); error.failed()) return error;
  const OutputFiles& files = options.output_files;
  if (Error error = check_folders("Hydra", files); error.failed()) return error;
  if (options.label && options.label_pattern == default_label) {
    append(out, {"-prepend-rank"});
  } else if (options.label) {
    append(out, {"-prepend-pattern", options.label_pattern});
  }
  constexpr Letters letters = {{{'R', "r"}, {'r', "r"}, {'h', "h"}}};
  if (!files.out.empty()) append(out, {"-outfile-pattern", with_letters(files.out, letters)});
  if (!files.err.empty()) append(out, {"-errfile-pattern", with_letters(files.err, letters)});
  note_copies("Hydra", files, out);
  if (options.print_exit_codes) append(out, {"-print-all-exitcodes"});
  if (options.print_rank_map || options.show_map) append(out, {"-print-rank-map"});
  if (options.report_bindings) out.settings.push_back({"HYDRA_TOPO_DEBUG", "1"});
  return {};
}

Error add_prte_output(const Options& options, Handover& out) {
  if (options.label && options.label_pattern != default_label) {
    return not_there("prterun", "-prepend-pattern", "use --label");
  }
  if (!options.output_files.out.empty() && options.output_text.empty()) {
    return not_there("prterun", "-outfile-pattern", "use --output dir=NAME");
  }
  std::string words = options.output_text;
  const auto add = [&](bool wanted, std::string_view word) {
    if (!wanted || words.find(word) != std::string::npos) return;
    words += (words.empty() ? "" : ",") + std::string(word);
  };
  add(options.label, "tag");
  add(options.timestamps, "timestamp");
  add(options.merge_stderr, "merge-stderr-to-stdout");
  if (!words.empty()) append(out, {"--output", words});
  if (options.print_exit_codes) out.notes.emplace_back("prterun does not print all exit codes");
  const bool map = options.show_map || options.print_rank_map;
  if (map || options.report_bindings) {
    const std::string both = std::string(map ? "map" : "") +
                             (map && options.report_bindings ? "," : "") +
                             (options.report_bindings ? "bind" : "");
    append(out, {"--display", both});
  }
  return {};
}

Error add_slurm_output(const Options& options, Handover& out) {
  if (Error error = check_times("srun", options); error.failed()) return error;
  if (options.label && options.label_pattern != default_label) {
    return not_there("srun", "-prepend-pattern", "use --label");
  }
  const OutputFiles& files = options.output_files;
  if (Error error = check_folders("srun", files); error.failed()) return error;
  if (options.label) append(out, {"--label"});
  constexpr Letters letters = {{{'R', "t"}, {'r', "t"}, {'h', "N"}}};
  if (!files.out.empty()) append(out, {"--output=" + with_letters(files.out, letters)});
  if (!files.err.empty()) append(out, {"--error=" + with_letters(files.err, letters)});
  note_copies("srun", files, out);
  if (options.print_exit_codes) out.notes.emplace_back("srun does not print all exit codes");
  if (options.print_rank_map || options.show_map) {
    out.notes.emplace_back("srun does not print which ranks are on which hosts");
  }
  return {};
}

}  // namespace fulmar::mpiexec
