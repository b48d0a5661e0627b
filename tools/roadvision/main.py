# SPDX-License-Identifier: MIT
"""The command roadvision."""
import argparse
import errno
import importlib
import sys

import roadvision
from roadvision.common import Misuse, Problem

# Name -> module with arguments(parser) and run(options); what it does, in one line.
COMMANDS = {
    'see': ('roadvision.see', 'show or save depth, obstacles and more of a camera, a file or a test scene'),
    'record': ('roadvision.record', 'record a stereo pair, its camera and its results'),
    'replay': ('roadvision.replay', 'play a recording through elements of your choice'),
    'calibrate': ('roadvision.calibrate', 'calibrate a stereo camera from images of a board'),
    'batch': ('roadvision.batch.command', 'process folders, data sets and recordings, on one machine or many'),
    'check': ('roadvision.check', 'find what is missing on this machine, and how to get it'),
    'bench': ('roadvision.bench', 'measure this machine and compare it with recorded ones'),
}


def make_parser(name):
    """The parser of a command, and its module."""
    module = importlib.import_module(COMMANDS[name][0])
    head, _, rest = module.__doc__.partition('\n\n')
    parser = argparse.ArgumentParser(prog='roadvision ' + name, description=head, epilog=rest, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    module.arguments(parser)
    return parser, module


def usage():
    lines = ['usage: roadvision COMMAND [OPTION...]', '', 'Stereo vision for road vehicles: depth, stixels, road, '
             'obstacles and lanes from two cameras.', '']
    lines += ['  %-10s %s' % (name, item[1]) for name, item in COMMANDS.items()]
    lines += ['', 'roadvision COMMAND --help lists the options. see, record, replay, batch and bench have --print: the',
              'gst-launch-1.0 line instead of its run.']
    return '\n'.join(lines)


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    name = arguments[0] if arguments else ''
    if name in ('', '-h', '--help', 'help'):
        print(usage(), file=sys.stdout if name else sys.stderr)
        return 0 if name else 2
    if name in ('-V', '--version'):
        print('roadvision %s' % roadvision.__version__)
        return 0
    if name not in COMMANDS:
        print('roadvision: there is no command %s; there are: %s' % (name, ', '.join(COMMANDS)), file=sys.stderr)
        return 2
    try:
        parser, module = make_parser(name)
        return module.run(parser.parse_args(arguments[1:]))
    except Misuse as problem:
        print('roadvision %s: %s; --help lists the options' % (name, problem), file=sys.stderr)
        return 2
    except Problem as problem:
        print('roadvision %s: %s' % (name, problem), file=sys.stderr)
        return 1
    except OSError as error:
        text = '%s: %s' % (error.filename, error.strerror) if error.filename else error.strerror or str(error)
        remedy = '; make space, then the same command continues' if error.errno == errno.ENOSPC and name == 'batch' else ''
        print('roadvision %s: %s%s' % (name, text, remedy), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('roadvision %s: stopped%s' % (name, '; the same command continues' if name == 'batch' else ''), file=sys.stderr)
        return 130


if __name__ == '__main__':
    sys.exit(main())
