#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tests/sixth.py [--cuda]: follows docs/adding-an-element.md literally in a copy of the tree: extracts
its files and list lines, builds, runs the cases, the contract and the element of the new algorithm, and
checks that nothing else was touched, also not by the build. Without the contract of the algorithm the tests
do not link. --cuda: with the CUDA engine compiled too (nvcc)."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALLOWED = re.compile(r'cuda/bright/|tests/library/bright/|gst/gstcudabright\.[ch]$|'
                     r'gst/gstcudaannotate_bright\.c$|docs/elements/cudabright\.md$')
LISTS = {'cuda/algorithms.def', 'gst/elements.def', 'gst/layers.def'}


def run(*command, **kwargs):
    print('+', ' '.join(command), flush=True)
    return subprocess.run(command, check=True, **kwargs)


def output(*command, **kwargs):
    return run(*command, stdout=subprocess.PIPE, text=True, **kwargs).stdout


def copy_tree(to):
    """The files git tracks, as they are in the working tree."""
    names = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z'], check=True,
                           stdout=subprocess.PIPE).stdout
    present = b'\0'.join(n for n in names.split(b'\0')
                         if n and os.path.exists(os.path.join(ROOT.encode(), n)))
    archive = subprocess.run(['tar', '-C', ROOT, '--null', '-T', '-', '-cf', '-'], input=present,
                             check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(['tar', '-C', to, '-xf', '-'], input=archive, check=True)
    for command in (['init', '-q'], ['add', '-A'],
                    ['-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '-qm', 'tree']):
        run('git', '-C', to, *command)


def follow(page, tree):
    """Writes what the page says; returns the number of files and of lines."""
    files = lines = 0
    for kind, path, text in re.findall(
            r'<!-- (file|line): (\S+) -->\n```\w*\n(.*?)```\n', page, re.S):
        full = os.path.join(tree, path)
        if kind == 'line':
            assert path in LISTS and text.count('\n') == 1, path
            with open(full, 'a') as f:
                f.write(text)
            lines += 1
            continue
        assert not os.path.exists(full), path + ' exists already'
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w') as f:
            f.write(text)
        files += 1
    return files, lines


def check_touched(tree):
    run('git', '-C', tree, 'add', '-A')
    changed = output('git', '-C', tree, 'diff', '--cached', '--numstat').splitlines()
    touched = 0
    for row in changed:
        added, removed, path = row.split('\t')
        assert removed == '0', row
        if path in LISTS:
            assert added == '1', row
            touched += 1
        else:
            assert ALLOWED.match(path), 'touched: ' + path
    assert touched <= 3, changed
    print('touched: %d new files, one line in each of %d lists' % (len(changed) - touched, touched))


def check_element(tree, build):
    """The element attaches its annotation, and cudaannotate draws it."""
    env = dict(os.environ, GST_PLUGIN_PATH=os.path.join(build, 'gst'),
               GST_REGISTRY=os.path.join(build, 'registry.bin'))
    text = output('gst-inspect-1.0', 'cudabright', env=env)
    assert 'Minimum gray level of a bright pixel' in text and 'Default: 200' in text, text
    sums = {}
    for name, chain in (('plain', 'identity'), ('without', 'cudaannotate show=bright'),
                        ('drawn', 'cudabright threshold=1 ! cudaannotate show=bright')):
        raw = os.path.join(build, name + '.raw')
        run('gst-launch-1.0', '-q', *(
            'videotestsrc num-buffers=2 pattern=ball ! video/x-raw,format=BGRx,width=160,height=120 ! '
            '%s ! filesink location=%s' % (chain, raw)).split(), env=env)
        with open(raw, 'rb') as f:
            sums[name] = f.read()
    assert len(sums['plain']) == len(sums['drawn']) > 0
    assert sums['without'] == sums['plain'], 'drawn without an annotation'
    different = sum(a != b for a, b in zip(sums['plain'], sums['drawn']))
    assert different > 100, 'cudaannotate drew nothing'
    print('cudaannotate changed %d bytes' % different)


def check_page(tree, build):
    """The property table of the new page is made; no other page changes. Header and table agree."""
    env = dict(os.environ, GST_PLUGIN_PATH=os.path.join(build, 'gst'),
               GST_REGISTRY=os.path.join(build, 'registry.bin'))
    tests = os.path.join(tree, 'tests')
    run(sys.executable, '-B', os.path.join(tests, 'properties.py'), '--write', env=env)
    changed = output('git', '-C', tree, 'diff', '--name-only').split()
    assert changed == ['docs/elements/cudabright.md'], changed
    with open(os.path.join(tree, changed[0])) as f:
        assert '| `threshold` | int | 0 to 255 | 200 |' in f.read()
    print(output(sys.executable, '-B', '-c', 'import headers_check, sys;'
                 'rows = headers_check.read_rows(sys.argv[1]);'
                 'assert any(row.algorithm == "bright" for row in rows);'
                 'assert headers_check.differences(rows) == [];'
                 'print("%d parameters in headers" % len(rows))',
                 os.path.join(build, 'tests/params_list'), env=dict(env, PYTHONPATH=tests)))


def check_contract_required(tree, build):
    """Forgetting the contract is an error of the linker that names it."""
    path = os.path.join(tree, 'tests/library/bright/bright_contract.c')
    with open(path) as f:
        text = f.read()
    with open(path, 'w') as f:
        f.write(text.replace('rv_bright_contract', 'forgotten'))
    linked = subprocess.run(['ninja', '-C', build, 'tests/contract'], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    with open(path, 'w') as f:
        f.write(text)
    assert linked.returncode != 0 and 'undefined reference to `rv_bright_contract\'' in linked.stdout, linked.stdout
    print('without rv_bright_contract the contract test does not link')


def check_untouched(tree):
    """Nothing but the page's table was written since the files of the page were."""
    changed = output('git', '-C', tree, 'status', '--porcelain').split('\n')
    left = [row for row in changed if row and row[:2] not in ('A ', 'M ')]
    assert left == ['AM docs/elements/cudabright.md'], left


def main():
    cuda = '--cuda' in sys.argv[1:]
    with open(os.path.join(ROOT, 'docs/adding-an-element.md')) as f:
        page = f.read()
    with tempfile.TemporaryDirectory(prefix='sixth-') as tree:
        copy_tree(tree)
        files, lines = follow(page, tree)
        assert files >= 10 and lines == 3, (files, lines)
        check_touched(tree)
        build = os.path.join(tree, 'build')
        options = ['-Dcuda=enabled', '-Dcuda-arch=ptx'] if cuda else ['-Dcuda=disabled']
        if not shutil.which('ccache'):  # else flags are those of tests/run.sh's build without CUDA
            options.append('-Doptimization=0')
        run('meson', 'setup', build, tree, '-Dexamples=disabled', '-Dintrospection=disabled',
            '-Dwerror=true', *options, stdout=subprocess.DEVNULL)
        run('ninja', '-C', build, 'tests/rvcheck', 'tests/contract', 'tests/params_list', 'gst/libgstroadvision.so',
            stdout=subprocess.DEVNULL)
        cases = output(os.path.join(build, 'tests/rvcheck'), '--engine', 'cpu', '--only', 'bright')
        print(cases)
        assert re.search(r'bright: [1-9]\d* checks, 0 failed', cases), cases
        contract = output(os.path.join(build, 'tests/contract'))
        assert re.search(r'contract/bright/cpu: [1-9]\d* checks, 0 failed', contract), contract
        check_element(tree, build)
        check_page(tree, build)
        check_contract_required(tree, build)
        check_untouched(tree)
    print('the sixth algorithm works')


if __name__ == '__main__':
    main()
