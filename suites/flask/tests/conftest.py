"""What the tests of the short-link service share: a small HTTP client over the standard library, and a reader of pages.

The tests know the service only by its address, `EVAL_BASE_URL`. They share one running service, so each makes its own links and
never relies on there being none.
"""

import json
import os
import urllib.error
import urllib.parse
import urllib.request
import uuid
from html.parser import HTMLParser

import pytest


class Reply:
    """One answer of the service: status, headers, body."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.text = body.decode("utf-8", errors="replace")

    @property
    def location(self):
        return self.headers.get("Location", "")

    @property
    def kind(self):
        return self.headers.get_content_type()

    def json(self):
        assert self.kind == "application/json", f"not JSON but {self.kind}: {self.text[:200]}"
        return json.loads(self.text)

    def page(self):
        assert self.kind == "text/html", f"not HTML but {self.kind}: {self.text[:200]}"
        return Page(self.text)


class Page(HTMLParser):
    """The elements of a page, each with its attributes and the text inside it."""

    VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self._open = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "attrs": {name: value or "" for name, value in attrs}, "text": ""}
        self.elements.append(element)
        if tag not in self.VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        for position in range(len(self._open) - 1, -1, -1):
            if self._open[position]["tag"] == tag:
                del self._open[position:]
                return

    def handle_data(self, data):
        self.text += data
        for element in self._open:
            element["text"] += data

    def all(self, tag=None, **attrs):
        wanted = {name.rstrip("_"): value for name, value in attrs.items()}
        return [
            element
            for element in self.elements
            if (tag is None or element["tag"] == tag) and all(element["attrs"].get(name) == value for name, value in wanted.items())
        ]

    def with_class(self, name):
        return [element for element in self.elements if name in element["attrs"].get("class", "").split()]


class KeepRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects are what is tested, so they are not followed."""

    def redirect_request(self, *_args, **_kwargs):
        return None


class Client:
    def __init__(self, base_url):
        self.base_url = base_url.rstrip("/")
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), KeepRedirects)

    def send(self, method, path, body=None, headers=None):
        request = urllib.request.Request(self.base_url + path, data=body, method=method, headers=headers or {})
        try:
            with self._opener.open(request, timeout=10) as answer:
                return Reply(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as answer:
            with answer:
                return Reply(answer.code, answer.headers, answer.read())

    def get(self, path, **query):
        return self.send("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def send_json(self, method, path, value):
        return self.send(method, path, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def form(self, path, **fields):
        return self.send("POST", path, urllib.parse.urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded"})

    def make(self, **fields):
        """Makes a link, which must succeed, and returns it."""
        fields.setdefault("url", f"https://example.org/{unique()}")
        reply = self.send_json("POST", "/api/links", fields)
        assert reply.status == 201, f"a valid link was answered with {reply.status}: {reply.text[:200]}"
        return reply.json()

    def click(self, code, referer=None):
        reply = self.send("GET", f"/{code}", headers={"Referer": referer} if referer else {})
        assert reply.status == 302
        return reply


def unique():
    """A word that no other test uses: a valid code, too."""
    return "t" + uuid.uuid4().hex[:12]


@pytest.fixture(scope="session")
def client():
    base_url = os.environ.get("EVAL_BASE_URL")
    if not base_url:
        pytest.exit("EVAL_BASE_URL is not set: it names the running service, such as http://127.0.0.1:8000", returncode=4)
    return Client(base_url)


@pytest.fixture
def word():
    return unique()
