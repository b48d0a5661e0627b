#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Holds the documents against the tree and the plugin: links lead somewhere, the README lists the
elements that exist and no others, every property is on its element's page or in the README, and the
defaults that the pages state are the elements'."""
import glob
import os
import re
import unittest

import gi

gi.require_version('Gst', '1.0')
from gi.repository import GObject, Gst  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
INHERITED = {'name', 'parent', 'qos', 'blocksize', 'num-buffers', 'typefind', 'do-timestamp',
             'automatic-eos', 'latency', 'min-upstream-latency', 'start-time',
             'start-time-selection', 'emit-signals'}


def text_of(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def is_value(spec, value, stated):
    if isinstance(value, bool):
        return stated == str(value).lower()
    if spec.value_type.is_a(GObject.TYPE_FLAGS):
        return set(stated.split('+')) - {'–'} == set(value.value_nicks)
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return stated == value.value_nick
    return float(stated) == value


class Documents(unittest.TestCase):
    def test_links(self):
        pages = [page for folder in ('', 'docs', 'docs/elements', 'docs/studies', 'docs/notes', 'docs/gallery',
                                          'examples')
                 for page in glob.glob(os.path.join(ROOT, folder, '*.md'))]
        self.assertGreater(len(pages), 8)
        dead = []
        for page in pages:
            for link in re.findall(r'\]\(([^)#\s]+)', text_of(page)):
                if '://' not in link and not os.path.exists(
                        os.path.join(os.path.dirname(page), link)):
                    dead.append('%s: %s' % (os.path.relpath(page, ROOT), link))
        self.assertEqual(dead, [])

    def test_elements(self):
        plugin = Gst.Registry.get().find_plugin('roadvision')
        self.assertIsNotNone(plugin, 'the plugin was not found')
        real = {feature.get_name() for feature in
                Gst.Registry.get().get_feature_list_by_plugin('roadvision')}
        table = text_of('README.md').split('## Elements')[1].split('##')[0]
        self.assertEqual(set(re.findall(r'^\| `(\w+)`', table, re.M)), real)

    def test_properties(self):
        missing = []
        common = text_of('README.md')
        for feature in Gst.Registry.get().get_feature_list_by_plugin('roadvision'):
            name = feature.get_name()
            page = text_of('docs/elements/%s.md' % name) + common
            for spec in Gst.ElementFactory.make(name, None).list_properties():
                if spec.name not in INHERITED and not re.search(
                        r'`%s[`=]' % spec.name, page):
                    missing.append('%s: %s' % (name, spec.name))
        self.assertEqual(missing, [])

    def test_defaults(self):
        """The second column of each page's table of properties; that of cudasgm has none."""
        wrong, seen = [], 0
        for feature in Gst.Registry.get().get_feature_list_by_plugin('roadvision'):
            name = feature.get_name()
            element = Gst.ElementFactory.make(name, None)
            table = re.search(r'^\| property \| [^|]*default \|[^\n]*\n((?:\|.*\n)+)',
                              text_of('docs/elements/%s.md' % name), re.M)
            for row in table.group(1).splitlines()[1:] if table else []:
                cells = row.split('|')
                properties = re.findall(r'`([\w-]+)`', cells[1])
                values = cells[2].split(';')[-1].replace('`', '').split(',')
                for at, property_name in enumerate(properties):
                    spec = element.find_property(property_name)
                    if not spec or spec.name in INHERITED or \
                            spec.value_type.is_a(GObject.TYPE_STRING) or \
                            spec.value_type.is_a(GObject.TYPE_BOXED):
                        continue
                    seen += 1
                    stated = values[at].strip() if len(values) == len(properties) else None
                    if not stated or not is_value(spec, element.get_property(spec.name), stated):
                        wrong.append('%s: %s is not %s' % (name, spec.name, cells[2].strip()))
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 80)

    def test_recommended_elements(self):
        real = {feature.get_name() for feature in
                Gst.Registry.get().get_feature_list_by_plugin('roadvision')}
        stock = {'cudaupload', 'cudadownload', 'cudaconvert', 'cudart'}
        files = ['README.md'] + [os.path.relpath(path, ROOT) for pattern in (
            'gst/*.c', 'gst/common/*.c', 'docs/elements/*.md')
            for path in glob.glob(os.path.join(ROOT, pattern))]
        unknown = ['%s: %s' % (file, word) for file in files
                   for word in re.findall(r'\bcuda[a-z]+\b', text_of(file))
                   if word not in real | stock]
        self.assertEqual(unknown, [])

    def test_vote_example(self):
        code = re.findall(r'```c\n(.*?)```', text_of('docs/studies/vote.md'), re.S)
        self.assertGreaterEqual(len(code), 2)
        rules = text_of('cuda/vote/vote_rules.h')  # compiled into both engines, held by rvcheck
        for block in code:
            self.assertIn(block.strip(), rules)

    def test_pictures_are_small(self):
        for path in glob.glob(os.path.join(ROOT, 'docs/gallery/*.png')):
            self.assertLess(os.path.getsize(path), 300000, path)


if __name__ == '__main__':
    Gst.init(None)
    unittest.main()
