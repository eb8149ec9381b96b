/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * The SISCI module of NetPIPE is of version 4, whose main program its public mirror does not have: these are the
 * functions that the main program of version 5 calls, by those of the module. The build gives the module's names
 * the prefix module_, because both versions have some in common.
 */
/* What has the same name in both versions, and other parameters. */
#define Sync version4_Sync
#define SendData version4_SendData
#define RecvData version4_RecvData
#define Gather version4_Gather
#define Broadcast version4_Broadcast
#include "netpipe.h" /* of version 4 */
#undef Sync
#undef SendData
#undef RecvData
#undef Gather
#undef Broadcast

void module_Init(ArgStruct* p, int* argc, char*** argv);
void module_Setup(ArgStruct* p);
void module_SendData(ArgStruct* p);
void module_RecvData(ArgStruct* p);
void module_Gather(ArgStruct* p, double* times);
void module_Broadcast(ArgStruct* p, unsigned int* value);
void module_CleanUp(ArgStruct* p);

/* Of the main program. */
extern int nprocs, myproc, master, source, dest, buflen;
extern char *s_ptr, *r_ptr, *module;

static ArgStruct arguments;

void Module_Init(int* argc, char*** argv) {
  arguments.nprocs = 2;
  module_Init(&arguments, argc, argv);
  module_Setup(&arguments);
  arguments.master = arguments.myproc == 0;
  nprocs = arguments.nprocs;
  myproc = arguments.myproc;
  master = arguments.master;
  dest = arguments.dest;
  module = "sisci";
}

void Module_ArgOpt(char* argument, char* option) {
  (void)option;
  fprintf(stderr, "no such option: %s\n", argument);
  exit(2);
}

void Module_PrintUsage(void) {}
void Module_Setup(void) {}
void Module_CleanUp(void) { module_CleanUp(&arguments); }
void PrepostRecv(void) {}

void SendData(void) {
  arguments.s_ptr = s_ptr;
  arguments.bufflen = buflen;
  module_SendData(&arguments);
}

void RecvData(void) {
  arguments.r_ptr = r_ptr;
  arguments.bufflen = buflen;
  module_RecvData(&arguments);
}

void Gather(double* times) { module_Gather(&arguments, times); }
void Broadcast(int* value) { module_Broadcast(&arguments, (unsigned int*)value); }

/* The module has none; of two processes each sends the other a byte. */
void Sync(void) {
  char byte = 0;
  arguments.bufflen = 1;
  arguments.s_ptr = arguments.r_ptr = &byte;
  if (arguments.master) module_SendData(&arguments);
  module_RecvData(&arguments);
  if (!arguments.master) module_SendData(&arguments);
}
