# SPDX-License-Identifier: MIT
"""What the Python tests share: cases with a folder of their own, and pipelines that run to their end."""
import json
import os
import tempfile
import time
import unittest


class FolderCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def lines(self, name):
        """The objects of a file of JSON lines."""
        with open(self.path(name)) as file:
            return [json.loads(line) for line in file]

    def wait_for_size(self, name, size, seconds=90):
        """Waits until another process has written so many bytes."""
        deadline = time.monotonic() + seconds
        while not os.path.exists(self.path(name)) or os.path.getsize(self.path(name)) < size:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)


def run_to_end(pipeline, seconds):
    """Plays a pipeline and stops it. Returns None at the end of the stream, else what went wrong: the
    error message, or the text that there was no end."""
    from gi.repository import Gst
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        seconds * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None:
        return 'no end in %d s' % seconds
    return message if message.type == Gst.MessageType.ERROR else None
