"""A receiver of webhooks as an operator would write it: it shares no code with the sender.

usage: receiver.py SECRET LOG HABITS

Each request is a line of LOG, as JSON, written and synced before the answer. HABITS is a file that is read for each
request: 'cut' stores the event and closes the connection without an answer; '503 RETRY-AFTER', '429 RETRY-AFTER', '410'
and any other status answer that, and store nothing; 'refuse TEXT' answers 400 to bodies that have the text; 'random'
does one of these in two of five requests; empty answers 204.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import random
import sys
import threading
import time

secrets = [base64.b64decode(word.removeprefix("whsec_")) for word in sys.argv[1].split(",")]
log = open(sys.argv[2], "ab", buffering=0)
habits = sys.argv[3]
lock = threading.Lock()
chance = random.Random(int(os.environ.get("SEED", "1")))


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def verified(self, body):
        """Whether the request is from who knows the secret, and was made now: docs/webhooks.md."""
        message = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        if abs(time.time() - int(self.headers["webhook-timestamp"])) > 300:
            return 0
        given = self.headers["webhook-signature"].split()
        good = [b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()) for key in secrets]
        return sum(any(hmac.compare_digest(word.encode(), one) for one in good) for word in given)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(habits) as file:
            words = file.read().split(maxsplit=1)
        with lock:
            if words[:1] == ["random"]:
                words = chance.choice([["cut"], ["503", "0"], [], [], []])
        signatures = self.verified(body)
        if words[:1] == ["refuse"]:
            words = ["400"] if words[1].encode() in body else []
        stores = not words or words[0] == "cut"
        with lock:
            log.write(json.dumps({
                "id": self.headers["webhook-id"], "signatures": signatures, "body": body.decode(),
                "stored": stores and signatures > 0, "type": self.headers["Content-Type"],
            }).encode() + b"\n")
            os.fsync(log.fileno())
            print("request", flush=True)
        if words[:1] == ["cut"]:
            self.close_connection = True
            return
        status = 401 if signatures == 0 else int(words[0]) if words else 204
        self.send_response(status)
        if len(words) > 1 and words[1].isdigit():
            self.send_header("Retry-After", words[1])
        if status == 302:
            self.send_header("Location", "/elsewhere")
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
print(server.server_port, flush=True)
# It ends with whoever has started it.
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
