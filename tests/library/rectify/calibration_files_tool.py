#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes one synthetic stereo camera in every calibration format that cuda/rectify reads.

    calibration_files_tool.py FOLDER

The files are committed (tests/fuzz/corpus/calibration): seeds of the fuzzer and input of
calibration_test.c, which expects the same camera from each. Needs python3-opencv; OpenCV 5 writes
opencv5.yml only, whose YAML differs from that of OpenCV 4."""

import os
import sys

import cv2
import numpy as np

SIZE = (640, 480)
K = [np.array([[520.5, 0, 318.25], [0, 521.25, 236.75], [0, 0, 1]]),
     np.array([[519.75, 0, 322.5], [0, 520.25, 241.125], [0, 0, 1]])]
D = [np.array([[-0.28125, 0.09375, 0.0005, -0.00025, 0]]),
     np.array([[-0.27, 0.08, -0.0004, 0.0003, 0]])]
OM = np.array([0.004, -0.007, 0.003])
R = cv2.Rodrigues(OM)[0]
T = np.array([[-0.12], [0.0008], [-0.0011]])
R1, R2, P1, P2, Q, _, _ = cv2.stereoRectify(K[0], D[0], K[1], D[1], SIZE, R, T, alpha=-1)

OPENCV = {'M1': K[0], 'D1': D[0], 'M2': K[1], 'D2': D[1], 'R': R, 'T': T,
          'R1': R1, 'R2': R2, 'P1': P1, 'P2': P2, 'Q': Q}


def numbers(values, separator=', '):
    return separator.join(repr(float(v)) for v in np.asarray(values).ravel())


def opencv(path, keys, size=True, flags=0):
    storage = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE | flags)
    if size:
        storage.write('image_width', SIZE[0])
        storage.write('image_height', SIZE[1])
    for key in keys:
        storage.write(key, OPENCV[key])
    storage.release()


def orb_slam(folder):
    storage = cv2.FileStorage(f'{folder}/orb_slam.yaml', cv2.FILE_STORAGE_WRITE)
    storage.release()
    with open(f'{folder}/orb_slam.yaml', 'w') as out:
        out.write('%YAML:1.0\n\n# ORB-SLAM2\nCamera.fps: 20.0\n')
        for name, v, r, p in (('LEFT', 0, R1, P1), ('RIGHT', 1, R2, P2)):
            out.write(f'{name}.height: {SIZE[1]}\n{name}.width: {SIZE[0]}\n')
            for key, m in (('D', D[v]), ('K', K[v]), ('R', r), ('P', p)):
                out.write(f'{name}.{key}: !!opencv-matrix\n   rows: {m.shape[0]}\n'
                          f'   cols: {m.shape[1]}\n   dt: d\n   data: [{numbers(m)}]\n')


def plain(folder):
    with open(f'{folder}/plain.yaml', 'w') as out:
        for key, value in OPENCV.items():
            text = numbers(value).replace(', ', ',\n    ', 3)
            out.write(f'{key}: [ {text} ]\n')
        out.write(f'size: [ {SIZE[0]}, {SIZE[1]} ]\nreprojectionError: 1.3e-01\n')


def ros(folder):
    for v, name, r, p in ((0, 'left', R1, P1), (1, 'right', R2, P2)):
        with open(f'{folder}/ros_{name}.yaml', 'w') as out:
            out.write(f'image_width: {SIZE[0]}\nimage_height: {SIZE[1]}\ncamera_name: {name}\n')
            for key, m in (('camera_matrix', K[v]), ('distortion_coefficients', D[v]),
                           ('rectification_matrix', r), ('projection_matrix', p)):
                if key == 'distortion_coefficients':
                    out.write('distortion_model: plumb_bob\n')
                rows, cols = m.shape
                out.write(f'{key}:\n  rows: {rows}\n  cols: {cols}\n  data: [{numbers(m)}]\n')
    with open(f'{folder}/ros.ini', 'w') as out:
        out.write(f'# oST version 5.0 parameters\n\n\n[image]\n\nwidth\n{SIZE[0]}\n\nheight\n'
                  f'{SIZE[1]}\n\n')
        for v, name, r, p in ((0, 'left', R1, P1), (1, 'right', R2, P2)):
            out.write(f'[narrow_stereo/{name}]\n\n')
            for key, m in (('camera matrix', K[v]), ('distortion', D[v]), ('rectification', r),
                           ('projection', p)):
                rows = '\n'.join(numbers(row, ' ') for row in m)
                out.write(f'{key}\n{rows}\n\n')


def kalibr(folder):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3:] = R, T
    with open(f'{folder}/kalibr.yaml', 'w') as out:
        for v in range(2):
            out.write(f'cam{v}:\n')
            if v:
                out.write('  T_cn_cnm1:\n')
                for row in pose:
                    out.write(f'  - [{numbers(row)}]\n')
            out.write(f'  cam_overlaps: [{1 - v}]\n  camera_model: pinhole\n'
                      f'  distortion_coeffs: [{numbers(D[v][0, :4])}]\n'
                      f'  distortion_model: radtan\n  intrinsics: '
                      f'[{numbers([K[v][0, 0], K[v][1, 1], K[v][0, 2], K[v][1, 2]])}]\n'
                      f'  resolution: [{SIZE[0]}, {SIZE[1]}]\n  rostopic: /cam{v}/image_raw\n')


def euroc(folder):
    body = np.eye(4)
    body[:3, :3] = cv2.Rodrigues(np.array([0.1, -0.2, 1.5]))[0]
    body[:3, 3] = [-0.02, -0.06, 0.01]
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3:] = R, T
    for v, name, t in ((0, 'left', body), (1, 'right', body @ np.linalg.inv(pose))):
        with open(f'{folder}/euroc_{name}.yaml', 'w') as out:
            out.write(f'# General sensor definitions.\nsensor_type: camera\ncomment: cam{v}\n\n'
                      '# Sensor extrinsics wrt. the body-frame.\nT_BS:\n  cols: 4\n  rows: 4\n'
                      f'  data: [{numbers(t)}]\n\nrate_hz: 20\n'
                      f'resolution: [{SIZE[0]}, {SIZE[1]}]\ncamera_model: pinhole\n'
                      f'intrinsics: [{numbers([K[v][0, 0], K[v][1, 1], K[v][0, 2], K[v][1, 2]])}]'
                      ' #fu, fv, cu, cv\ndistortion_model: radial-tangential\n'
                      f'distortion_coefficients: [{numbers(D[v][0, :4])}]\n')


def kitti(folder):
    with open(f'{folder}/kitti.txt', 'w') as out:
        for n, p in enumerate((P1, P2, P1, P2)):
            out.write(f'P{n}: ' + ' '.join(f'{x:.12e}' for x in p.ravel()) + '\n')
    with open(f'{folder}/kitti_odometry.txt', 'w') as out:
        for p in (P1, P2):
            out.write(' '.join(f'{x:.12e}' for x in p.ravel()) + '\n')
    with open(f'{folder}/kitti_raw.txt', 'w') as out:
        out.write('calib_time: 09-Jan-2012 13:57:47\ncorner_dist: 9.950000e-02\n')
        for n in range(4):
            v = n % 2
            line = {'S': SIZE, 'K': K[v], 'D': D[v], 'R': R if v else np.eye(3),
                    'T': T if v else np.zeros(3), 'S_rect': SIZE, 'R_rect': R2 if v else R1,
                    'P_rect': P2 if v else P1}
            if n > 1:  # the color pair is that of the other files, seen from another camera 0
                line['R'], line['T'] = (R if v else np.eye(3)), (T if v else np.zeros(3))
            line['S_rect'] = (622, 466)  # frames of 640 x 480 are raw
            for key, value in line.items():
                out.write(f'{key}_{n:02d}: ' +
                          ' '.join(repr(float(x)) for x in np.ravel(value)) + '\n')


def middlebury(folder):
    with open(f'{folder}/middlebury.txt', 'w') as out:
        for n, p in ((0, P1), (1, P2)):
            out.write(f'cam{n}=[{float(p[0, 0])!r} 0 {float(p[0, 2])!r} ; 0 {float(p[1, 1])!r} '
                      f'{float(p[1, 2])!r} ; 0 0 1 ]\n')
        out.write(f' doffs= 0\nbaseline= {float(-P2[0, 3] / P2[0, 0] * 1000)!r} \n'
                  f'width= {SIZE[0]}\n height= {SIZE[1]}\n ndisp= 64\n isint= 0\n')


def zed(folder):
    with open(f'{folder}/zed.conf', 'w') as out:
        for mode, scale in (('2K', 2), ('FHD', 2), ('HD', 1.5), ('VGA', 1)):
            for v, name in ((0, 'LEFT'), (1, 'RIGHT')):
                # frames of 672 x 376 px: principal point moved from the center of 640 x 480
                cx, cy = K[v][0, 2] + 16, K[v][1, 2] - 52
                out.write(f'[{name}_CAM_{mode}]\nfx={scale * float(K[v][0, 0])!r}\n'
                          f'fy={scale * float(K[v][1, 1])!r}\ncx={scale * float(cx)!r}\n'
                          f'cy={scale * float(cy)!r}\n')
                for key, i in (('k1', 0), ('k2', 1), ('k3', 4), ('p1', 2), ('p2', 3)):
                    out.write(f'{key}={float(D[v][0, i])!r}\n')
                out.write('\n')
        out.write(f'[STEREO]\nBaseline={float(-T[0, 0] * 1000)!r}\nTY={float(T[1, 0] * 1000)!r}\n'
                  f'TZ_VGA={float(T[2, 0] * 1000)!r}\nTZ_HD=-1.0\nCV_VGA={float(OM[1])!r}\nCV_HD=0.0\n'
                  f'RX_VGA={float(OM[0])!r}\nRZ_VGA={float(OM[2])!r}\n')


def depthai(folder):
    def camera(v, to, rotation, translation, kind=0, coefficients=None):
        k = K[v % 2]
        d = [0.0] * 14
        d[:5] = [float(x) for x in D[v % 2][0]]
        return {'cameraType': kind, 'distortionCoeff': coefficients or d,
                'extrinsics': {'rotationMatrix': rotation.tolist(), 'specTranslation':
                               {'x': -7.5, 'y': 0.0, 'z': 0.0}, 'toCameraSocket': to,
                               'translation': dict(zip('xyz', translation))},
                'height': SIZE[1], 'intrinsicMatrix': k.tolist(), 'lensPosition': 0,
                'width': SIZE[0]}
    import json
    centimeters = [float(x) * 100 for x in T.ravel()]
    dump = {'batchName': '', 'boardName': 'BW1098OBC', 'cameraData': [
        [0, camera(0, -1, np.zeros((3, 3)), [0.0, 0.0, 0.0])],
        [1, camera(0, 2, R, centimeters)],
        [2, camera(1, 0, np.eye(3), [3.75, 0.0, 0.0])]],
        'stereoRectificationData': {'leftCameraSocket': 1,
                                    'rectifiedRotationLeft': R1.tolist(),
                                    'rectifiedRotationRight': R2.tolist(),
                                    'rightCameraSocket': 2}, 'version': 6}
    with open(f'{folder}/depthai.json', 'w') as out:
        json.dump(dump, out, indent=4)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    every = list(OPENCV)
    if cv2.__version__.startswith('5.'):
        opencv(f'{folder}/opencv5.yml', every)
        return
    for name in ('opencv.yml', 'opencv.xml', 'opencv.json'):
        opencv(f'{folder}/{name}', every)
    for name in ('opencv_base64.yml', 'opencv_base64.xml', 'opencv_base64.json'):
        opencv(f'{folder}/{name}', every, flags=cv2.FileStorage_BASE64)
    opencv(f'{folder}/intrinsics.yml', ['M1', 'D1', 'M2', 'D2'], size=False)
    opencv(f'{folder}/extrinsics.yml', ['R', 'T', 'R1', 'R2', 'P1', 'P2', 'Q'], size=False)
    for write in (orb_slam, plain, ros, kalibr, euroc, kitti, middlebury, zed, depthai):
        write(folder)


if __name__ == '__main__':
    main()
