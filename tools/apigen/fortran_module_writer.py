# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The modules mpi and mpi_f08: interfaces of the entry points, for the compiler to check."""

import textwrap

import fortran_constant_writer
from fortran_reader import HANDLES, KINDS

PREFIXES = ('', 'P')


def _wrap(text, indent):
    """A statement in free form, broken after blanks."""
    lines = textwrap.wrap(text, 116, initial_indent=indent, subsequent_indent=indent + '    ',
                          break_long_words=False, break_on_hyphens=False)
    return ' &\n'.join(lines)


class Interface:
    """Declares one procedure for one of the modules."""

    def __init__(self, procedure, is_f08):
        self.procedure = procedure
        self.is_f08 = is_f08
        self.imports = set()

    def _intent(self, argument):
        direction = argument.parameter.direction
        return f', intent({direction})'

    def _type(self, argument):
        ctype, kind = argument.ctype, argument.parameter.kind
        if kind == 'flag':
            return 'logical'
        if ctype in HANDLES or ctype == 'MPI_Status':
            if self.is_f08:
                self.imports.add(ctype)
                return f'type({ctype})'
            return 'integer'
        if ctype in KINDS:
            self.imports.add(KINDS[ctype])
            return f'integer(kind={KINDS[ctype]})'
        return 'integer'

    def _pointer(self, argument):
        """extra_state, attribute_val, buffer_addr, baseptr."""
        name = argument.name
        if name in ('extra_state', 'attribute_val'):
            if self.procedure.function.attributes.get('deprecated') == '2.0':
                return [f'integer{self._intent(argument)} :: {name}']
            self.imports.add('MPI_ADDRESS_KIND')
            return [f'integer(kind=MPI_ADDRESS_KIND){self._intent(argument)} :: {name}']
        if name == 'buffer_addr' and not self.is_f08:
            return self._ignore_type(name)
        self.imports.add('c_ptr')
        return [f'type(c_ptr), intent(out) :: {name}']

    def _ignore_type(self, name):
        return [f'!gcc$ attributes no_arg_check :: {name}', f'!dir$ ignore_tkr(tkrd) {name}',
                f'integer :: {name}(*)']

    def _choice(self, argument):
        if not self.is_f08 or not self.procedure.has_choice:
            return self._ignore_type(argument.name)
        # Memory that MPI keeps changes later: it has no intent.
        kept = argument.parameter.kind == 'memory' or argument.section == 'address'
        intent = ', intent(in)' if argument.parameter.direction == 'in' and not kept else ''
        asynchronous = ', asynchronous' if kept or self._continues() else ''
        return [f'type(*), dimension(..){intent}{asynchronous} :: {argument.name}']

    def _continues(self):
        """Whether buffers are used after the call."""
        function = self.procedure.function
        return (self.procedure.request is not None or function.name.endswith(('_begin', '_end')) or
                function.chapter.name == 'rma')

    def _string(self, argument):
        kind, name = argument.parameter.kind, argument.name
        shape = {'string': '', 'strings': '(*)', 'string_arrays': '(count, *)'}[kind]
        return [f'character(len=*){self._intent(argument)} :: {name}{shape}']

    def _callback(self, argument):
        if not self.is_f08:
            return [f'external :: {argument.name}']
        plain, _, large = argument.parameter.kind[len('callback:'):].partition('/')
        name = large if self.procedure.is_large and large else plain
        self.imports.add(name)
        return [f'procedure({name}) :: {argument.name}']

    def declarations(self, argument):
        kind, parameter = argument.parameter.kind, argument.parameter
        if argument.is_choice:
            return self._choice(argument)
        if kind == 'pointer':
            return self._pointer(argument)
        if kind in ('string', 'strings', 'string_arrays'):
            return self._string(argument)
        if kind.startswith('callback:'):
            return self._callback(argument)
        intent = self._intent(argument)
        shape = '(*)' if parameter.is_array else ''
        if kind == 'status':
            if parameter.direction == 'out':
                intent = ''  # MPI_STATUS_IGNORE is not to be written
            if not self.is_f08:
                self.imports.add('MPI_STATUS_SIZE')
                shape = '(MPI_STATUS_SIZE, *)' if parameter.is_array else '(MPI_STATUS_SIZE)'
        elif argument.ctype == 'int3':
            shape = '(3, *)'
        elif argument.name == 'array_of_errcodes' or argument.name.endswith('weights'):
            intent = '' if parameter.direction == 'out' else intent
        return [f'{self._type(argument)}{intent} :: {argument.name}{shape}']

    def lines(self, name, binding=''):
        procedure = self.procedure
        names = [argument.name for argument in procedure.arguments]
        declared = [line for argument in procedure.arguments for line in self.declarations(argument)]
        if procedure.has_error:
            names.append('ierror')
            optional = ', optional' if self.is_f08 else ''
            declared.append(f'integer{optional}, intent(out) :: ierror')
        keyword, result = 'subroutine', ''
        if procedure.is_function:
            keyword, result = 'function', ' result(answer)'
            answer = {'double': 'real(kind=selected_real_kind(15, 307))'}.get(procedure.function.returns)
            if answer is None:
                self.imports.add('MPI_ADDRESS_KIND')
                answer = 'integer(kind=MPI_ADDRESS_KIND)'
            declared.append(f'{answer} :: answer')
        yield _wrap(f'{keyword} {name}({", ".join(names)}){binding}{result}', '    ')
        if self.imports:
            yield _wrap(f'import :: {", ".join(sorted(self.imports))}', '      ')
        yield '      implicit none'
        for line in declared:
            yield line if line.startswith('!') else f'      {line}'
        yield f'    end {keyword} {name}'


def _f08_specific(procedure, prefix):
    name = prefix + procedure.specific
    binding = f" bind(c, name='{name}')" if procedure.has_choice else ''
    return Interface(procedure, True).lines(name, binding)


def _f08_interfaces(procedures):
    """One generic interface for each name, with its plain and its large form."""
    generics = {}
    for procedure in procedures:
        if procedure.in_f08:
            generics.setdefault(procedure.generic, []).append(procedure)
    for prefix in PREFIXES:
        for generic, forms in generics.items():
            yield f'  interface {prefix}{generic}'
            for procedure in forms:
                yield from _f08_specific(procedure, prefix)
            yield f'  end interface {prefix}{generic}'


def _extra_f08(prefix):
    yield from (
        f'  interface {prefix}MPI_F_sync_reg',
        f"    subroutine {prefix}MPI_F_sync_reg_f08ts(buf) bind(c, name='{prefix}MPI_F_sync_reg_f08ts')",
        '      implicit none', '      type(*), dimension(..), asynchronous :: buf',
        f'    end subroutine {prefix}MPI_F_sync_reg_f08ts',
        f'  end interface {prefix}MPI_F_sync_reg')


def _extra_both(prefix):
    """MPI_SIZEOF and the conversions of statuses, which both modules have."""
    yield from (
        f'  interface {prefix}MPI_Sizeof',
        f"    subroutine {prefix}MPI_Sizeof_f08ts(x, size, ierror) bind(c, name='{prefix}MPI_Sizeof_f08ts')",
        '      implicit none', '      type(*), dimension(..), intent(in) :: x',
        '      integer, intent(out) :: size', '      integer, optional, intent(out) :: ierror',
        f'    end subroutine {prefix}MPI_Sizeof_f08ts', f'  end interface {prefix}MPI_Sizeof')
    old = 'integer, intent({}) :: f_status(MPI_STATUS_SIZE)'
    new = 'type(MPI_Status), intent({}) :: f08_status'
    for name, order, intents in (('MPI_Status_f2f08', ('f_status', 'f08_status'), ('in', 'out')),
                                 ('MPI_Status_f082f', ('f08_status', 'f_status'), ('out', 'in'))):
        yield from (
            '  interface', f'    subroutine {prefix}{name}({order[0]}, {order[1]}, ierror)',
            '      import :: MPI_Status, MPI_STATUS_SIZE', '      implicit none',
            f'      {old.format(intents[0])}', f'      {new.format(intents[1])}',
            '      integer, optional, intent(out) :: ierror',
            f'    end subroutine {prefix}{name}', '  end interface')


def _predefined_functions(is_f08):
    """Copy and delete functions, which programs pass on."""
    yield '  interface'
    for kind, handle in (('COMM', 'MPI_Comm'), ('TYPE', 'MPI_Datatype'), ('WIN', 'MPI_Win')):
        declared = f'type({handle})' if is_f08 else 'integer'
        imports = f'{handle}, MPI_ADDRESS_KIND' if is_f08 else 'MPI_ADDRESS_KIND'
        for name in (f'MPI_{kind}_DUP_FN', f'MPI_{kind}_NULL_COPY_FN'):
            yield from (
                _wrap(f'subroutine {name}(object, keyval, extra_state, attribute_val_in, '
                      'attribute_val_out, flag, ierror)', '    '),
                f'      import :: {imports}', '      implicit none', f'      {declared} :: object',
                '      integer :: keyval, ierror',
                '      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out',
                '      logical :: flag', f'    end subroutine {name}')
        name = f'MPI_{kind}_NULL_DELETE_FN'
        yield from (
            f'    subroutine {name}(object, keyval, attribute_val, extra_state, ierror)',
            f'      import :: {imports}', '      implicit none', f'      {declared} :: object',
            '      integer :: keyval, ierror',
            '      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state',
            f'    end subroutine {name}')
    yield '  end interface'


def _conversion_functions():
    for name, kind in (('MPI_CONVERSION_FN_NULL', ''), ('MPI_CONVERSION_FN_NULL_C', '(kind=MPI_COUNT_KIND)')):
        yield from (
            '  interface',
            f'    subroutine {name}(userbuf, datatype, count, filebuf, position, extra_state, ierror)',
            '      import :: c_ptr, MPI_Datatype, MPI_ADDRESS_KIND, MPI_COUNT_KIND, MPI_OFFSET_KIND',
            '      implicit none', '      type(c_ptr), value :: userbuf, filebuf',
            '      type(MPI_Datatype) :: datatype', f'      integer{kind} :: count',
            '      integer :: ierror', '      integer(kind=MPI_OFFSET_KIND) :: position',
            '      integer(kind=MPI_ADDRESS_KIND) :: extra_state',
            f'    end subroutine {name}', '  end interface')


def write_f08(spec, procedures):
    lines = [fortran_constant_writer.FREE_HEADER, 'module mpi_f08',
             '  use, intrinsic :: iso_c_binding, only: c_ptr', '  use mpi_abi_constants',
             '  use mpi_f08_types', '  use mpi_f08_callbacks', '  implicit none', '  public',
             '  private :: c_ptr']
    lines += fortran_constant_writer.write_f08_handles(spec)
    lines += _f08_interfaces(procedures)
    for prefix in PREFIXES:
        lines += _extra_f08(prefix)
        lines += _extra_both(prefix)
    lines += _predefined_functions(True)
    lines += _conversion_functions()
    return '\n'.join(lines + ['end module mpi_f08', ''])


def _has_baseptr(procedure):
    return any(argument.name == 'baseptr' for argument in procedure.arguments)


def _mpi_baseptr(procedure, prefix):
    """MPI_Alloc_mem and the like: baseptr is an integer or TYPE(C_PTR) (MPI 5.0 section 9.2)."""
    name = prefix + procedure.name
    yield f'  interface {name}'
    for line in Interface(procedure, False).lines(name):
        line = line.replace('type(c_ptr), intent(out)', 'integer(kind=MPI_ADDRESS_KIND), intent(out)')
        if 'import ::' in line:
            line = '      import :: MPI_ADDRESS_KIND'
        yield line
    yield from Interface(procedure, False).lines(name + '_CPTR')
    yield f'  end interface {name}'


def write_mpi(spec, procedures):
    lines = [fortran_constant_writer.FREE_HEADER, 'module mpi',
             '  use, intrinsic :: iso_c_binding, only: c_int, c_ptr', '  use mpi_abi_constants',
             '  use mpi_f08_types', '  implicit none', '  public', '  private :: c_int, c_ptr']
    lines += fortran_constant_writer.write_mpi_handles(spec)
    for prefix in PREFIXES:
        for procedure in procedures:
            if procedure.in_mpi and _has_baseptr(procedure):
                lines += _mpi_baseptr(procedure, prefix)
        lines.append('  interface')
        for procedure in procedures:
            if procedure.in_mpi and not _has_baseptr(procedure):
                lines += Interface(procedure, False).lines(prefix + procedure.name)
        lines += [f'    subroutine {prefix}MPI_F_sync_reg(buf)', '      implicit none',
                  '!gcc$ attributes no_arg_check :: buf', '!dir$ ignore_tkr(tkrd) buf',
                  '      integer :: buf(*)', f'    end subroutine {prefix}MPI_F_sync_reg',
                  '  end interface']
        lines += _extra_both(prefix)
    lines += _predefined_functions(False)
    lines += ['  external :: MPI_NULL_COPY_FN, MPI_DUP_FN, MPI_NULL_DELETE_FN, MPI_CONVERSION_FN_NULL',
              'end module mpi', '']
    return '\n'.join(lines)
