# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""All files of the Fortran bindings: (name, text) pairs."""

import compat_reader
import fortran_constant_writer
import fortran_dialect
import fortran_entry_writer
import fortran_foreign_writer
import fortran_module_writer
import fortran_reader
import fortran_test_header_writer


def write_fortran(spec, table_path):
    table = fortran_reader.read_table(table_path)
    procedures = list(fortran_reader.procedures(spec, table))
    dialect = fortran_dialect.Standard()
    for chapter in spec.chapters:
        if chapter.name != 'tool':
            yield (f'entries_{chapter.name}.cc',
                   fortran_entry_writer.write_entries(spec, table, chapter, procedures, dialect))
    yield 'entries_extra.cc', fortran_entry_writer.write_extra_entries(fortran_reader.HANDLES, dialect)
    yield 'modules/mpi_abi_constants.f90', fortran_constant_writer.write_constants(spec)
    yield 'modules/mpi_f08_types.f90', fortran_constant_writer.write_f08_types()
    yield 'modules/mpi_f08.f90', fortran_module_writer.write_f08(spec, procedures)
    yield 'modules/mpi.f90', fortran_module_writer.write_mpi(spec, procedures)
    yield '../include/mpif.h', fortran_constant_writer.write_mpif(spec)


def write_foreign(spec, folder):
    """The entry points of the Fortran libraries for programs of other MPIs."""
    table = fortran_reader.read_table(folder / 'fortran.table')
    procedures = list(fortran_reader.procedures(spec, table))
    for path in sorted(folder.glob('abi_*.table')):
        abi = compat_reader.read_abi(path)
        dialect = fortran_dialect.foreign(abi)
        for chapter in spec.chapters:
            if chapter.name != 'tool':
                yield (f'{abi.name}/fortran/entries_{chapter.name}.cc',
                       fortran_entry_writer.write_entries(spec, table, chapter, procedures, dialect))
        yield (f'{abi.name}/fortran/entries_extra.cc',
               fortran_entry_writer.write_extra_entries(fortran_reader.HANDLES, dialect,
                                                        fortran_foreign_writer.write_extras(spec, abi)))
        yield f'{abi.name}/include/mpif.h', fortran_test_header_writer.write_mpif(spec, abi)
