# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes the entry points of libmpifort_abi: C++ functions that Fortran calls, one file per chapter.

Every procedure has one body for mpif.h, the module mpi and, where it has no choice buffer, mpi_f08: TYPE(MPI_Comm)
and an INTEGER are the same to the callee, and an absent ierror is a null pointer. Names of all manglings are
aliases of the body. A procedure with a choice buffer has a second body for mpi_f08, which gets descriptors.
"""

import dataclasses

import prototypes
from fortran_dialect import manglings
from fortran_reader import HANDLES

HEADER = '''// Written by tools/apigen from spec/. Do not edit.
#include <mpi.h>

#include "fortran/calls.h"
#include "fortran/choice.h"
#include "fortran/handles.h"
#include "fortran/pending.h"
#include "fortran/report.h"
#include "fortran/sentinels.h"
#include "fortran/strings.h"

using namespace fulmar::fortran;

// The names themselves: only C's own functions are called here, by their PMPI_ names.
#pragma GCC visibility push(default)
'''


def alias_lines(body, names):
    """Weak aliases of a function, as assembler: in C++ each would need the whole prototype."""
    lines = ''.join(f'    ".weak {name}\\n.set {name}, {body}\\n.type {name}, STT_FUNC\\n"\n'
                    for name in names)
    return f'__asm__(\n{lines});\n' if lines else ''


@dataclasses.dataclass
class Code:
    """The parts of one body."""
    before: list
    describe: list   # expressions that give an error code
    after: list      # when the call has returned
    arguments: list


class Body:
    """Writes one procedure for one of the two ways of calling."""

    def __init__(self, spec, table, procedure, dialect, with_descriptors):
        self.spec = spec
        self.table = table
        self.procedure = procedure
        self.dialect = dialect
        self.with_descriptors = with_descriptors
        self.string_descriptors = with_descriptors and dialect.strings_have_descriptors
        self.code = Code([], [], [], [])
        self.choices = []
        self.blocks = []

    # Declarations.

    def declaration(self, argument):
        kind, name = argument.parameter.kind, argument.name
        is_input = argument.parameter.direction == 'in'
        constant = 'const ' if is_input else ''
        if argument.is_choice:
            return f'const {self.dialect.descriptor}* {name}_d' if self.with_descriptors else f'void* {name}'
        if kind in ('string', 'strings', 'string_arrays'):
            if self.string_descriptors:
                return f'const Descriptor* {name}_d'
            return f'{constant}char* {name}'
        if kind.startswith('callback:'):
            return f'Procedure* {name}'
        if kind == 'pointer':
            return self._pointer_declaration(argument)
        if argument.ctype in HANDLES or argument.ctype in ('MPI_Status', 'int', 'int3'):
            return f'{constant}int* {name}'
        return f'{constant}{argument.ctype}* {name}'

    def _pointer_declaration(self, argument):
        name = argument.name
        if name in ('extra_state', 'attribute_val'):
            old = self.procedure.function.attributes.get('deprecated') == '2.0'
            constant = 'const ' if argument.parameter.direction == 'in' else ''
            return f'{constant}{"int" if old else "MPI_Aint"}* {name}'
        if name == 'buffer_addr':
            return f'{"void**" if self.with_descriptors else "void*"} {name}'
        return f'void* {name}'

    def parameters(self):
        declared = [self.declaration(argument) for argument in self.procedure.arguments]
        if self.procedure.has_error:
            declared.append('int* ierror')
        if not self.string_descriptors:
            declared += [f'std::size_t {argument.name}_length' for argument in self.procedure.strings]
        return ', '.join(declared)

    # Conversions.

    def _target(self):
        """An argument more, where the call has an object on which errors are raised."""
        if self.procedure.function.has('raise'):
            return ''
        for argument in self.procedure.arguments:
            kind, parameter = argument.parameter.kind.removesuffix('_or_null'), argument.parameter
            if kind in ('comm', 'win', 'file', 'session') and parameter.direction != 'out' and not parameter.is_array:
                return f', ErrorTarget::{kind}(*{argument.name})'
        return ''

    def _fail_if(self, name):
        self.code.before.append(
            f'if ({name}_c.failed()) return give(ierror, report(Problem::no_memory{self._target()}));')

    def _convert_choice(self, argument):
        name = argument.name
        if not self.with_descriptors:
            self.code.arguments.append(f'buffer_address({name})')
            return
        access = 'in' if argument.parameter.direction == 'in' else 'out'
        self.code.before.append(f'Choice {name}_c({name}_d, Access::{access}{self._target()});')
        self.code.arguments.append(f'{name}_c.address()')
        self.choices.append(argument)
        if argument.section == 'copy':
            self.code.describe.append(f'{name}_c.copy()')
        elif argument.section == 'contiguous':
            self.code.describe.append(f'{name}_c.require_contiguous()')
        elif argument.section in ('describe', 'describe_only'):
            position = self.procedure.arguments.index(argument)
            count, datatype = self.procedure.arguments[position + 1:position + 3]
            self.code.describe.append(
                f'{name}_c.{argument.section}(&{count.name}_n, &{datatype.name}_c)')

    def _is_described(self, argument):
        """Whether a count or datatype belongs to a section that may change it."""
        position = self.procedure.arguments.index(argument)
        before = self.procedure.arguments[max(0, position - 2):position]
        kinds = (('count', 'large_count'), ('datatype', 'any_datatype', 'datatype_or_null'))
        if not self.with_descriptors:
            return False
        for distance, wanted in enumerate(kinds, 1):
            if argument.parameter.kind in wanted and len(before) >= distance:
                if before[-distance].section in ('describe', 'describe_only'):
                    return True
        return False

    def _convert_handle(self, argument):
        name, ctype, parameter = argument.name, argument.ctype, argument.parameter
        if parameter.is_array:
            self._convert_handles(argument)
        elif parameter.direction == 'in':
            if name == 'comm' or self._is_described(argument):
                self.code.before.append(f'auto {name}_c = handle<{ctype}>(*{name});')
                self.code.arguments.append(f'{name}_c')
            else:
                self.code.arguments.append(f'handle<{ctype}>(*{name})')
        else:
            before = f', *{name}' if parameter.direction == 'inout' else ''
            self.code.before.append(f'HandleResult<{ctype}> {name}_c({name}{before});')
            self.code.arguments.append(f'{name}_c.get()')
            self.code.after.append(f'{name}_c.store();')

    def _convert_handles(self, argument):
        name, ctype, parameter = argument.name, argument.ctype, argument.parameter
        if parameter.length:
            length = f'*{parameter.length}'
        else:
            found = self.table.find('length', self.procedure.function.name, parameter.name)
            length = found[0]
            # Arguments of what is not sent are not looked at.
            if name == 'sendtypes' and 'eighbor' not in self.procedure.name:
                length = f'{self._sendbuf()} == MPI_IN_PLACE ? 0 : {length}'
        if parameter.direction == 'in' or parameter.direction == 'inout':
            keeps = ', Storage::heap' if self.procedure.request is not None else ''
            self.code.before.append(f'HandleArray<{ctype}> {name}_c({name}, {length}{keeps});')
        else:
            self.code.before.append(
                f'HandleArray<{ctype}> {name}_c(Results::only, {name}, {length});')
            self.code.after.append(f'{name}_c.store({name});')
        self._fail_if(name)
        self.code.arguments.append(f'{name}_c.get()')
        if self.procedure.request is not None:
            self.blocks.append(name)

    def _sendbuf(self):
        return 'sendbuf_c.address()' if self.with_descriptors else 'buffer_address(sendbuf)'

    def _convert_flag(self, argument):
        name, parameter = argument.name, argument.parameter
        if parameter.is_array:
            length = f'*{parameter.length}'
            self.code.before.append(f'SmallArray<int, 16> {name}_c({length});')
            self._fail_if(name)
            loop = f'for (MPI_Count i = 0; i < {name}_c.size(); ++i)'
            # Also for results: the call may leave some as they are.
            self.code.before.append(f'{loop} {name}_c[i] = logical({name}[i]);')
            if parameter.direction != 'in':
                self.code.after.append(f'{loop} {name}[i] = logical({name}_c[i]);')
            self.code.arguments.append(f'{name}_c.data()')
        elif parameter.direction == 'in':
            self.code.arguments.append(f'logical(*{name})')
        else:
            self.code.before.append(f'int {name}_c = 0;')
            self.code.arguments.append(f'&{name}_c')
            self.code.after.append(f'*{name} = logical({name}_c);')

    def _convert_string(self, argument):
        name = argument.name
        text, length = name, f'{name}_length'
        if self.string_descriptors:
            text = f'static_cast<const char*>({name}_d->base)'
            length = f'{name}_d->element_bytes'
        if argument.parameter.direction == 'in':
            trim = 'both' if self.procedure.name.startswith('MPI_Info_') else 'trailing'
            self.code.before.append(f'InString {name}_c({text}, {length}, Trim::{trim});')
        else:
            capacity = self.table.find('string', self.procedure.name, argument.parameter.name)[0]
            self.code.before.append(f'OutString {name}_c({capacity});')
            self.code.after.append(f'if (code == MPI_SUCCESS) {name}_c.store({text}, {length});')
        self._fail_if(name)
        self.code.arguments.append(f'{name}_c.get()')

    def _convert_status(self, argument):
        name = argument.name
        if argument.parameter.direction != 'out':
            constant = 'const ' if argument.parameter.direction == 'in' else ''
            self.code.arguments.append(f'reinterpret_cast<{constant}MPI_Status*>({name})')
        else:
            self.code.arguments.append(f'status_address({name})')

    def _convert_plain(self, argument):
        name, parameter = argument.name, argument.parameter
        if name in ('weights', 'sourceweights', 'destweights'):
            self.code.arguments.append(f'weights_address({name})')
        elif argument.ctype == 'int3':
            self.code.arguments.append(f'reinterpret_cast<int(*)[3]>(const_cast<int*>({name}))')
        elif parameter.is_array or parameter.direction != 'in' or parameter.kind == 'pointer':
            self.code.arguments.append(name)
        elif self._is_described(argument):
            self.code.before.append(f'auto {name}_n = *{name};')
            self.code.arguments.append(f'{name}_n')
        else:
            self.code.arguments.append(f'*{name}')

    def convert(self, argument):
        kind = argument.parameter.kind
        if argument.is_choice:
            self._convert_choice(argument)
        elif argument.ctype in HANDLES:
            self._convert_handle(argument)
        elif kind == 'flag':
            self._convert_flag(argument)
        elif kind == 'string':
            self._convert_string(argument)
        elif kind == 'status':
            self._convert_status(argument)
        else:
            self._convert_plain(argument)

    # Bodies.

    def _statements(self):
        request = self.procedure.request
        pending = request is not None and (self.blocks or any(
            choice.section in ('copy', 'describe') for choice in self.choices))
        # Communicators come first: lengths of arrays are asked from them.
        comm = [line for line in self.code.before if line.startswith('auto comm_c')]
        choices = [line for line in self.code.before if line.startswith('Choice ')]
        yield from comm + choices + [line for line in self.code.before
                                     if line not in comm and line not in choices]
        if pending:
            lifetime = 'persistent' if self.procedure.generic.endswith('_init') else 'once'
            freeing = 'refused' if self.procedure.is_collective else 'accepted'
            yield f'PendingBuilder pending(Lifetime::{lifetime}, Freeing::{freeing});'
        yield 'int code = MPI_SUCCESS;'
        for expression in self.code.describe:
            yield f'if (code == MPI_SUCCESS) code = {expression};'
        if pending:
            wanted = ' || '.join(
                ['true'] if self.blocks else
                [f'{choice.name}_c.has_copy()' for choice in self.choices])
            yield (f'if (code == MPI_SUCCESS && !pending.reserve({wanted})) '
                   f'code = report(Problem::no_memory{self._target()});')
        yield 'if (code == MPI_SUCCESS) {'
        yield f'  code = P{self.procedure.name}({", ".join(self.code.arguments)});'
        if not pending:
            for choice in self.choices:
                yield f'  {choice.name}_c.finish();'
        yield '}'
        yield from self.code.after
        if pending:
            yield 'if (code == MPI_SUCCESS) {'
            for choice in self.choices:
                yield f'  pending.add({choice.name}_c);'
            for name in self.blocks:
                yield f'  pending.add_block({name}_c.release());'
            yield f'  pending.keep(*{request.name});'
            yield '}'
        elif request is not None:
            yield f'if (code == MPI_SUCCESS && anything_pending()) pending_forget(*{request.name});'
        yield 'give(ierror, code);'

    def statements(self):
        for argument in self.procedure.arguments:
            self.convert(argument)
        return list(self._statements())


def _hand_call(procedure, suffix):
    name = procedure.name[len('MPI_'):].lower()
    arguments = [argument.name for argument in procedure.arguments]
    if procedure.has_error:
        arguments.append('ierror')
    arguments += [f'{argument.name}_length' for argument in procedure.strings]
    keyword = 'return ' if procedure.is_function else ''
    return f'{keyword}fulmar::fortran::{name}{suffix}({", ".join(arguments)});'


def _function(name, returns, parameters, statements):
    head = prototypes.wrap(f'{returns} {name}({parameters}) {{')
    lines = '\n'.join(prototypes.wrap(line, '  ') for line in statements)
    return f'extern "C" {head}\n{lines}\n}}\n'


def _symbols(body, names):
    """The body and its other names."""
    return body, [name for name in names if name != body]


def _all_names(names):
    """MPI_ and PMPI_ names; the first PMPI_ one is the body."""
    aliases = [mangled for name in names for prefix in ('P', '')
               for mangled in manglings(prefix + name)]
    return _symbols(manglings(f'P{names[0]}')[0], aliases)


def _f08_symbols(names):
    return _symbols(names[0][0], names[0] + names[1])


def _plain_names(dialect, procedure):
    """The names of the body that gets addresses."""
    names = []
    if procedure.in_mpi:
        names += [procedure.name, *dialect.other_names(procedure)]
        if any(argument.name == 'baseptr' for argument in procedure.arguments):
            names.append(procedure.name + '_CPTR')  # the specific one for TYPE(C_PTR)
    body, aliases = _all_names(names) if names else ('', [])
    if (procedure.in_f08 and dialect.in_plain_body(procedure)
            and not (procedure.own_f08 and names)):
        found = dialect.f08_names(procedure)
        body = body or found[0][0]
        aliases += [name for name in found[0] + found[1] if name != body]
    return body, aliases


def _plain_entry(spec, table, procedure, dialect):
    """The body for names that compilers mangle."""
    body, aliases = _plain_names(dialect, procedure)
    if not body:
        return ''
    writer = Body(spec, table, procedure, dialect, False)
    returns = procedure.function.returns if procedure.is_function else 'void'
    suffix = '_f08' if procedure.own_f08 and not procedure.in_mpi else ''
    if suffix:
        writer.with_descriptors = True  # for the type of buffer_addr
    parameters = writer.parameters()
    if procedure.by_hand:
        statements = [_hand_call(procedure, suffix)]
    else:
        statements = writer.statements()
    return _function(body, returns, parameters, statements) + alias_lines(body, aliases) + '\n'


def _own_f08_entry(spec, table, procedure, dialect):
    writer = Body(spec, table, procedure, dialect, True)
    body, aliases = _f08_symbols(dialect.f08_names(procedure))
    return (_function(body, 'void', writer.parameters(), [_hand_call(procedure, '_f08')]) +
            alias_lines(body, aliases) + '\n')


def _descriptor_entry(spec, table, procedure, dialect):
    """The body that gets descriptors."""
    writer = Body(spec, table, procedure, dialect, True)
    body, aliases = _f08_symbols(dialect.descriptor_names(procedure))
    return (_function(body, 'void', writer.parameters(), writer.statements()) +
            alias_lines(body, aliases) + '\n')


def write_entries(spec, table, chapter, procedures, dialect):
    parts = [HEADER]
    for procedure in procedures:
        if procedure.function.chapter is not chapter or not dialect.has(procedure):
            continue
        parts.append(_plain_entry(spec, table, procedure, dialect))
        if procedure.in_f08 and procedure.own_f08 and procedure.in_mpi:
            parts.append(_own_f08_entry(spec, table, procedure, dialect))
        if procedure.in_f08 and not dialect.in_plain_body(procedure):
            parts.append(_descriptor_entry(spec, table, procedure, dialect))
    parts.append('#pragma GCC visibility pop\n')
    return '\n'.join(part for part in parts if part)


# Procedures that C does not have: name, result, parameters, statements.
_COPY = ('const int* /*object*/, const int* /*keyval*/, const MPI_Aint* /*extra*/, '
         'const MPI_Aint* value_in, MPI_Aint* value_out, int* flag, int* ierror')
_DELETE = ('const int* /*object*/, const int* /*keyval*/, const MPI_Aint* /*value*/, '
           'const MPI_Aint* /*extra*/, int* ierror')
_DELETE_CALL = ['fulmar::fortran::null_delete_fn(ierror);']
_CONVERSION = 'void* /*userbuf*/'
_STATUS_COPY = ['for (std::size_t i = 0; i < status_ints; ++i) to[i] = from[i];',
                'give(ierror, MPI_SUCCESS);']


# What MPI 3.0 removed: the name of the procedure in src/fortran/removed.cc, its parameters.
_REMOVED = (
    ('MPI_Address', 'const void* location, int* address, int* ierror'),
    ('MPI_Errhandler_create', 'Procedure* function, int* errhandler, int* ierror'),
    ('MPI_Errhandler_set', 'const int* comm, const int* errhandler, int* ierror'),
    ('MPI_Errhandler_get', 'const int* comm, int* errhandler, int* ierror'),
    ('MPI_Type_extent', 'const int* datatype, int* extent, int* ierror'),
    ('MPI_Type_lb', 'const int* datatype, int* displacement, int* ierror'),
    ('MPI_Type_ub', 'const int* datatype, int* displacement, int* ierror'),
    ('MPI_Type_hvector', 'const int* count, const int* blocklength, const int* stride, const int* oldtype, '
                         'int* newtype, int* ierror'),
    ('MPI_Type_hindexed', 'const int* count, const int* blocklengths, const int* displacements, '
                          'const int* oldtype, int* newtype, int* ierror'),
    ('MPI_Type_struct', 'const int* count, const int* blocklengths, const int* displacements, '
                        'const int* types, int* newtype, int* ierror'))


def _removed_procedures():
    for name, parameters in _REMOVED:
        arguments = ', '.join(parameter.split()[-1] for parameter in parameters.split(', '))
        yield name, parameters, [f"fulmar::fortran::{name[len('MPI_'):].lower()}({arguments});"]


def _extra_procedures():
    yield from _removed_procedures()
    for kind in ('COMM', 'TYPE', 'WIN'):
        unused = _COPY.replace('value_in', '/*value_in*/').replace('value_out', '/*value_out*/')
        yield (f'MPI_{kind}_DUP_FN', _COPY,
               ['fulmar::fortran::dup_fn(value_in, value_out, flag, ierror);'])
        yield (f'MPI_{kind}_NULL_COPY_FN', unused, ['fulmar::fortran::null_copy_fn(flag, ierror);'])
        yield f'MPI_{kind}_NULL_DELETE_FN', _DELETE, _DELETE_CALL
    old = _COPY.replace('MPI_Aint', 'int')
    unused = old.replace('value_in', '/*value_in*/').replace('value_out', '/*value_out*/')
    yield 'MPI_DUP_FN', old, ['fulmar::fortran::old_dup_fn(value_in, value_out, flag, ierror);']
    yield 'MPI_NULL_COPY_FN', unused, ['fulmar::fortran::null_copy_fn(flag, ierror);']
    yield 'MPI_NULL_DELETE_FN', _DELETE.replace('MPI_Aint', 'int'), _DELETE_CALL
    yield 'MPI_CONVERSION_FN_NULL', _CONVERSION, []
    yield 'MPI_CONVERSION_FN_NULL_C', _CONVERSION, []
    for name in ('MPI_Status_f2f08', 'MPI_Status_f082f'):
        yield name, 'const int* from, int* to, int* ierror', _STATUS_COPY
    yield 'MPI_F_sync_reg', 'void* /*buffer*/', []


def _plain_extra(name, parameters, statements, returns='void'):
    body, aliases = _all_names([name])
    if name.upper() == name:  # predefined functions: no second name
        body = manglings(name)[0]
        aliases = manglings(name)[1:]
    return _function(body, returns, parameters, statements) + alias_lines(body, aliases) + '\n'


def write_extra_entries(handles, dialect, others=''):
    """Procedures beside the functions of C. `others`: those that only this ABI has."""
    parts = [HEADER]
    parts += [_plain_extra(*procedure) for procedure in _extra_procedures()]
    if not dialect.has_own_extras:
        return '\n'.join([*parts, others, '#pragma GCC visibility pop\n'])
    for handle in sorted(handles):
        name = handle[len('MPI_'):].lower()
        for operator, text in (('eq', '=='), ('ne', '!=')):
            parts.append(_plain_extra(f'MPIFORT_{name}_{operator}'.upper(),
                                      'const int* one, const int* other',
                                      [f'return *one {text} *other ? 1 : 0;'], 'int'))
    descriptor = (
        ('MPI_F_sync_reg_f08ts', 'const Descriptor* /*buffer*/', []),
        ('MPI_Sizeof_f08ts', 'const Descriptor* x, int* size, int* ierror',
         ['*size = static_cast<int>(x->element_bytes);', 'give(ierror, MPI_SUCCESS);']))
    for name, parameters, statements in descriptor:
        parts.append(_function('P' + name, 'void', parameters, statements) +
                     alias_lines('P' + name, [name]) + '\n')
    parts.append('#pragma GCC visibility pop\n')
    return '\n'.join(parts)
