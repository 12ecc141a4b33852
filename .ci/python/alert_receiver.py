"""Receives the messages of an Alertmanager, and appends each to a file as a line.

usage: alert_receiver.py PORT FILE
"""
import http.server
import sys


class Receiver(http.server.BaseHTTPRequestHandler):
    """A server that takes every message."""

    path_of_messages = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(self.path_of_messages, "ab") as file:
            file.write(body.replace(b"\n", b" ") + b"\n")
        self.send_response(200)
        self.end_headers()


def main(port, path):
    Receiver.path_of_messages = path
    http.server.HTTPServer(("127.0.0.1", int(port)), Receiver).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
