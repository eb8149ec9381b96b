/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * fulmar/mpi_removed.h: what MPI 3.0 removed and old programs still call (MPI 5.0 chapter 17), for
 * C and C++. mpi.h includes this header unless FULMAR_NO_REMOVED_NAMES is defined. Define it where
 * a program brings functions of these names itself.
 *
 * All functions are inline over those that replaced them: a program that uses them needs no name
 * outside the standard ABI, errors name the new function, and a profiler sees that one. The
 * compiler warns of each use; -Wno-deprecated-declarations silences it. Names that are macros
 * already, as by -DMPI_Address=MPI_Get_address, are left as they are.
 *
 * MPI_LB and MPI_UB are entries for MPI_Type_struct, and, with this library, for
 * MPI_Type_create_struct. Everywhere else they are no datatypes (MPI_ERR_TYPE). */
#ifndef FULMAR_MPI_REMOVED_H
#define FULMAR_MPI_REMOVED_H

#include "../mpi.h"

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define FULMAR_REMOVED_INLINE_ static inline
#else
#define FULMAR_REMOVED_INLINE_ static __inline
#endif

#if defined(__GNUC__) || defined(__clang__)
#define FULMAR_REMOVED_(use) __attribute__((deprecated("removed in MPI 3.0; use " use)))
#else
#define FULMAR_REMOVED_(use)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Markers of bounds. Their numbers lie where the standard ABI has no handles. */
#ifndef MPI_LB
#define MPI_LB ((MPI_Datatype)0x4f0)
#endif
#ifndef MPI_UB
#define MPI_UB ((MPI_Datatype)0x4f1)
#endif

/* MPI_Type_get_envelope never gives these: they were for types made by Fortran functions that took
 * INTEGER for addresses. A `case` of theirs compiles, and is not reached. */
enum {
  MPI_COMBINER_HVECTOR_INTEGER = -105,
  MPI_COMBINER_HINDEXED_INTEGER = -107,
  MPI_COMBINER_STRUCT_INTEGER = -110
};

#ifndef MPI_Handler_function
typedef MPI_Comm_errhandler_function MPI_Handler_function
    FULMAR_REMOVED_("MPI_Comm_errhandler_function");
#endif

/* ---- Error handlers ---- */

#ifndef MPI_Errhandler_create
FULMAR_REMOVED_("MPI_Comm_create_errhandler")
FULMAR_REMOVED_INLINE_ int MPI_Errhandler_create(MPI_Comm_errhandler_function* function,
                                                 MPI_Errhandler* errhandler) {
  return MPI_Comm_create_errhandler(function, errhandler);
}
#endif

#ifndef MPI_Errhandler_set
FULMAR_REMOVED_("MPI_Comm_set_errhandler")
FULMAR_REMOVED_INLINE_ int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return MPI_Comm_set_errhandler(comm, errhandler);
}
#endif

#ifndef MPI_Errhandler_get
FULMAR_REMOVED_("MPI_Comm_get_errhandler")
FULMAR_REMOVED_INLINE_ int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return MPI_Comm_get_errhandler(comm, errhandler);
}
#endif

/* ---- Datatypes ---- */

#ifndef MPI_Address
FULMAR_REMOVED_("MPI_Get_address")
FULMAR_REMOVED_INLINE_ int MPI_Address(const void* location, MPI_Aint* address) {
  return MPI_Get_address(location, address);
}
#endif

#ifndef MPI_Type_hvector
FULMAR_REMOVED_("MPI_Type_create_hvector")
FULMAR_REMOVED_INLINE_ int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride,
                                            MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
#endif

#ifndef MPI_Type_hindexed
FULMAR_REMOVED_("MPI_Type_create_hindexed")
FULMAR_REMOVED_INLINE_ int MPI_Type_hindexed(int count, const int array_of_blocklengths[],
                                             const MPI_Aint array_of_displacements[],
                                             MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype,
                                  newtype);
}
#endif

#ifndef MPI_Type_extent
FULMAR_REMOVED_("MPI_Type_get_extent")
FULMAR_REMOVED_INLINE_ int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  MPI_Aint lb;
  return MPI_Type_get_extent(datatype, &lb, extent);
}
#endif

#ifndef MPI_Type_lb
FULMAR_REMOVED_("MPI_Type_get_extent")
FULMAR_REMOVED_INLINE_ int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint extent;
  return MPI_Type_get_extent(datatype, displacement, &extent);
}
#endif

#ifndef MPI_Type_ub
FULMAR_REMOVED_("MPI_Type_get_extent")
FULMAR_REMOVED_INLINE_ int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint lb;
  MPI_Aint extent;
  const int error = MPI_Type_get_extent(datatype, &lb, &extent);
  if (error == MPI_SUCCESS) *displacement = lb + extent;
  return error;
}
#endif

/* What MPI_Type_struct collects of its entries. */
struct fulmar_bounds {
  int has_lb, has_ub;
  MPI_Aint lb, ub;
};

/* Notes an entry that is MPI_LB or MPI_UB and says whether it was one. The lowest MPI_LB and the
 * highest MPI_UB count. */
FULMAR_REMOVED_INLINE_ int fulmar_note_bound(MPI_Datatype type, int blocklength, MPI_Aint at,
                                             struct fulmar_bounds* bounds) {
  if (type == MPI_LB && blocklength > 0) {
    if (!bounds->has_lb || at < bounds->lb) bounds->lb = at;
    bounds->has_lb = 1;
  } else if (type == MPI_UB && blocklength > 0) {
    if (!bounds->has_ub || at > bounds->ub) bounds->ub = at;
    bounds->has_ub = 1;
  }
  return type == MPI_LB || type == MPI_UB;
}

/* Puts `more` behind `*type`, with the same origin; frees both and stores the whole. */
FULMAR_REMOVED_INLINE_ int fulmar_append_type(MPI_Datatype* type, MPI_Datatype more) {
  const int ones[2] = {1, 1};
  const MPI_Aint origins[2] = {0, 0};
  MPI_Datatype both[2];
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  int error;
  both[0] = *type;
  both[1] = more;
  error = MPI_Type_create_struct(2, ones, origins, both, &whole);
  (void)MPI_Type_free(&both[0]);
  (void)MPI_Type_free(&both[1]);
  *type = whole;
  return error;
}

/* The struct of the entries that are no markers. Entries between two markers are handed on as they
 * lie in the caller's arrays. */
FULMAR_REMOVED_INLINE_ int fulmar_struct_of_data(int count, const int blocklengths[],
                                                 const MPI_Aint displacements[],
                                                 const MPI_Datatype types[],
                                                 struct fulmar_bounds* bounds,
                                                 MPI_Datatype* newtype) {
  int begin = 0;
  int error = MPI_SUCCESS;
  *newtype = MPI_DATATYPE_NULL;
  while (begin <= count && error == MPI_SUCCESS) {
    int end = begin;
    MPI_Datatype part = MPI_DATATYPE_NULL;
    while (end < count &&
           !fulmar_note_bound(types[end], blocklengths[end], displacements[end], bounds))
      ++end;
    if (end > begin || (end == count && *newtype == MPI_DATATYPE_NULL)) {
      error = MPI_Type_create_struct(end - begin, blocklengths + begin, displacements + begin,
                                     types + begin, &part);
      if (error == MPI_SUCCESS && *newtype != MPI_DATATYPE_NULL) {
        error = fulmar_append_type(newtype, part);
      } else if (error == MPI_SUCCESS) {
        *newtype = part;
      }
    }
    begin = end + 1;
  }
  return error;
}

/* Whether the bounds of `type`, which ends at `ub`, were set and not only follow from its data:
 * then data behind it does not move them (MPI 5.0 section 5.1.7). */
FULMAR_REMOVED_INLINE_ int fulmar_has_set_bounds(MPI_Datatype type, MPI_Aint ub, int* is_set) {
  const int ones[2] = {1, 1};
  MPI_Aint places[2];
  MPI_Datatype types[2];
  MPI_Datatype probe = MPI_DATATYPE_NULL;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  int error;
  places[0] = 0;
  places[1] = ub;
  types[0] = type;
  types[1] = MPI_BYTE;
  error = MPI_Type_create_struct(2, ones, places, types, &probe);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Type_get_extent(probe, &lb, &extent);
  *is_set = lb + extent == ub;
  (void)MPI_Type_free(&probe);
  return error;
}

/* Gives `*type` the bounds of the markers; bounds that types inside it were given count like
 * markers. */
FULMAR_REMOVED_INLINE_ int fulmar_apply_bounds(const struct fulmar_bounds* bounds,
                                               MPI_Datatype* type) {
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  MPI_Aint lb = 0;
  MPI_Aint ub = 0;
  int is_set = 0;
  int error = MPI_Type_get_extent(*type, &lb, &ub);
  if (error != MPI_SUCCESS) return error;
  ub += lb;
  error = fulmar_has_set_bounds(*type, ub, &is_set);
  if (error != MPI_SUCCESS) return error;
  if (bounds->has_lb && !(is_set && lb < bounds->lb)) lb = bounds->lb;
  if (bounds->has_ub && !(is_set && ub > bounds->ub)) ub = bounds->ub;
  error = MPI_Type_create_resized(*type, lb, ub - lb, &resized);
  if (error != MPI_SUCCESS) return error;
  (void)MPI_Type_free(type);
  *type = resized;
  return MPI_SUCCESS;
}

/* With MPI_LB or MPI_UB among the types the result is a resized type
 * (MPI_COMBINER_RESIZED for MPI_Type_get_envelope). */
#ifndef MPI_Type_struct
FULMAR_REMOVED_("MPI_Type_create_struct and MPI_Type_create_resized")
FULMAR_REMOVED_INLINE_ int MPI_Type_struct(int count, const int array_of_blocklengths[],
                                           const MPI_Aint array_of_displacements[],
                                           const MPI_Datatype array_of_types[],
                                           MPI_Datatype* newtype) {
  struct fulmar_bounds bounds = {0, 0, 0, 0};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  int markers = 0;
  int error;
  int i;
  for (i = 0; i < count && array_of_types; ++i)
    markers += array_of_types[i] == MPI_LB || array_of_types[i] == MPI_UB;
  if (markers == 0 || !array_of_blocklengths || !array_of_displacements || !newtype) {
    return MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements,
                                  array_of_types, newtype);
  }
  error = fulmar_struct_of_data(count, array_of_blocklengths, array_of_displacements,
                                array_of_types, &bounds, &made);
  if (error == MPI_SUCCESS && (bounds.has_lb || bounds.has_ub))
    error = fulmar_apply_bounds(&bounds, &made);
  if (error == MPI_SUCCESS) {
    *newtype = made;
  } else if (made != MPI_DATATYPE_NULL) {
    (void)MPI_Type_free(&made);
  }
  return error;
}
#endif

#ifdef __cplusplus
}
#endif

#undef FULMAR_REMOVED_INLINE_
#undef FULMAR_REMOVED_

#endif /* FULMAR_MPI_REMOVED_H */
