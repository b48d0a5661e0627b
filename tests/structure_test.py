#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rules of docs/architecture.md that can be read from the sources: what includes what, which files
the build knows, where types are, and how long functions and files are."""
import fnmatch
import os
import re
import subprocess
import unittest

import source_numbers

ROOT = source_numbers.ROOT
SOURCES = ('.c', '.h', '.cu', '.cuh')
# Device interfaces that one algorithm offers to others. docs/architecture.md names them.
SHARED = {'vote/vote_kernels.cuh': {'hough', 'lanes'}}
SUFFIXES = re.compile(
    r'_(cases|reference|contract|bench|baselines|inputs|tool|test|probe(_cuda)?)$')


def sources():
    """Path -> text of all source files of the tree."""
    found = {}
    for top in ('cuda', 'gst', 'tests', 'examples', 'tools'):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            if 'corpus' in folder or '__pycache__' in folder:
                continue
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(SOURCES + ('.py', '.sh', '.def', '.build', '.in')):
                    with open(path) as file:
                        found[os.path.relpath(path, ROOT)] = file.read()
    return found


FILES = sources()
LIBRARY = {path: text for path, text in FILES.items() if path.startswith('cuda/')}


def includes(text):
    return re.findall(r'^# *include "([^"]+)"', text, re.M)


def installed():
    """The public headers, as programs include them."""
    found = set()
    for path, text in LIBRARY.items():
        for files in re.findall(r'rv_headers \+?= files\(([^)]*)\)', text) if path.endswith('.build') else ():
            folder = os.path.dirname(path)[len('cuda/'):]
            found |= {os.path.join(folder, name) for name in re.findall(r"'([^']+)'", files)}
    return found


class Structure(unittest.TestCase):
    def test_includes_of_algorithms(self):
        """An algorithm includes another's public headers only; the library nothing above it."""
        public, wrong = installed(), []
        self.assertIn('sgm/sgm.h', public)
        for path, text in LIBRARY.items():
            own = path.split('/')[1] if path.count('/') == 2 else ''
            for header in includes(text):
                folder = header.split('/')[0] if '/' in header else own
                known = 'cuda/' + header in LIBRARY or header in ('rv_config.h',)
                allowed = folder == own or header in public or own in SHARED.get(header, ())
                if not known or not allowed:
                    wrong.append('%s includes %s' % (path, header))
            if re.search(r'^# *include <(gst|glib|gobject)', text, re.M):
                wrong.append('%s includes GLib or GStreamer' % path)
        self.assertEqual(wrong, [])

    def test_elements_use_public_headers(self):
        public = installed()
        wrong = ['%s includes %s' % (path, header) for path, text in FILES.items()
                 if path.startswith('gst/') for header in includes(text)
                 if 'cuda/' + header in LIBRARY and header not in public]
        self.assertEqual(wrong, [])

    def test_everything_ships(self):
        """Each source under cuda/ is in the list of its folder, each internal header is included."""
        used = {header for text in LIBRARY.values() for header in includes(text)} | installed()
        idle = []
        for path in LIBRARY:
            folder, name = os.path.split(path)
            if path.endswith(('.c', '.cu')) and "'%s'" % name not in LIBRARY[folder + '/meson.build']:
                idle.append(path)
            if path.endswith(('.h', '.cuh')) and path[len('cuda/'):] not in used:
                idle.append(path)
        self.assertEqual(idle, [])

    def test_width_of_headers(self):
        """At most 100 columns; clang-format leaves comments as they are."""
        wrong = ['%s:%d' % (path, number) for path, text in FILES.items()
                 if path.startswith(('cuda/', 'gst/')) and path.endswith(('.h', '.cuh'))
                 for number, line in enumerate(text.split('\n'), 1) if len(line) > 100]
        self.assertEqual(wrong, [])

    def test_layout_of_public_headers(self):
        """Readers see them as they are: comments of fields below each other."""
        wrong = []
        for path in ['cuda/' + header for header in installed()] + ['gst/annotations/roadvision-gst.h']:
            column = None  # of the comment next to a field that the previous line left open
            for number, line in enumerate(FILES[path].split('\n'), 1):
                if column is not None and line.find('*') != column + 1:
                    wrong.append('%s:%d' % (path, number))
                opened = line.rfind('/*')
                if opened > 0 and line[:opened].strip() and '*/' not in line[opened:]:
                    column = opened
                elif '*/' in line:
                    column = None
        self.assertEqual(wrong, [])

    def test_names_of_tests(self):
        """tests/library/x has the suffixes that docs/testing.md explains."""
        wrong = [path for path in FILES if path.startswith('tests/library/') and path.count('/') == 3 and
                 not path.endswith('.build') and
                 not SUFFIXES.search(os.path.splitext(os.path.basename(path))[0])]
        self.assertEqual(wrong, [])

    def test_local_types(self):
        """Types of a .cu file are in its anonymous namespace: others may have the same name."""
        wrong = []
        for path, text in LIBRARY.items():
            if not path.endswith('.cu'):
                continue
            outside = re.sub(r'^namespace \{.*?^\} // namespace', '', text, flags=re.M | re.S)
            wrong += ['%s: %s' % (path, name) for name in re.findall(
                r'^(?:template <[^\n]*> *\n?)?(?:struct|union|class|enum) (\w+)[^;]*\{', outside, re.M)]
        self.assertEqual(wrong, [])

    def test_no_globals(self):
        """No variables that keep state between calls in the library."""
        wrong = []
        for path, text in LIBRARY.items():
            if not path.endswith(('.c', '.cu')):
                continue
            for line in re.findall(r'^(?:static )?(?!const\b|constexpr\b)\w[\w ]*\*?\b\w+(?:\[\w*\])?(?: = [^(\n]*)?;$',
                                   text, re.M):
                if not re.match(r'(typedef|extern|struct|union|enum|return|goto|using|static const|'
                                r'static constexpr|static __constant__|RV_)', line):
                    wrong.append('%s: %s' % (path, line))
        self.assertEqual(wrong, [])

    def test_launches(self):
        """rv_launch.cuh launches all kernels: it reports what fails and joins chains of kernels."""
        wrong = [path for path, text in LIBRARY.items() if path != 'cuda/rv_launch.cuh'
                 and re.search(r'<<<|cudaLaunch(Cooperative)?Kernel', text)]
        self.assertEqual(wrong, [])

    def test_license(self):
        """Every file has a license line, or REUSE.toml states its license."""
        with open(os.path.join(ROOT, 'REUSE.toml')) as file:
            listed = re.findall(r'"([^"]+)"', re.search(r'^path = \[(.*?)\]', file.read(), re.M | re.S).group(1))
        tracked = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 text=True, check=False).stdout.split('\0')[:-1]
        wrong = []
        for path in sorted(set(FILES) | {name for name in tracked if os.path.isfile(os.path.join(ROOT, name))}):
            if path == 'LICENSE' or any(fnmatch.fnmatch(path, pattern) for pattern in listed):
                continue
            with open(os.path.join(ROOT, path), errors='replace') as file:
                if 'SPDX-License-Identifier: MIT' not in '\n'.join(file.read().split('\n')[:3]):
                    wrong.append(path)
        self.assertEqual(wrong, [])

    def test_no_weak_symbols(self):
        """What the lists of algorithms, elements and layers name has to exist: it is not optional."""
        wrong = [path for path, text in FILES.items() if path.endswith(SOURCES)
                 and re.search(r'__attribute__ *\(\([^)]*\bweak\b|#pragma weak', text)]
        self.assertEqual(wrong, [])

    def test_lengths(self):
        """C functions have at most 60 lines, CUDA functions 100, files 600."""
        wrong, counted = [], 0
        for path, text in FILES.items():
            if text.count('\n') > 600:
                wrong.append('%s: %d lines' % (path, text.count('\n')))
            for function in source_numbers.functions(text) if path.endswith(SOURCES) else ():
                counted += 1
                if function.length > (100 if function.cuda else 60):
                    wrong.append('%s:%d: %s: %d lines' % (
                        path, function.line, function.name, function.length))
        self.assertGreater(counted, 3000)
        self.assertEqual(wrong, [])

    def test_ways_of_aggregation(self):
        """Each kernel of SGM that docs/notes/sgm-cuda.md lists has benchmark cases in the report."""
        with open(os.path.join(ROOT, 'docs/notes/sgm-cuda.md')) as file:
            table = file.read().split('## Five kernels that aggregate')[1].split('\n## ')[0]
        with open(os.path.join(ROOT, 'docs/gpu-report.txt')) as file:
            timed = set(re.findall(r'^bench sgm/(\S+) cuda', file.read(), re.M))
        rows = [row.split('|') for row in table.split('\n') if row.startswith('| ') and 'sgm_cuda' in row]
        self.assertEqual(len(rows), 5)
        for row in rows:
            files = re.findall(r'`(sgm_cuda\w+\.cu)`', row[1])
            self.assertTrue(files and all('cuda/sgm/' + name in FILES for name in files), row[1])
            cases = set(re.findall(r'`([\w-]+)`', row[4]))
            if 'all but' not in row[4]:
                self.assertTrue(cases and cases <= timed, '%s: %s' % (row[1], cases - timed))


if __name__ == '__main__':
    unittest.main()
