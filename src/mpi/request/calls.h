// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "mpi/args.h"
#include "mpi/datatype/datatype.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 3 (and 13.2) on requests and statuses; see mpi/args.h for the
// form of the parameters. Statuses may be null.

base::Error wait(Library& library, ErrorTarget& target, Handle<Request> request,
                 MPI_Status* status);
base::Error waitany(Library& library, ErrorTarget& target, int count,
                    std::span<MPI_Request> requests, int& index, MPI_Status* status);
base::Error waitsome(Library& library, ErrorTarget& target, int count,
                     std::span<MPI_Request> requests, int& completed, std::span<int> indices,
                     MPI_Status* statuses);
base::Error waitall(Library& library, ErrorTarget& target, int count,
                    std::span<MPI_Request> requests, MPI_Status* statuses);

base::Error test(Library& library, ErrorTarget& target, Handle<Request> request, int& flag,
                 MPI_Status* status);
base::Error testany(Library& library, ErrorTarget& target, int count,
                    std::span<MPI_Request> requests, int& index, int& flag, MPI_Status* status);
base::Error testsome(Library& library, ErrorTarget& target, int count,
                     std::span<MPI_Request> requests, int& completed, std::span<int> indices,
                     MPI_Status* statuses);
base::Error testall(Library& library, ErrorTarget& target, int count,
                    std::span<MPI_Request> requests, int& flag, MPI_Status* statuses);

base::Error request_get_status(Library& library, Request* request, int& flag, MPI_Status* status);
base::Error request_get_status_any(Library& library, ErrorTarget& target, int count,
                                   std::span<const MPI_Request> requests, int& index, int& flag,
                                   MPI_Status* status);
base::Error request_get_status_some(Library& library, ErrorTarget& target, int count,
                                    std::span<const MPI_Request> requests, int& completed,
                                    std::span<int> indices, MPI_Status* statuses);
base::Error request_get_status_all(Library& library, ErrorTarget& target, int count,
                                   std::span<const MPI_Request> requests, int& flag,
                                   MPI_Status* statuses);

base::Error start(Handle<Request> request);
base::Error startall(Library& library, ErrorTarget& target, int count,
                     std::span<MPI_Request> requests);
base::Error request_free(Library& library, ErrorTarget& target, Handle<Request> request);
base::Error cancel(Handle<Request> request);

base::Error grequest_start(Library& library, MPI_Grequest_query_function* query,
                           MPI_Grequest_free_function* free, MPI_Grequest_cancel_function* cancel,
                           void* extra_state, MPI_Request& request);
base::Error grequest_complete(Request& request);

base::Error get_count(const MPI_Status& status, Datatype& datatype, CountOut count);
base::Error get_elements(const MPI_Status& status, Datatype& datatype, CountOut count);
base::Error get_elements_x(const MPI_Status& status, Datatype& datatype, Count& count);
base::Error status_set_elements(MPI_Status& status, Datatype& datatype, Count count);
base::Error status_set_elements_x(MPI_Status& status, Datatype& datatype, Count count);

}  // namespace fulmar::mpi
