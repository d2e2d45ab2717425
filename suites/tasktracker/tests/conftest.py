"""A small HTTP client and fresh users for black-box tests of the task tracker at `EVAL_BASE_URL`.

Helpers that only prepare a test accept any 2xx status, so that one fault of a service fails the tests that name it and no others.
"""

import json
import os
import secrets
import urllib.error
import urllib.parse
import urllib.request

import pytest

BASE_URL = os.environ.get("EVAL_BASE_URL", "http://127.0.0.1:8000").rstrip("/")
TIMEOUT_SECONDS = 10
PASSWORD = "correct horse battery"

# Settings of a proxy in the environment must not come between a test and a server on this machine.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Reply:
    """One reply of the service."""

    def __init__(self, request, status, headers, raw):
        self.request, self.status, self.headers, self.raw = request, status, headers, raw

    def json(self):
        try:
            return json.loads(self.raw)
        except ValueError:
            pytest.fail(f"{self} is not JSON")

    def error(self):
        """The error object of the reply; an empty one where the reply has none."""
        body = self.json()
        error = body.get("error") if isinstance(body, dict) else None
        return error if isinstance(error, dict) else {}

    def expect(self, status):
        """Fails the test, with what was asked and answered, unless the reply has this status."""
        assert self.status == status, f"expected {status} but {self}"
        return self

    def __str__(self):
        return f"{self.request} answered {self.status}: {self.raw[:300].decode('utf-8', 'replace')}"


class Client:
    """Sends requests, with a token if it has one."""

    def __init__(self, token=None):
        self.token = token

    def send(self, method, path, body=None, *, raw=None, headers=None, **query):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        all_headers = {"Accept": "application/json"}
        if self.token is not None:
            all_headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            all_headers["Content-Type"] = "application/json"
        all_headers.update(headers or {})
        request = urllib.request.Request(BASE_URL + path, data=raw, method=method, headers=all_headers)
        try:
            with OPENER.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return Reply(f"{method} {path}", answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as answer:
            with answer:
                return Reply(f"{method} {path}", answer.code, answer.headers, answer.read())

    def get(self, path, **query):
        return self.send("GET", path, **query)

    def post(self, path, body=None, **options):
        return self.send("POST", path, body, **options)

    def patch(self, path, body=None, **options):
        return self.send("PATCH", path, body, **options)

    def delete(self, path):
        return self.send("DELETE", path)

    def made(self, path, body):
        """Posts what a test needs first, and gives the record."""
        reply = self.post(path, body)
        assert 200 <= reply.status < 300, f"could not prepare the test: {reply}"
        return reply.json()

    def items(self, path, **query):
        """The records of one page of a list."""
        return self.get(path, **query).expect(200).json()["items"]


class User(Client):
    """A registered user with a token."""

    def __init__(self):
        super().__init__()
        self.email, self.password = new_email(), PASSWORD
        self.record = self.made("/auth/register", {"email": self.email, "password": self.password, "name": "Robin"})
        self.token = self.login()

    def login(self, **more):
        return Client().made("/auth/login", {"email": self.email, "password": self.password, **more})["access_token"]

    def project(self, name="Garden"):
        return self.made("/projects", {"name": name})

    def task(self, project=None, title="Water the plants", **more):
        project = project or self.project()
        return self.made(f"/projects/{project['id']}/tasks", {"title": title, **more})

    def comment(self, task, body="Done by noon"):
        return self.made(f"/tasks/{task['id']}/comments", {"body": body})


def new_email():
    return f"user-{secrets.token_hex(8)}@example.org"


@pytest.fixture
def anonymous():
    """A client without a token."""
    return Client()


@pytest.fixture
def client_with():
    """Makes a client that sends a token of the test's choice."""
    return Client


@pytest.fixture
def user():
    """A fresh user, who owns nothing yet."""
    return User()


@pytest.fixture
def other():
    """A second fresh user."""
    return User()


@pytest.fixture
def email():
    """An address that nobody has registered."""
    return new_email()


@pytest.fixture
def registration(email):
    """A registration that is valid in every member."""
    return {"email": email, "password": PASSWORD, "name": "Robin"}
