#if !defined(TEST_F08) && !defined(TEST_MPI)
include 'mpif.h'
#endif
