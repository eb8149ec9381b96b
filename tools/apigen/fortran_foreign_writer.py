# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the Fortran modules of other MPIs contain beside procedures of MPI, for programs that were compiled with them:
constants of mpi_f08 that have addresses, operators of handles, the specific procedures of MPI_Sizeof."""

import compat_reader

# Types of MPI_Sizeof in Open MPI: name, bytes.
_OPENMPI_SIZES = (
    ('character', 1), ('logical', 4), ('int8', 1), ('int16', 2), ('int32', 4), ('int64', 8), ('real32', 4),
    ('real64', 8), ('real128', 16), ('complex32', 8), ('complex64', 16), ('complex128', 32))
_OPENMPI_SHAPES = ('scalar', *(f'r{rank}' for rank in range(1, 16)))
# In MPICH: in the module mpi_f08, and in mpi for scalars and, with a v, for arrays.
_MPICH_F08_SIZES = (
    ('character', 1), ('logical', 4), ('xint8', 1), ('xint16', 2), ('xint32', 4), ('xint64', 8), ('xreal32', 4),
    ('xreal64', 8), ('xreal128', 16), ('xcomplex32', 8), ('xcomplex64', 16), ('xcomplex128', 32))
_MPICH_SIZES = (('ch', 1), ('cx', 8), ('d', 8), ('i', 4), ('i1', 1), ('i2', 2), ('i8', 8), ('l', 4), ('r', 4))


def _module(module, name):
    """A name of a module, as gfortran and as Intel's compilers mangle it."""
    return [f'__{module}_MOD_{name}', f'{module}_mp_{name}_']


class _Writer:
    """Collects definitions under names that are not C++'s."""

    def __init__(self):
        self.parts = []
        self.count = 0

    def _begin(self):
        self.count += 1
        return f'foreign_{self.count}'

    def _others(self, names, kind):
        lines = ''.join(f'    ".globl {name}\\n.set {name}, {names[0]}\\n.type {name}, {kind}\\n"\n' for name in names[1:])
        if lines:
            self.parts.append(f'__asm__(\n{lines});')

    def function(self, names, result, parameters, statements):
        own = self._begin()
        self.parts.append(f'extern "C" {result} {own}({parameters}) asm("{names[0]}");\n'
                          f'{result} {own}({parameters}) {{\n  {statements}\n}}')
        self._others(names, 'STT_FUNC')

    def other_names(self, known, names):
        """More names of a function that another part defines."""
        self._others([known, *names], 'STT_FUNC')

    def constant(self, names, value):
        """One object for each name, as programs may have a copy of each."""
        for name in names:
            own = self._begin()
            self.parts.append(f'extern "C" const int {own} asm("{name}");\nconst int {own} = {value};')

    def text(self):
        return '\n'.join(self.parts) + '\n'


_SIZE = ('const void* /*x*/, int* size, int* ierror', '*size = {0};\n  give(ierror, MPI_SUCCESS);')


def _sizes(writer, sizes, names_of):
    for name, size in sizes:
        writer.function(names_of(name), 'void', _SIZE[0], _SIZE[1].format(size))


def _compare(writer, names, operator):
    writer.function(names, 'int', 'const int* one, const int* other', f'return *one {operator} *other ? 1 : 0;')


def _constants(spec, abi):
    """Handles with their numbers in Fortran, under all their names."""
    numbers = {}
    if abi.handles:
        for name, number in abi.handles.items():
            numbers[name] = number if number < 1 << 31 else number - (1 << 32)
    else:
        numbers = {name: int(number) for name, _, _, number in abi.objects if name != '-' and number != '-'}
    for group in spec.constants:
        for member in group.members:
            if member[1] == '=' and member[2] in numbers:
                numbers[member[0]] = numbers[member[2]]
    for name, number in numbers.items():
        yield name.lower(), number


def _mpich(spec, abi):
    writer = _Writer()
    for name, value in _constants(spec, abi):
        writer.constant(_module('mpi_f08_compile_constants', name), value)
    for handle in sorted(compat_reader.HANDLES):
        name = handle.lower()
        short = 'type' if handle == 'Datatype' else name
        for operator, word in (('==', 'eq'), ('!=', 'neq')):
            names = _module('mpi_f08_types', f'mpi_{name}_{word}') + _module('mpi_constants', f'{name}{word}')
            for mixed in (f'f08_{word}_f', f'f_{word}_f08'):
                names += _module('mpi_f08_types', f'mpi_{name}_{mixed}')
                names.append(f'mpi_f08_types_mp_mpi_{name}_{mixed.replace("neq", "ne")}_')
            _compare(writer, list(dict.fromkeys(names)), operator)
        if handle != 'File':
            names = [symbol for stem in dict.fromkeys((name, short)) for way in ('c2f', 'f2c')
                     for symbol in _module('mpi_f08_types', f'mpi_{stem}_{way}')]
            writer.function(names, 'int', 'int handle', 'return handle;')
    copies = [symbol for name in ('mpi_status_f2f08', 'mpi_status_f082f')
              for symbol in _module('mpi_f08_types', name)]
    writer.function(copies, 'void', 'const int* from, int* to, int* ierror',
                    'for (std::size_t i = 0; i < status_ints; ++i) to[i] = from[i];\n  give(ierror, MPI_SUCCESS);')
    assignments = [symbol for name in ('mpi_status_c_assign_f08', 'mpi_status_f08_assign_c')
                   for symbol in _module('mpi_f08_types', name)]
    writer.function(assignments, 'void', 'int* to, const int* from',
                    'for (std::size_t i = 0; i < status_ints; ++i) to[i] = from[i];')
    _sizes(writer, _MPICH_F08_SIZES, lambda name: _module('mpi_f08_types', f'mpi_sizeof_{name}'))
    _sizes(writer, _MPICH_SIZES, lambda name: _module('mpi_sizeofs', f'mpi_sizeof_{name}') + _module(
        'mpi_sizeofs', f'mpi_sizeof_{name}v'))
    _predefined_functions(writer)
    writer.function(['mpi_f_sync_reg_f08ts_', 'pmpir_f_sync_reg_f08ts_'], 'void', 'const void* /*buffer*/', '')
    return writer.text()


def _predefined_functions(writer):
    """The predefined functions of attributes and files, as members of the module mpi_f08_callbacks in both MPIs."""
    for name in ('mpi_conversion_fn_null', 'mpi_conversion_fn_null_c'):
        writer.other_names(f'{name}_', _module('mpi_f08_callbacks', name))
    for kind in ('comm', 'type', 'win'):
        copy = ('const int* /*object*/, const int* /*keyval*/, const MPI_Aint* /*extra*/, const MPI_Aint* {0}, '
                'MPI_Aint* {1}, int* flag, int* ierror')
        writer.function(_module('mpi_f08_callbacks', f'mpi_{kind}_dup_fn'), 'void', copy.format('in', 'out'),
                        'fulmar::fortran::dup_fn(in, out, flag, ierror);')
        writer.function(_module('mpi_f08_callbacks', f'mpi_{kind}_null_copy_fn'), 'void',
                        copy.format('/*in*/', '/*out*/'), 'fulmar::fortran::null_copy_fn(flag, ierror);')
        writer.function(_module('mpi_f08_callbacks', f'mpi_{kind}_null_delete_fn'), 'void',
                        'const int* /*object*/, const int* /*keyval*/, const MPI_Aint* /*value*/, '
                        'const MPI_Aint* /*extra*/, int* ierror', 'fulmar::fortran::null_delete_fn(ierror);')


def _openmpi(spec, abi):
    writer = _Writer()
    for name, value in _constants(spec, abi):
        names = [name] + ([name.removesuffix('_t')] if name.endswith('_t') else [])
        writer.constant([f'__mpi_f08_types_MOD_{name}', *(f'ompi_f08_{other}' for other in names)], value)
    for handle in sorted(compat_reader.HANDLES):
        for operator, word in (('==', 'eq'), ('!=', 'ne')):
            _compare(writer, _module('mpi_f08_types', f'ompi_{handle.lower()}_op_{word}'), operator)
    _sizes(writer, _OPENMPI_SIZES, lambda name: [
        f'{prefix}mpi_sizeof_{name}_{shape}_' for shape in _OPENMPI_SHAPES for prefix in ('', 'p')])
    _predefined_functions(writer)
    writer.function(['mpi_f_sync_reg_f08_', 'pmpi_f_sync_reg_f08_'], 'void', 'const void* /*buffer*/', '')
    return writer.text()


def write_extras(spec, abi):
    return {'mpich': _mpich, 'openmpi': _openmpi}[abi.name](spec, abi)
