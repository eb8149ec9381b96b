# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the writers of the Fortran bindings share: spec/fortran.table, and one description per procedure."""

import dataclasses
import fnmatch

import prototypes
from spec_reader import SpecError

CHOICE_KINDS = ('buffer', 'buffer_or_in_place', 'block_buffer', 'scan_buffer', 'memory')
HANDLES = {  # C type -> component of HandleOf
    'MPI_Comm', 'MPI_Errhandler', 'MPI_File', 'MPI_Group', 'MPI_Info', 'MPI_Message', 'MPI_Op',
    'MPI_Request', 'MPI_Session', 'MPI_Datatype', 'MPI_Win'}
KINDS = {'MPI_Aint': 'MPI_ADDRESS_KIND', 'MPI_Count': 'MPI_COUNT_KIND', 'MPI_Offset': 'MPI_OFFSET_KIND'}
SENTINELS = (  # name in Fortran, shape; in the order of SentinelBlock (src/fortran/sentinels.h)
    ('MPI_BOTTOM', ''), ('MPI_IN_PLACE', ''), ('MPI_BUFFER_AUTOMATIC', ''), ('MPI_ERRCODES_IGNORE', '(1)'),
    ('MPI_UNWEIGHTED', '(1)'), ('MPI_WEIGHTS_EMPTY', '(1)'))


@dataclasses.dataclass
class Table:
    """spec/fortran.table: for each word the lines that begin with it."""
    lines: dict

    def matches(self, word, name):
        return any(fnmatch.fnmatchcase(name, line[0]) for line in self.lines.get(word, ()))

    def find(self, word, *key):
        """What follows the key in the last line whose patterns match it."""
        found = None
        for line in self.lines.get(word, ()):
            if len(line) >= len(key) and all(map(fnmatch.fnmatchcase, key, line)):
                found = line[len(key):]
        return found


def read_table(path):
    words = ('omit', 'no_f08', 'drop', 'name', 'input', 'apart', 'by_hand', 'string', 'length', 'section')
    lines = {}
    for number, text in enumerate(path.read_text().splitlines(), 1):
        line = text.split('#')[0].split()
        if not line:
            continue
        if line[0] not in words or len(line) < 2:
            raise SpecError(f'{path.name}:{number}: expected one of {", ".join(words)} and a name')
        lines.setdefault(line[0], []).append(line[1:])
    return Table(lines)


@dataclasses.dataclass
class Argument:
    """One argument of a procedure, `ierror` not among them."""
    name: str       # in Fortran
    parameter: object
    ctype: str      # of one element in C
    is_choice: bool
    section: str = ''  # of a choice buffer


@dataclasses.dataclass
class Procedure:
    """A function in its plain or its large form."""
    function: object
    name: str           # of the C function
    generic: str        # the name that programs use
    is_large: bool
    arguments: list
    by_hand: bool
    own_f08: bool
    in_f08: bool
    in_mpi: bool        # in mpif.h and the module mpi

    @property
    def has_choice(self):
        """Whether choice buffers reach C as descriptors in mpi_f08. Not beside a LOGICAL: a default one in a
        procedure with bind(c) is an extension, and gfortran's -std=f2018 then refuses the whole module."""
        return (any(argument.is_choice for argument in self.arguments) and
                not any(argument.parameter.kind == 'flag' for argument in self.arguments))

    @property
    def is_function(self):
        return self.function.returns != 'int'

    @property
    def has_error(self):
        return not self.is_function and self.function.name != 'MPI_Pcontrol'

    @property
    def strings(self):
        """Arguments that bring the length of a string."""
        return [argument for argument in self.arguments
                if argument.parameter.kind in ('string', 'strings', 'string_arrays')]

    @property
    def specific(self):
        """Name of the specific procedure in mpi_f08 (MPI 5.0 section 19.1.5)."""
        return self.name + ('_f08ts' if self.has_choice else '_f08')

    @property
    def is_collective(self):
        """Of a communication or file operation: whether all processes of the group take part."""
        return self.function.chapter.name in ('coll', 'neighbor') or '_all' in self.name

    @property
    def request(self):
        """The request that a non-blocking or persistent operation gives."""
        for argument in self.arguments:
            if argument.parameter.kind == 'request' and argument.parameter.direction == 'out':
                return argument
        return None


def _section_mode(table, chapter, procedure, position):
    parameters = procedure.parameters
    parameter = parameters[position]
    if parameter.kind == 'memory':
        return 'contiguous'
    kinds = [other.kind for other in parameters[position + 1:position + 3]]
    typed = len(kinds) == 2 and 'count' in kinds[0] and 'datatype' in kinds[1]
    named = table.find('section', procedure.name) or table.find('section', chapter)
    if named and (named[0] in ('copy', 'contiguous', 'address') or typed):
        return named[0]
    return 'describe' if typed else 'copy'


def _arguments(spec, table, symbol):
    dropped = table.find('drop', symbol.function.name) or ()
    arguments = []
    for position, parameter in enumerate(symbol.function.parameters):
        if parameter.kind == 'varargs' or parameter.name in dropped:
            continue
        ctype = prototypes.element_type(spec, parameter, symbol.is_large)
        is_choice = parameter.kind in CHOICE_KINDS
        section = ''
        if is_choice:
            section = _section_mode(table, symbol.function.chapter.name, symbol.function, position)
        name = table.find('name', symbol.function.name, parameter.name) or (parameter.name,)
        if table.find('input', symbol.function.name, parameter.name) is not None:
            parameter = dataclasses.replace(parameter, direction='in')
        arguments.append(Argument(name[0], parameter, ctype, is_choice, section))
    return arguments


def _same_in_fortran(one, other):
    """Whether compilers cannot tell two forms apart: the kinds of addresses and counts are equal."""
    def shape(procedure):
        return [KINDS.get(argument.ctype, argument.ctype) and
                ('wide' if argument.ctype in KINDS else argument.ctype)
                for argument in procedure.arguments]
    return shape(one) == shape(other)


def procedures(spec, table):
    """Every procedure of the bindings, in the order of the tables."""
    plain = {}
    for symbol in prototypes.symbols(spec):
        function = symbol.function
        if table.matches('omit', function.name):
            continue
        is_large = symbol.is_large or symbol.name.endswith('_c')
        base = symbol.name[:-2] if is_large else symbol.name
        apart = is_large and table.matches('apart', base)
        hand = table.find('by_hand', base)
        procedure = Procedure(
            function, symbol.name, symbol.name if apart else base, is_large,
            _arguments(spec, table, symbol), hand is not None, bool(hand and 'f08' in hand),
            not table.matches('no_f08', function.name), not is_large)
        if not is_large:
            plain[base] = procedure
        elif not apart and _same_in_fortran(plain[base], procedure):
            continue
        yield procedure
