#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""annotationpublish and a broker on this machine: topics, retained messages and status; a broker that
comes late, goes away and comes back; wrong passwords. Skips (77) without mosquitto, or where this
build has no MQTT.

Run it where GStreamer finds the plugin: meson devenv -w . -C build tests/publish_mqtt_test.py"""
import collections
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import gi
gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

LIVE = ('stereotestsrc is-live=true num-buffers=%d ! video/x-raw,width=128,height=48,framerate=60/1 ! '
        'annotationpublish name=publish broker=127.0.0.1:%d %s ! fakesink')


def find(program):
    return shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Broker:
    """A broker on the loopback, and a client that keeps every message."""

    def __init__(self, folder, port=None, configuration=()):
        self.folder, self.port = folder, port or free_port()
        self.configuration, self.process = configuration, None

    def start(self):
        path = os.path.join(self.folder, 'mosquitto.conf')
        with open(path, 'w') as file:
            file.write('listener %d 127.0.0.1\n' % self.port +
                       ''.join(line + '\n' for line in self.configuration or ['allow_anonymous true']))
        # The daemon gives up root's rights; it must still read its files.
        os.chmod(self.folder, 0o755)
        self.process = subprocess.Popen([find('mosquitto'), '-c', path], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(('127.0.0.1', self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, 'the broker does not start'
                time.sleep(0.05)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def subscribe(self, *options):
        return Subscriber(self, options)


class Subscriber:
    def __init__(self, broker, options):
        self.output = tempfile.NamedTemporaryFile('w')
        self.process = subprocess.Popen(
            [find('mosquitto_sub'), '-h', '127.0.0.1', '-p', str(broker.port), '-q', '1', '-t', '#',
             '-F', '%r %t %p', *options], stdout=self.output, stderr=subprocess.DEVNULL)
        publish = [find('mosquitto_pub'), '-h', '127.0.0.1', '-p', str(broker.port), '-t', 'ready',
                   '-m', 'x']
        deadline = time.monotonic() + 20
        while not self.messages().get('ready'):  # until it is subscribed
            assert time.monotonic() < deadline, 'the subscriber does not start'
            subprocess.run(publish, check=True)
            time.sleep(0.05)

    def messages(self):
        """Topic: list of (retained, payload), so far."""
        found = collections.defaultdict(list)
        with open(self.output.name) as file:  # not the description that the client writes through
            lines = file.read().split('\n')[:-1]
        for line in lines:
            retained, topic, payload = line.split(' ', 2)
            found[topic].append((retained == '1', payload))
        return found

    def wait(self, topic, count):
        deadline = time.monotonic() + 30
        while len(self.messages()[topic]) < count:
            assert time.monotonic() < deadline, 'only %s' % self.messages()[topic]
            time.sleep(0.05)
        return self.messages()

    def stop(self):
        self.process.terminate()
        self.process.wait()
        found = self.messages()
        self.output.close()
        return found


def stat(pipeline, name):
    stats = pipeline.get_by_name('publish').get_property('stats')
    return stats.get_value(name)


def warnings(bus):
    texts = []
    while message := bus.pop_filtered(Gst.MessageType.WARNING):
        texts.append(message.parse_warning()[0].message)
    return texts


class Mqtt(unittest.TestCase):
    def run(self, result=None):
        """Broker, reader and element are three processes: on a busy machine one may come late. Only a
        test that fails three times fails."""
        for _ in range(2):
            trial = unittest.TestResult()
            super().run(trial)
            if trial.wasSuccessful():
                result.startTest(self)
                for _test, reason in trial.skipped:
                    result.addSkip(self, reason)
                if not trial.skipped:
                    result.addSuccess(self)
                result.stopTest(self)
                return result
        return super().run(result)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.broker = Broker(folder.name)
        self.addCleanup(lambda: self.broker.stop())

    def play(self, count, options):
        pipeline = Gst.parse_launch(LIVE % (count, self.broker.port, options))
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        pipeline.set_state(Gst.State.PLAYING)
        return pipeline

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def finish(self, pipeline):
        message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND,
                                                        Gst.MessageType.EOS | Gst.MessageType.ERROR)
        self.assertEqual(message.type, Gst.MessageType.EOS)
        pipeline.set_state(Gst.State.NULL)
        counts = {name: stat(pipeline, name) for name in ('frames', 'published', 'dropped', 'reconnects')}
        return counts

    def test_topics(self):
        for qos in (0, 1):
            self.broker = Broker(self.folder)
            self.broker.start()
            reader = self.broker.subscribe()
            counts = self.finish(self.play(30, 'source=front tags=tags,vehicle=7 qos=%d' % qos))
            self.assertEqual(counts, {'frames': 30, 'published': 30, 'dropped': 0, 'reconnects': 0})
            messages = reader.wait('roadvision/front/status', 2)
            frames = [json.loads(payload) for _r, payload in messages['roadvision/front/frame']]
            self.assertEqual([frame['seq'] for frame in frames], list(range(30)))
            self.assertTrue(all(frame['tags'] == {'vehicle': 7} for frame in frames))
            # A broker that was slow to read the end repeats it as the last will.
            self.assertEqual(list(dict.fromkeys(p for _r, p in messages['roadvision/front/status'])),
                             ['online', 'offline'])
            camera = [json.loads(p) for _r, p in messages['roadvision/front/camera']]
            self.assertEqual(len(camera), 1) # when it changes, not with each frame
            self.assertEqual(camera[0]['width'], 64)
            reader.stop()
            # Who comes later gets what is retained, and no frames.
            late = self.broker.subscribe()
            messages = late.wait('roadvision/front/camera', 1)
            late.stop()
            self.assertEqual(messages['roadvision/front/status'], [(True, 'offline')])
            self.assertTrue(messages['roadvision/front/camera'][0][0])
            self.assertEqual(messages['roadvision/front/frame'], [])
            self.broker.stop()

    def test_split(self):
        self.broker.start()
        reader = self.broker.subscribe()
        self.finish(self.play(5, 'topic=car/1 split=true'))
        messages = reader.wait('car/1/status', 2)
        reader.stop()
        self.assertEqual(set(messages) - {'ready'}, {'car/1/status', 'car/1/camera', 'car/1/truth'})
        for _retained, payload in messages['car/1/truth']:
            self.assertNotIn('camera', json.loads(payload))
        self.assertEqual(len(messages['car/1/truth']), 5)

    def test_late_broker(self):
        """No broker at first: the stream runs, the newest frames wait."""
        pipeline = self.play(200, 'queue-size=5')
        self.wait_for(lambda: stat(pipeline, 'dropped') >= 10)
        self.assertIn('no connection to the broker', ' '.join(warnings(pipeline.get_bus())))
        self.broker.start()
        reader = self.broker.subscribe()
        counts = self.finish(pipeline)
        frames = [json.loads(payload) for _r, payload in reader.stop()['roadvision/camera/frame']]
        self.assertEqual(counts['frames'], 200)
        self.assertGreater(counts['published'], 20)
        self.assertEqual(counts['published'] + counts['dropped'], 200)
        self.assertGreater(frames[-1]['seq'], 190) # the newest; a busy machine may lose the end
        self.assertLessEqual(frames[-1]['dropped'], counts['dropped'])

    def test_lost_broker(self):
        """Killed and started again, with QoS 1: what was accepted arrives, the rest is counted."""
        self.broker.start()
        pipeline = self.play(300, 'qos=1 queue-size=300')
        self.wait_for(lambda: stat(pipeline, 'published') >= 20)
        self.broker.stop()
        self.wait_for(lambda: stat(pipeline, 'waiting'))
        self.assertIn('no connection to the broker', ' '.join(warnings(pipeline.get_bus())))
        before = stat(pipeline, 'frames')
        self.broker.start()
        reader = self.broker.subscribe()
        counts = self.finish(pipeline)
        messages = reader.stop()
        seen = [json.loads(payload)['seq'] for _r, payload in messages['roadvision/camera/frame']]
        self.assertEqual((counts['published'], counts['dropped']), (300, 0))
        self.assertGreaterEqual(counts['reconnects'], 1)
        self.assertGreaterEqual(len(messages['roadvision/camera/camera']), 1) # again
        # The restarted broker has no state: only frames before the subscription are missing.
        self.assertEqual(set(seen), set(range(min(seen), 300)))
        self.assertLess(min(seen), before + 120)

    def test_vanished(self):
        """A process that is killed: the broker publishes its last will."""
        self.broker.start()
        reader = self.broker.subscribe()
        process = subprocess.Popen(['gst-launch-1.0', '-q'] + (LIVE % (
            10000, self.broker.port, '')).split(), stdout=subprocess.DEVNULL)
        reader.wait('roadvision/camera/frame', 5)
        process.kill()
        process.wait()
        messages = reader.wait('roadvision/camera/status', 2)
        reader.stop()
        self.assertEqual([p for _r, p in messages['roadvision/camera/status']], ['online', 'offline'])

    def test_password(self):
        passwords = os.path.join(self.folder, 'passwords')
        subprocess.run([find('mosquitto_passwd'), '-b', '-c', passwords, 'car', 'secret'], check=True,
                       capture_output=True)
        os.chmod(passwords, 0o644)
        self.broker = Broker(self.folder, None, ['allow_anonymous false', 'password_file ' + passwords])
        self.broker.start()
        for text, good in (('car\nsecret\n', True), ('car\nwrong\n', False)):
            path = os.path.join(self.folder, 'credentials')
            with open(path, 'w') as file:
                file.write(text)
            pipeline = self.play(30, 'credentials-location=' + path)
            counts = self.finish(pipeline)
            self.assertEqual(counts['published'], 30 if good else 0)
            self.assertEqual(counts['dropped'], 0 if good else 30)

    def test_settings(self):
        for options, expected in (('topic=a/#', 'without the wildcards'),
                                  ('tls-cert=/none', 'need tls-ca'),
                                  ('tls-ca=/none', 'Failed to set up TLS'),
                                  ('credentials-location=/none', 'Failed to read the credentials'),
                                  ('format=mcap', 'MQTT messages are JSON')):
            pipeline = Gst.parse_launch(LIVE % (1, 1, options))
            self.assertEqual(pipeline.set_state(Gst.State.PLAYING), Gst.StateChangeReturn.FAILURE)
            message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            self.assertIn(expected, message.parse_error()[0].message)
            pipeline.set_state(Gst.State.NULL)
        for broker in ('host:0', 'host:x', ':1883'):
            pipeline = Gst.parse_launch('videotestsrc ! annotationpublish broker=%s ! fakesink' % broker)
            self.assertEqual(pipeline.set_state(Gst.State.PLAYING), Gst.StateChangeReturn.FAILURE)
            message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            self.assertIn('Invalid broker', message.parse_error()[0].message)
            pipeline.set_state(Gst.State.NULL)


def has_mqtt():
    """False in builds without libmosquitto."""
    element = Gst.parse_launch('annotationpublish broker=127.0.0.1:1')
    bus = Gst.Bus()
    element.set_bus(bus)
    good = element.set_state(Gst.State.PAUSED) != Gst.StateChangeReturn.FAILURE
    message = bus.pop_filtered(Gst.MessageType.ERROR)
    element.set_state(Gst.State.NULL)
    if message:
        print('skipped: %s' % message.parse_error()[0].message)
    return good


if __name__ == '__main__':
    Gst.init(None)
    if not all(map(find, ('mosquitto', 'mosquitto_sub', 'mosquitto_passwd'))):
        print('skipped: no broker here (Debian: mosquitto, mosquitto-clients)')
        sys.exit(77)
    if not has_mqtt():
        sys.exit(77)
    unittest.main()
