// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// An MPI program that spawns itself under whatever launcher has started it. Its first argument says how:
//   tree DEPTH N     each generation spawns N processes, DEPTH times; all hear from their parent and answer
//   several N        one spawn of two commands with N processes each, which tell their MPI_APPNUM
//   missing          spawns a program that is not there; prints class, codes and text
//   silent           spawns a program that ends without MPI_Init; prints class and text
//   names            rank 0 publishes a port, rank 1 finds and connects to it; prints the outcome of each call
//   universe         prints MPI_UNIVERSE_SIZE
//   run PROGRAM ...  spawns one process of that, with its arguments
// Prints a line for each thing that has happened.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static int size;

static void say(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "ok";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  printf("rank %d: %s: %s\n", rank, what, text);
  fflush(stdout);
}

static void tree(const char* program, int depth, int children) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    int told = 0;
    MPI_Bcast(&told, 1, MPI_INT, 0, parent);
    MPI_Reduce(&told, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    printf("depth %d rank %d of %d heard %d\n", depth, rank, size, told);
    fflush(stdout);
    MPI_Comm_disconnect(&parent);
  }
  if (depth == 0) return;
  char rest[16];
  char count[16];
  snprintf(rest, sizeof rest, "%d", depth - 1);
  snprintf(count, sizeof count, "%d", children);
  char* arguments[] = {(char*)"tree", rest, count, NULL};
  MPI_Comm inter;
  int* codes = malloc(sizeof(int) * (size_t)children);
  MPI_Comm_spawn(program, arguments, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
  for (int i = 0; i < children; ++i) {
    if (codes[i] != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  free(codes);
  const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  int word = 40 + depth;
  int sum = 0;
  MPI_Bcast(&word, 1, MPI_INT, root, inter);
  MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, root, inter);
  if (rank == 0 && sum != word * children) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Comm_disconnect(&inter);
}

static void several(char* program, int each) {
  char* commands[] = {program, program};
  char* arguments[] = {(char*)"child", NULL};
  char** all[] = {arguments, arguments};
  const int counts[] = {each, each};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter;
  MPI_Comm_spawn_multiple(2, commands, all, counts, infos, 0, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE);
  int there = 0;
  MPI_Comm_remote_size(inter, &there);
  printf("rank %d: %d processes\n", rank, there);
  fflush(stdout);
  MPI_Comm_disconnect(&inter);
}

/// What `several` spawns.
static void child(void) {
  int* number = NULL;
  int exists = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &exists);
  printf("child %d of %d app %d\n", rank, size, exists ? *number : -1);
  fflush(stdout);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_disconnect(&parent);
}

static void refused(const char* program) {
  MPI_Comm inter;
  int codes[2] = {-1, -1};
  const int code =
      MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  printf("rank %d: class %s\n", rank, error_class == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : "other");
  say("spawn", code);
}

static void names(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  if (rank == 0) {
    say("open", MPI_Open_port(MPI_INFO_NULL, port));
    say("publish", MPI_Publish_name("the ocean", MPI_INFO_NULL, port));
    say("publish again", MPI_Publish_name("the ocean", MPI_INFO_NULL, port));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) say("accept", MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  if (rank == 1) {
    say("lookup", MPI_Lookup_name("the ocean", MPI_INFO_NULL, port));
    say("connect", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    say("lookup of another", MPI_Lookup_name("the air", MPI_INFO_NULL, port));
  }
  if (rank <= 1) MPI_Comm_disconnect(&inter);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    say("unpublish", MPI_Unpublish_name("the ocean", MPI_INFO_NULL, port));
    say("unpublish again", MPI_Unpublish_name("the ocean", MPI_INFO_NULL, port));
  }
}

static void universe(void) {
  int* number = NULL;
  int exists = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &exists);
  printf("universe %d\n", exists ? *number : -1);
}

static void run(char** words) {
  MPI_Comm inter;
  MPI_Comm_spawn(words[0], words + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  MPI_Comm_free(&inter);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "";
  const int returns = strcmp(what, "tree") != 0 && strcmp(what, "several") != 0;
  if (returns) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  if (strcmp(what, "tree") == 0 && argc == 4)
    tree(argv[0], atoi(argv[2]), atoi(argv[3]));
  else if (strcmp(what, "several") == 0 && argc == 3)
    several(argv[0], atoi(argv[2]));
  else if (strcmp(what, "child") == 0)
    child();
  else if (strcmp(what, "missing") == 0)
    refused("/no/such/program");
  else if (strcmp(what, "silent") == 0)
    refused("/bin/true");
  else if (strcmp(what, "names") == 0)
    names();
  else if (strcmp(what, "universe") == 0)
    universe();
  else if (strcmp(what, "run") == 0 && argc > 2)
    run(argv + 2);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Finalize();
  return 0;
}
