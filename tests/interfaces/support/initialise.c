/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * What the three interfaces say when they are to begin; run by test_beginnings.py, with things that forbid it.
 */
#include <rwapi.h>
#include <sisci_api.h>
#include <stdio.h>
#include <vipl.h>

int main(int argc, char** argv) {
  sci_error_t error = SCI_ERR_OK;
  VIP_NIC_HANDLE nic = NULL;
  SCIInitialize(0, &error);
  printf("sisci %x\n", (unsigned int)error);
  printf("vipl %d\n", (int)VipOpenNic("nic0", &nic));
  printf("rwapi %d\n", rwapi_init(argc, argv));
  return 0;
}
