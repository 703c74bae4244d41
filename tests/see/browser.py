# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium in a host of a Lab, driven by the DevTools protocol over a websocket."""
import base64
import http.client
import json
import os
import struct
import time

PORT = 9333
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 30


class WebSocket:
    """As much of RFC 6455 as that takes: a client that sends texts and gets texts."""

    def __init__(self, host, url):
        _, _, place, path = url.split("/", 3)
        with host.inside():
            self.http = http.client.HTTPConnection("127.0.0.1", PORT, timeout=SECONDS)
            self.http.connect()
        key = base64.b64encode(os.urandom(16)).decode()
        self.http.request("GET", "/" + path, headers={
            "Host": place, "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13"})
        self.socket = self.http.sock
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.exactly(1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def exactly(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError("the browser has closed the connection")
            data += more
        return data

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        head = struct.pack("!BBQ", 0x81, 0xFF, len(data))
        self.socket.sendall(head + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(data)))

    def frame(self):
        """(is it the last of its message, payload)"""
        first, second = self.exactly(2)
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(self.exactly(2 if size == 126 else 8), "big")
        return bool(first & 0x80), self.exactly(size)

    def receive(self):
        data, last = b"", False
        while not last:
            last, part = self.frame()
            data += part
        return data.decode()


class Browser:
    """One page in a browser of its own; ended with the lab."""

    def __init__(self, host, program, folder):
        self.host, self.number = host, 0
        self.dialogs, self.errors = [], []
        self.answer = ""  # what is written into a dialog that asks for something
        host.spawn([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                    "--disable-background-networking", "--disable-dev-shm-usage",
                    f"--user-data-dir={folder}", f"--remote-debugging-port={PORT}", "about:blank"],
                   stdout=open(f"{folder}.log", "w"), stderr=open(f"{folder}.log", "a"))
        host.wait_port(PORT)
        self.socket = WebSocket(host, self.page()["webSocketDebuggerUrl"])
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def page(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with self.host.inside():
                connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=SECONDS)
                connection.connect()
            connection.request("GET", "/json/list")
            for target in json.load(connection.getresponse()):
                if target["type"] == "page":
                    return target
            time.sleep(0.05)
        raise AssertionError("the browser has no page")

    def call(self, method, **parameters):
        """One call; what happens meanwhile is remembered."""
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.remember(message)

    def remember(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.javascriptDialogOpening":
            self.dialogs.append(parameters["message"])
            self.number += 1
            self.socket.send(json.dumps({"id": self.number, "method": "Page.handleJavaScriptDialog",
                                         "params": {"accept": True, "promptText": self.answer}}))
        elif method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"] + " " + parameters["entry"].get("url", ""))

    def value(self, expression):
        """What an expression of JavaScript gives in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression, seconds=SECONDS):
        """Until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < end, \
                f"waited for {expression}; the page says: {self.value('document.body.innerText')}"
            time.sleep(0.02)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def click(self, selector, text=""):
        """A click by the mouse in the middle of the first such element that has this text."""
        find = (f"[...document.querySelectorAll({json.dumps(selector)})]"
                f".find((e) => e.textContent.includes({json.dumps(text)}))")
        self.wait(find)
        x, y = self.value(f"(() => {{ const e = {find}; e.scrollIntoView({{block: 'center'}});"
                          "const r = e.getClientRects()[0];"
                          "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, code):
        """A key: its name and its number."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
