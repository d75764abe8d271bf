"""A mail server for tests: pymap for IMAP, aiosmtpd for SMTP.

It writes a JSON line with its ports, and one for each mail that it is sent. It reads JSON lines: {"deliver": TEXT} puts a
mail into the inbox, {"silent": true} answers no further mail that it takes, and {"unseen": true} asks how many mails are unseen.
"""

import asyncio
import email.policy
import imaplib
import json
import socket
import subprocess
import sys
import time

try:
    import pymap  # noqa: F401
    from aiosmtpd.controller import Controller
except ImportError as error:
    print(json.dumps({"missing": str(error)}), flush=True)
    sys.exit()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


class Handler:
    silent = False

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        body = {kind: mail.get_body((kind,)) for kind in ("plain", "html")}
        write({
            "to": envelope.rcpt_tos,
            "head": {name.lower(): " ".join(str(value).split()) for name, value in mail.items()},
            "text": body["plain"].get_content() if body["plain"] else None,
            "html": body["html"].get_content() if body["html"] else None,
            "files": [[part.get_filename(), part.get_content_type(), str(part.get_content())] for part in mail.iter_attachments()],
        })
        if self.silent:
            await asyncio.sleep(3600)
        return "250 OK"


def open_inbox(port):
    # A busy machine takes long to start it.
    for _ in range(1200):
        try:
            inbox = imaplib.IMAP4("127.0.0.1", port)
            break
        except OSError:
            time.sleep(0.05)
    inbox.login("demouser", "demopass")
    inbox.select("INBOX")
    return inbox


def main():
    port = free_port()
    command = [sys.executable, "-c", "import sys; from pymap.main import main; sys.exit(main())", "--host", "127.0.0.1", "--port", str(port), "--no-tls", "dict", "--demo-data"]
    imap = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        inbox = open_inbox(port)
        inbox.store("1:*", "+FLAGS", "\\Seen")
        handler = Handler()
        smtp = Controller(handler, hostname="127.0.0.1", port=free_port())
        smtp.start()
        write({"imap": port, "smtp": smtp.port})
        for line in sys.stdin:
            order = json.loads(line)
            if "deliver" in order:
                inbox.append("INBOX", None, None, order["deliver"].encode())
            elif "silent" in order:
                handler.silent = order["silent"]
            elif "end" in order:
                break
            else:
                write({"unseen": len(inbox.uid("SEARCH", "UNSEEN")[1][0].split())})
    finally:
        imap.kill()


main()
