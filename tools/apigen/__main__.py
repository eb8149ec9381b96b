# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""apigen: writes mpi.h, the shims and the lists that follow from spec/ into a build folder.

python3 tools/apigen --spec spec --out build/release/generated
"""

import argparse
import pathlib
import sys

import compat_writer
import fortran_writer
import header_writer
import list_writer
import man_writer
import prototypes
import shim_writer
import spec_reader


def _write(path, text):
    """Leaves a file alone that would not change, so that nothing is built again for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _shims_of(spec, names):
    wanted = set(names)
    for function in spec.functions():
        function.attributes.pop('missing', None)
    return ''.join(shim_writer.write_shim(spec, symbol)[0] for symbol in prototypes.symbols(spec)
                   if symbol.name in wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--spec', required=True, type=pathlib.Path)
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--version', default='', help='of Fulmar, for manual pages')
    parser.add_argument('--print-shims', nargs='+', metavar='NAME',
                        help='write the shims of these functions, as if none were missing, to '
                             'standard output instead')
    arguments = parser.parse_args()
    try:
        spec = spec_reader.read_spec(arguments.spec)
    except spec_reader.SpecError as error:
        print(f'apigen: {error}', file=sys.stderr)
        return 1
    if arguments.print_shims:
        sys.stdout.write(_shims_of(spec, arguments.print_shims))
        return 0
    out = arguments.out
    _write(out / 'include' / 'mpi.h', header_writer.write_header(spec))
    for chapter in spec.chapters:
        _write(out / f'shims_{chapter.name}.cc', shim_writer.write_shims(spec, chapter))
    _write(out / 'exports.txt', list_writer.write_exports(spec))
    _write(out / 'libmpi_abi.map', list_writer.write_version_script())
    _write(out / 'api_coverage.inc', list_writer.write_coverage_inc(spec))
    _write(out / 'api_coverage.json', list_writer.write_coverage_json(spec))
    _write(out / 'options.inc', list_writer.write_options(spec))
    for name, text in fortran_writer.write_fortran(spec, arguments.spec / 'fortran.table'):
        _write(out / 'fortran' / name, text)
    try:
        for name, text in man_writer.write_pages(spec, arguments.spec, arguments.version):
            _write(out / 'man' / name, text)
    except spec_reader.SpecError as error:
        print(f'apigen: {error}', file=sys.stderr)
        return 1
    for name, text in compat_writer.write_compat(spec, arguments.spec):
        _write(out / 'compat' / name, text)
    for name, text in fortran_writer.write_foreign(spec, arguments.spec):
        _write(out / 'compat' / name, text)
    return 0


sys.exit(main())
