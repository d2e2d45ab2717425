"""The least that starts: it answers its health check and nothing else. What scores no better than this has built nothing."""

import argparse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def respond(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        alive = self.command == "GET" and self.path == "/health"
        body = b'{"status": "ok"}' if alive else b'{"error": {"code": "not_implemented", "message": "not built yet"}}'
        self.send_response(200 if alive else 501)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = respond

    def log_request(self, code="-", size="-"):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a server that has built nothing yet")
    parser.add_argument("--port", type=int, default=8000)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()
