# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Everything that is generated for the libraries for other ABIs, by file name below compat/."""

import compat_entry_writer
import compat_header_writer
import compat_reader
import compat_value_writer
import cxx_writer


def write_compat(spec, folder):
    rules = compat_reader.read_rules(folder)
    yield 'compat_functions.h', compat_entry_writer.write_functions(spec)
    for path in sorted(folder.glob('abi_*.table')):
        abi = compat_reader.read_abi(path)
        yield f'{abi.name}/foreign_values.h', compat_value_writer.write_values(spec, abi, rules)
        yield f'{abi.name}/exports.txt', compat_value_writer.write_exports(spec, abi, rules)
        yield f'{abi.name}/objects.cc', compat_value_writer.write_objects(abi)
        yield f'{abi.name}/entries_extra.cc', compat_entry_writer.write_extras(spec, rules, abi)
        yield f'{abi.name}/include/mpi.h', compat_header_writer.write_test_header(spec, rules, abi)
        for chapter in spec.chapters:
            yield (f'{abi.name}/entries_{chapter.name}.cc',
                   compat_entry_writer.write_chapter(spec, rules, abi, chapter))
    yield from cxx_writer.write_cxx(spec, folder)
