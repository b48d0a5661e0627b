# SPDX-License-Identifier: MIT
"""gst-roadvision in Python: the command roadvision, and annotations of GStreamer buffers as numpy arrays.

    import roadvision
    disparity = roadvision.annotation(buffer, 'RvDisparityMeta')

The names of roadvision.metas are loaded on first use, since parts of the command (help, planning) need
neither GStreamer nor numpy."""
__version__ = '0.2.0'


def __getattr__(name):
    from importlib import import_module, util
    # "from roadvision import common" asks here before it imports the module.
    if name.startswith('__') or util.find_spec('roadvision.' + name):
        raise AttributeError(name)
    module = import_module('roadvision.metas')
    try:
        return getattr(module, name)
    except AttributeError:
        raise AttributeError('module roadvision has no attribute %s' % name) from None
