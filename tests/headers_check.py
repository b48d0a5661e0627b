# SPDX-License-Identifier: MIT
"""Compares the comments of the configs in the public headers with the tables of parameters.

The comment of a field contains "RANGE; DEFAULT", both as the table states them: "px, 32 to 512 in steps
of 32; 128", "0 or 1; 1", "1 to RV_MAX_SIDE; no default"; "1..9" is "1 to 9". Of an enum it contains the constant that is the
default. Fields that several rows share (arrays, structs) contain the range and each default."""
import collections
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
Row = collections.namedtuple('Row', 'algorithm name type range default flags')
REQUIRED, COMMON = 1, 2
ANY_INT = '-2147483648 or more'
SHARED = {  # rows whose field is not named like them
    'stixels': ((r'sigma-(ground|object|sky)$', 'sigma'), (r'\w+-on-\w+$', 'transition'),
                (r'\w+-at-bottom$', 'at_bottom'), (r'camera-\w+$', 'camera'),
                (r'((gravity|gap)-(minus|plus)|ordering)-(alpha|beta)$', r'\1')),
    'road': ((r'camera-\w+$', 'camera'),),
}
NUMBER = r'(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w])'


def read_rows(program):
    with os.popen(program) as lines:
        return [Row(*line.rstrip('\n').split('\t')) for line in lines]


def plain(text, macros):
    """One line, macros as their values, numbers in one form."""
    text = re.sub(r'\s*\n\s*\*?\s*', ' ', text)
    text = re.sub(r'(?<=\w)\.\.(?=[-\w])', ' to ', text)
    text = re.sub(r'\bRV_\w+\b', lambda m: macros.get(m.group(), m.group()), text)
    return re.sub(NUMBER, lambda m: '%.15g' % float(m.group()), text)


def macros_of(*texts):
    found = {}
    for text in texts:
        for name, value in re.findall(r'^#define (RV_\w+) (\S+)', text, re.M):
            if re.fullmatch(NUMBER, value):
                found[name] = value
    return found


def fields_of(header, struct):
    """Name of a member -> its comment (that above where none follows), and the comment above."""
    body = re.search(r'typedef struct %s \{(.*?)\n\} %s;' % (struct, struct), header, re.S).group(1)
    fields, above = {}, ''
    for comment, members, after in re.findall(
            r'/\*(.*?)\*/|([\w][\w ,*\[\]]*);[ ]*(?:/\*(.*?)\*/)?', body, re.S):
        if comment:
            above = comment
            continue
        for name in re.findall(r'(\w+)(?:\[\w+\])*(?=,|$)', members.strip()):
            fields[name] = after or above, above
    return fields


def field_name(row):
    for pattern, field in SHARED.get(row.algorithm, ()):
        if re.match(pattern, row.name):
            return re.match(pattern, row.name).expand(field).replace('-', '_'), True
    return row.name.replace('-', '_'), False


def states(row, comment, shared):
    """True if the comment states range and default of the row."""
    if row.type == 'enum':
        constant = re.sub(r'\W', '_', row.default).upper()
        return bool(re.search(r'\bRV_(\w+_)?%s\b' % constant, comment))
    if int(row.flags) & COMMON or row.range.startswith(ANY_INT):
        return comment.rstrip().endswith('; ' + row.default)
    limits = '0 or 1' if row.type == 'bool' else row.range
    default = 'no default' if int(row.flags) & REQUIRED else row.default
    if shared:
        return limits in comment and re.search(r'(?<![\d.])%s(?![\d.]\d)' % re.escape(default), comment)
    return bool(re.search(r'(^|[ ,(])%s; %s(?![\w-]|\.\d)' % (re.escape(limits), re.escape(default)), comment))


def differences(rows):
    """One line per field whose comment does not state its row."""
    with open(os.path.join(ROOT, 'cuda/rv.h')) as file:
        common = file.read()
    wrong, headers = [], {}
    for row in rows:
        if row.algorithm not in headers:
            with open(os.path.join(ROOT, 'cuda/%s/%s.h' % (row.algorithm, row.algorithm))) as file:
                text = file.read()
            struct = 'Rv%sConfig' % row.algorithm.capitalize()
            headers[row.algorithm] = fields_of(text, struct), macros_of(common, text)
        fields, macros = headers[row.algorithm]
        name, shared = field_name(row)
        comment = fields.get(name, ('', ''))
        comment = ' '.join(comment) if shared else comment[0]
        if not states(row, plain(comment, macros), shared):
            wrong.append('%s.h, %s: the comment must contain "%s; %s"' % (
                row.algorithm, name, row.range,
                'no default' if int(row.flags) & REQUIRED else row.default))
    return wrong
