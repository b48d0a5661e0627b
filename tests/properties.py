#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The property tables of docs/elements: made from the properties of the elements, which come from the
tables of parameters.

    tests/properties.py            compares the pages with the elements (exit status 1: they differ)
    tests/properties.py --write    rewrites the tables (ninja -C build docs-properties)

A page holds its table between the lines <!-- properties --> and <!-- /properties -->. Its text is not
edited by hand: change the table of parameters, then run the second command."""
import os
import re
import sys

import gi

gi.require_version('Gst', '1.0')
from gi.repository import GObject, Gst  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
PAGES = 'docs/elements'
COMMON = 'GstRvTransform'  # the base class: its properties are in docs/elements/README.md
BEGIN, END = '<!-- properties -->\n', '<!-- /properties -->\n'
PLAYING, CONTROLLABLE = 1 << 12, 1 << 9  # GST_PARAM_MUTABLE_PLAYING, GST_PARAM_CONTROLLABLE
NAMES = ('Zsta',)
ENDLESS = 2**31 - 1  # of int; uint32 seeds end above it
WORDED = r'-?[\d.]+(, -?[\d.]+)* or -?[\d.]+|(above )?-?[\d.e+]+ to (below )?-?[\d.e+]+( in steps of [\d.]+)?'


def number(value):
    return '%.15g' % value if isinstance(value, float) else str(value)


def split_blurb(spec):
    """Sentence, unit, range in words and notes: "Size of the filter (px); 0, 3 or 5; 0 = off"."""
    parts, unit, words = spec.blurb.split('; '), '', ''
    for at, part in enumerate(parts):
        found = re.fullmatch(r'(.*) \(([^()]*)\)', part)
        if found and not unit and spec.value_type.fundamental in NUMBERS:
            parts[at], unit = found.groups()
        elif at > 0 and not words and re.fullmatch(WORDED, part):
            words = part
    return '; '.join(part for part in parts if part != words), unit, words


NUMBERS = {GObject.TYPE_INT, GObject.TYPE_UINT, GObject.TYPE_INT64, GObject.TYPE_UINT64,
           GObject.TYPE_DOUBLE}
TYPES = {GObject.TYPE_INT: 'int', GObject.TYPE_UINT: 'unsigned', GObject.TYPE_INT64: 'int64',
         GObject.TYPE_UINT64: 'uint64', GObject.TYPE_DOUBLE: 'double', GObject.TYPE_BOOLEAN: 'bool',
         GObject.TYPE_ENUM: 'enum', GObject.TYPE_FLAGS: 'flags', GObject.TYPE_STRING: 'string',
         GObject.TYPE_BOXED: 'structure'}


def lowered(text):
    """Descriptions of values begin with a small letter, except for names."""
    return text[0].lower() + text[1:] if text[1:2].islower() and text[:4] not in NAMES else text


def default(spec):
    """Of an enum or flags property; PyGObject 3.50 has a number in default_value."""
    return spec.get_default_value() if type(spec.default_value) is int else spec.default_value


def is_all(spec):
    """Flags that are all set by default: new layers of cudaannotate, for example, add to them, and the
    page explains them in its own words."""
    return spec.value_type.fundamental == GObject.TYPE_FLAGS and \
        len(default(spec).value_nicks) == len(type(default(spec)).__flags_values__)


def listed(spec):
    """(nick, description) of the values of an enum or flags property."""
    if is_all(spec):
        return []
    if spec.value_type.fundamental == GObject.TYPE_ENUM:
        return [(v.value_nick, lowered(v.value_name)) for v in type(default(spec)).__enum_values__.values()]
    if spec.value_type.fundamental == GObject.TYPE_FLAGS:
        return [(v.first_value_nick, lowered(v.first_value_name))
                for v in type(default(spec)).__flags_values__.values()]
    return []


def range_of(spec, words):
    kind = spec.value_type.fundamental
    if words:
        return words
    if kind in NUMBERS:
        low, high = number(spec.minimum), number(spec.maximum)
        if spec.maximum < ENDLESS or kind == GObject.TYPE_UINT and spec.maximum == 2**32 - 1:
            return '%s to %s' % (low, high)
        return low + ' or more' if spec.minimum > -ENDLESS else ''
    return ', '.join('`%s`' % nick for nick, _ in listed(spec))


def default_of(spec):
    kind = spec.value_type.fundamental
    if kind == GObject.TYPE_BOOLEAN:
        return str(spec.default_value).lower()
    if kind in NUMBERS:
        return number(spec.default_value)
    if kind == GObject.TYPE_ENUM:
        return '`%s`' % default(spec).value_nick
    if kind == GObject.TYPE_FLAGS:
        return 'all' if is_all(spec) else '`%s`' % '+'.join(default(spec).value_nicks)
    return '`%s`' % spec.default_value if kind == GObject.TYPE_STRING and spec.default_value else ''


def row_of(spec):
    meaning, unit, words = split_blurb(spec)
    values = ['`%s`: %s' % value for value in listed(spec)]
    meaning += '. ' + '; '.join(values) if values else ''
    kind = TYPES[spec.value_type.fundamental]
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        kind += ', read-only'
    cells = ['`%s`' % spec.name, kind, range_of(spec, words), default_of(spec), unit, meaning]
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |\n'


def names(specs):
    return ', '.join('`%s`' % spec.name for spec in specs)


def states(specs):
    """What can be set when, from the flags of the properties."""
    writable = [spec for spec in specs if spec.flags & GObject.ParamFlags.WRITABLE]
    late = [spec for spec in writable if spec.flags & PLAYING]
    early = [spec for spec in writable if not spec.flags & PLAYING]
    animated = [spec for spec in writable if spec.flags & CONTROLLABLE]
    lines = []
    if late:
        lines.append('%s can be set in the PLAYING state.' % ('All' if not early else names(late)))
    if early:
        lines.append('%s can be set only in the NULL and READY states.' % (
            'All' if not late else names(early)))
    if animated:
        lines.append('Controllable (`GstController`): %s.' % names(animated))
    return '\n' + '\n'.join(lines) + '\n'


def table(specs):
    return ('\n| property | type | range | default | unit | meaning |\n'
            '| --- | --- | --- | --- | --- | --- |\n' + ''.join(map(row_of, specs)) + states(specs) + '\n')


def elements():
    return sorted(feature.get_name() for feature in
                  Gst.Registry.get().get_feature_list_by_plugin('roadvision'))


def own_properties(name, owner=None):
    element = Gst.ElementFactory.make(name, None)
    owner = owner or element.__gtype__.name
    specs = [spec for spec in element.list_properties() if spec.owner_type.name == owner]
    return sorted(specs, key=lambda spec: not spec.flags & GObject.ParamFlags.WRITABLE)


def tables():
    """Path of a page -> its table."""
    made = {'%s/%s.md' % (PAGES, name): table(own_properties(name)) for name in elements()}
    made[PAGES + '/README.md'] = table(own_properties('cudasgm', COMMON))
    return made


def with_table(page, made):
    """The page with that table; None when it has no pair of markers."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        return None
    return page[:page.index(BEGIN) + len(BEGIN)] + made + page[page.index(END):]


def differing_pages(write=False):
    """One line per page whose table is not that of its element. `write`: corrects it instead."""
    wrong = []
    for path, made in tables().items():
        with open(os.path.join(ROOT, path)) as file:
            page = file.read()
        new = with_table(page, made)
        if new is None:
            wrong.append('%s: the lines %s and %s are missing' % (path, BEGIN.strip(), END.strip()))
        elif new != page and write:
            with open(os.path.join(ROOT, path), 'w') as file:
                file.write(new)
        elif new != page:
            wrong.append('%s: not the properties of the element; run ninja docs-properties' % path)
    return wrong


def main():
    wrong = differing_pages(write='--write' in sys.argv[1:])
    print('\n'.join(wrong), end='\n' if wrong else '')
    return 1 if wrong else 0


if __name__ == '__main__':
    Gst.init(None)
    sys.exit(main())
