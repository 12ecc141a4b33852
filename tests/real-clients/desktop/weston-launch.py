#!/usr/bin/env python3
"""Runs Weston 10 without a virtual terminal, as its weston-launch does with one: opens devices for it.

Debian 12 builds Weston without libseat, and its other launchers need logind or a terminal. Weston asks over a socket for each
device that it opens: a number for the kind of the message, the flags of the open, and the path. The answer is a number for its
kind, the result, and the descriptor.

Usage: weston-launch.py WESTON ARGUMENTS...
"""

import array
import os
import signal
import socket
import struct
import subprocess
import sys

OPEN, OPENED = 0, 3

ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
number = theirs.fileno()
weston = subprocess.Popen(sys.argv[1:], env=dict(os.environ, WESTON_LAUNCHER_SOCK=str(number)), pass_fds=[number])
theirs.close()
signal.signal(signal.SIGTERM, lambda *_: weston.terminate())
while message := ours.recv(4096):
    kind, flags = struct.unpack_from("ii", message)
    if kind != OPEN:
        continue
    path = message[8:].split(b"\0")[0]
    try:
        device = os.open(path, flags)
    except OSError as error:
        print(f"{path.decode()}: {error}", file=sys.stderr)
        ours.send(struct.pack("ii", OPENED, -1))
        continue
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [device]))
    ours.sendmsg([struct.pack("ii", OPENED, 0)], [rights])
    os.close(device)
sys.exit(weston.wait())
