"""A server of one folder for the tests of downloads: ranges as RFC 9110 has them, and the faults that their addresses name.

  /NAME            the file, or a part of it
  /whole/NAME      all of it, whatever is asked for
  /cut/N/NAME      breaks off after each N bytes
  /slow/N/NAME     N bytes a second
  /hang/NAME       its header, and nothing after it
  /chunked/NAME    in chunks, without a length
  /to/LOCATION     a redirect there, with ~ for /
  /status/N/NAME   that status
  /once/N/NAME     that status at first, then the file

Prints its port, and to the file `requests` of the folder one line a request: the path and its Range.
"""

import http.server
import pathlib
import ssl
import sys
import threading
import time

folder = pathlib.Path(sys.argv[1])
seen = set()
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        asked = self.headers.get("Range", "")
        with lock, open(folder / "requests", "a") as log:
            print(self.path, asked, file=log)
        kind, _, rest = self.path[1:].partition("/")
        if kind == "to":
            return self.answer(302, [("Location", rest.replace("~", "/"))], b"elsewhere")
        if kind in ("status", "once"):
            status, _, name = rest.partition("/")
            with lock:
                first = self.path not in seen
                seen.add(self.path)
            if kind == "status" or first:
                return self.answer(int(status), [], b"no")
            return self.give(name, asked)
        if kind in ("cut", "slow"):
            amount, _, name = rest.partition("/")
            return self.give(name, asked, **{kind: int(amount)})
        if kind == "hang":
            self.send_response(200)
            self.send_header("Content-Length", "1")
            self.end_headers()
            time.sleep(3600)
        if kind in ("whole", "chunked"):
            return self.give(rest, "", chunked=kind == "chunked")
        return self.give(self.path[1:], asked)

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def give(self, name, asked, cut=None, slow=None, chunked=False):
        path = folder / name
        if not path.is_file():
            return self.answer(404, [], b"nothing there")
        content = path.read_bytes()
        begin = int(asked[len("bytes=") : -1]) if asked else 0
        if asked and begin >= len(content):
            return self.answer(416, [("Content-Range", f"bytes */{len(content)}")], b"")
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        part = content[begin:]
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(part), 1000):
                piece = part[at : at + 1000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if slow:
            for at in range(0, len(part), max(1, slow // 20)):
                self.wfile.write(part[at : at + max(1, slow // 20)])
                time.sleep(0.05)
            return
        self.wfile.write(part if cut is None else part[:cut])
        if cut is not None and cut < len(part):
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # a client that left
        pass


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
