"""An endpoint that charges each Idempotency-Key once, whichever process is asked and however often.

    FIRSTCLAIM_URL=http://localhost:8080 FIRSTCLAIM_TOKEN=... python3 endpoint.py [PORT]
"""

import hashlib
import http.client
import http.server
import json
import os
import sys
import threading
import urllib.parse
import uuid

SERVER = urllib.parse.urlsplit(os.environ["FIRSTCLAIM_URL"])
TOKEN = os.environ["FIRSTCLAIM_TOKEN"]
charged = []


def claims(path, body):
    """Sends a write, again if there is no answer: its key has the store know it for the same."""
    headers = {
        "Authorization": "Bearer " + TOKEN,
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    }
    for attempt in range(3):
        connection = http.client.HTTPConnection(SERVER.hostname, SERVER.port, timeout=10)
        try:
            connection.request("POST", "/api/claims/" + path, json.dumps(body), headers)
            answer = connection.getresponse()
            if answer.status != 503:
                return answer.status, json.load(answer), answer.headers
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
    return 503, {"error": "the claims do not answer"}, {}


def charge(payload, token):
    """The effect. A sink that remembers the highest token it has seen refuses lower ones."""
    charged.append((payload, token))
    return "receipt %d" % len(charged)


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        payload = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers.get("Idempotency-Key")
        if not key:
            return self.answer(400, {"error": "send an Idempotency-Key"})
        path = urllib.parse.quote(key, safe="")
        fingerprint = hashlib.sha256(payload).hexdigest()
        status, claim, headers = claims(path, {"fingerprint": fingerprint, "holder": "python"})
        if status == 200:
            return self.answer(200, {"receipt": claim["result"]})  # done before
        if status != 201:
            return self.answer(status, claim, headers.get("Retry-After"))
        held = path + "/" + claim["handle"]
        try:
            receipt = charge(payload, claim["token"])
        except Exception as fault:
            claims(held + "/release", {"cause": str(fault)[:1000]})
            return self.answer(500, {"error": "come back with the same key"})
        status, _, _ = claims(held + "/complete", {"result": receipt})
        if status != 200:
            return self.answer(503, {"error": "come back with the same key"})
        self.answer(200, {"receipt": receipt})

    def answer(self, status, body, retry_after=None):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


def ask(port, key, payload):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/", payload, {"Idempotency-Key": key})
    answer = connection.getresponse()
    status, body = answer.status, answer.read()
    connection.close()
    return status, body


def try_it(server):
    """Twenty requests with one key at once, until each has the receipt."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port, key, answers = server.server_address[1], "payment " + str(uuid.uuid4()), []

    def client():
        status, body = ask(port, key, b"100 EUR")
        while status == 409:  # somebody is at it
            status, body = ask(port, key, b"100 EUR")
        answers.append((status, body))

    clients = [threading.Thread(target=client) for _ in range(20)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    assert set(answers) == {(200, b'{"receipt": "receipt 1"}')}, answers
    assert len(charged) == 1, charged
    assert ask(port, key, b"200 EUR")[0] == 422
    print("twenty requests, charged once")


if __name__ == "__main__":
    trial = "--try" in sys.argv
    port = 0 if trial else int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Endpoint) as endpoint:
        try_it(endpoint) if trial else endpoint.serve_forever()
