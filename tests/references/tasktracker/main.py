"""The task tracker of `suites/tasktracker/requirements.md`, in the standard library alone.

State lives in memory. One lock makes each request atomic: a reference has to be right, not fast.
"""

import argparse
import base64
import hashlib
import hmac
import json
import re
import secrets
import threading
import time
import uuid
from datetime import date, datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

SECRET = secrets.token_bytes(32)
LOCK = threading.Lock()

# Every table maps an id to its record. A dict keeps insertion order, so a table is always in order of creation.
USERS, PROJECTS, TASKS, COMMENTS = {}, {}, {}, {}


class ApiError(Exception):
    """A refusal, with the status and the error object that the client gets."""

    def __init__(self, status, code, message, fields=None):
        super().__init__(message)
        self.status = status
        self.body = {"error": {"code": code, "message": message}}
        if fields is not None:
            self.body["error"]["fields"] = fields


# ---------------------------------------------------------------------------------------------------------------------
# Passwords and tokens


def hash_password(password, salt):
    # A cheap setting, because the tests register hundreds of users. A service that keeps real passwords needs n=2**14 or more.
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, n=2**9, r=8, p=1)


def encode_part(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode_part(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def sign(signed):
    return encode_part(hmac.new(SECRET, signed.encode(), hashlib.sha256).digest())


def issue_token(user_id, lifetime):
    issued = int(time.time())
    header = {"alg": "HS256", "typ": "JWT"}
    claims = {"sub": user_id, "iat": issued, "exp": issued + lifetime}
    signed = ".".join(encode_part(json.dumps(part).encode()) for part in (header, claims))
    return f"{signed}.{sign(signed)}"


def user_of_token(token):
    """Returns the user that a valid token names, or None."""
    try:
        head, body, signature = token.split(".")
        header, claims = decode_part(head), decode_part(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        return None
    if header.get("alg") != "HS256":
        return None
    if not hmac.compare_digest(sign(f"{head}.{body}").encode(), signature.encode()):
        return None
    if claims["exp"] <= time.time():
        return None
    return USERS.get(claims["sub"])


def authenticate(header):
    """Returns the user of an `Authorization` header, or refuses the request."""
    scheme, _, token = (header or "").partition(" ")
    user = user_of_token(token.strip()) if scheme.lower() == "bearer" else None
    if user is None:
        raise ApiError(401, "unauthorized", "a valid bearer token is required")
    return user


# ---------------------------------------------------------------------------------------------------------------------
# Validation: a check takes a raw value and returns the clean one, or raises ValueError with what it must be

REQUIRED = object()


def text(low, high):
    def check(value):
        trimmed = string(value).strip()
        if not low <= len(trimmed) <= high:
            raise ValueError(f"must have {low} to {high} characters")
        return trimmed

    return check


def string(value):
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def password(value):
    if not 8 <= len(string(value)) <= 128:
        raise ValueError("must have 8 to 128 characters")
    return value


def email(value):
    address = text(3, 254)(value)
    if not re.fullmatch(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+", address):
        raise ValueError("must be an email address")
    return address


def one_of(*choices):
    def check(value):
        if value not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        return value

    return check


def calendar_date(value):
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", string(value)):
        raise ValueError("must be a date in the form YYYY-MM-DD")
    date.fromisoformat(value)
    return value


def integer(low, high):
    def check(value):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"must be an integer from {low} to {high}")
        return value

    return check


def digits(low, high):
    """Reads an integer out of a query string."""

    def check(value):
        if not re.fullmatch(r"-?[0-9]{1,12}", value):
            raise ValueError("must be an integer")
        return integer(low, high)(int(value))

    return check


def nullable(check):
    return lambda value: None if value is None else check(value)


STATUS = one_of("todo", "in_progress", "done")
PRIORITY = one_of("low", "medium", "high")

REGISTRATION = {"email": (email, REQUIRED), "password": (password, REQUIRED), "name": (text(1, 100), REQUIRED)}
CREDENTIALS = {"email": (string, REQUIRED), "password": (string, REQUIRED), "expires_in": (integer(1, 86400), 3600)}
PROJECT = {"name": (text(1, 100), REQUIRED), "description": (text(0, 2000), "")}
TASK = {
    "title": (text(1, 200), REQUIRED),
    "description": (text(0, 2000), ""),
    "status": (STATUS, "todo"),
    "priority": (PRIORITY, "medium"),
    "due_date": (nullable(calendar_date), None),
}
COMMENT = {"body": (text(1, 2000), REQUIRED)}
PAGE = {"limit": (digits(1, 100), 20), "offset": (digits(0, 10**9), 0)}
TASK_FILTER = {
    "project_id": (str, None),
    "status": (STATUS, None),
    "priority": (PRIORITY, None),
    "due_before": (calendar_date, None),
    "q": (text(1, 200), None),
    "sort": (one_of("created_at", "-created_at", "due_date", "-due_date"), "created_at"),
}


def read(raw, schema, partial=False):
    """Returns the clean values of the schema's members; members outside the schema are ignored."""
    values, problems = {}, {}
    for name, (check, default) in schema.items():
        if name in raw:
            try:
                values[name] = check(raw[name])
            except ValueError as error:
                problems[name] = str(error)
        elif not partial:
            if default is REQUIRED:
                problems[name] = "is required"
            else:
                values[name] = default
    if problems:
        raise ApiError(422, "validation_error", "the request has invalid values", problems)
    return values


class Request:
    """What a handler sees: who asks, which id the path names, what was sent."""

    def __init__(self, user, path_id, query, raw_body):
        self.user, self.path_id, self.query, self.raw_body = user, path_id, query, raw_body

    def body(self, schema, partial=False):
        try:
            raw = json.loads(self.raw_body)
        except (ValueError, RecursionError):
            raw = None
        if not isinstance(raw, dict):
            raise ApiError(400, "bad_request", "the body must be a JSON object")
        return read(raw, schema, partial)

    def owned(self, table, what):
        """Returns the record the path names. A stranger's record answers as a missing one, so that ids reveal nothing."""
        record = table.get(self.path_id)
        if record is None or record["owner_id"] != self.user["id"]:
            raise ApiError(404, "not_found", f"no such {what}")
        return record


# ---------------------------------------------------------------------------------------------------------------------
# Handlers: each returns a status and what to send


def timestamp():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def stored(table, **members):
    record = {"id": uuid.uuid4().hex, **members}
    table[record["id"]] = record
    return record


def page(request, records):
    window = read(request.query, PAGE)
    start, limit = window["offset"], window["limit"]
    return 200, {"items": records[start : start + limit], "total": len(records), "limit": limit, "offset": start}


def mine(request, table):
    return [record for record in table.values() if record["owner_id"] == request.user["id"]]


def user_with_email(address):
    address = address.strip().lower()
    return next((user for user in USERS.values() if user["email"] == address), None)


def public(user):
    return {name: user[name] for name in ("id", "email", "name", "created_at")}


def health(_request):
    return 200, {"status": "ok"}


def register(request):
    values = request.body(REGISTRATION)
    if user_with_email(values["email"]) is not None:
        raise ApiError(409, "conflict", "this email address is already registered")
    salt = secrets.token_bytes(16)
    digest = hash_password(values["password"], salt)
    address = values["email"].lower()
    return 201, public(stored(USERS, email=address, name=values["name"], salt=salt, digest=digest, created_at=timestamp()))


def login(request):
    values = request.body(CREDENTIALS)
    user = user_with_email(values["email"])
    salt, expected = (user["salt"], user["digest"]) if user else (b"", b"")
    correct = hmac.compare_digest(hash_password(values["password"], salt), expected)
    if user is None or not correct:
        raise ApiError(401, "unauthorized", "wrong email address or password")
    lifetime = values["expires_in"]
    return 200, {"access_token": issue_token(user["id"], lifetime), "token_type": "bearer", "expires_in": lifetime}


def me(request):
    return 200, public(request.user)


def create_project(request):
    values = request.body(PROJECT)
    moment = timestamp()
    return 201, stored(PROJECTS, owner_id=request.user["id"], **values, created_at=moment, updated_at=moment)


def list_projects(request):
    return page(request, mine(request, PROJECTS))


def get_project(request):
    return 200, request.owned(PROJECTS, "project")


def update_project(request):
    project = request.owned(PROJECTS, "project")
    project.update(request.body(PROJECT, partial=True), updated_at=timestamp())
    return 200, project


def delete_project(request):
    project = request.owned(PROJECTS, "project")
    for task in [task for task in TASKS.values() if task["project_id"] == project["id"]]:
        remove_task(task)
    del PROJECTS[project["id"]]
    return 204, None


def create_task(request):
    project = request.owned(PROJECTS, "project")
    values = request.body(TASK)
    moment = timestamp()
    values["completed_at"] = moment if values["status"] == "done" else None
    owner = {"project_id": project["id"], "owner_id": request.user["id"]}
    task = stored(TASKS, **owner, **values, created_at=moment, updated_at=moment)
    return 201, task


def list_tasks(request):
    wanted = read(request.query, TASK_FILTER)
    tasks = mine(request, TASKS)
    for name in ("project_id", "status", "priority"):
        if wanted[name] is not None:
            tasks = [task for task in tasks if task[name] == wanted[name]]
    if wanted["due_before"] is not None:
        tasks = [task for task in tasks if task["due_date"] is not None and task["due_date"] < wanted["due_before"]]
    if wanted["q"] is not None:
        tasks = [task for task in tasks if wanted["q"].lower() in task["title"].lower()]
    return page(request, in_order(tasks, wanted["sort"]))


def in_order(tasks, sort):
    """Sorts tasks that come in order of creation. Those without a due date are last in either direction."""
    if sort == "-created_at":
        return tasks[::-1]
    if sort == "created_at":
        return tasks
    dated = [task for task in tasks if task["due_date"] is not None]
    undated = [task for task in tasks if task["due_date"] is None]
    return sorted(dated, key=lambda task: task["due_date"], reverse=sort == "-due_date") + undated


def get_task(request):
    return 200, request.owned(TASKS, "task")


def update_task(request):
    task = request.owned(TASKS, "task")
    changes = request.body(TASK, partial=True)
    moment = timestamp()
    status = changes.get("status", task["status"])
    if status != "done":
        changes["completed_at"] = None
    elif task["status"] != "done":
        changes["completed_at"] = moment
    task.update(changes, updated_at=moment)
    return 200, task


def delete_task(request):
    remove_task(request.owned(TASKS, "task"))
    return 204, None


def remove_task(task):
    for comment in [comment for comment in COMMENTS.values() if comment["task_id"] == task["id"]]:
        del COMMENTS[comment["id"]]
    del TASKS[task["id"]]


def create_comment(request):
    task = request.owned(TASKS, "task")
    values = request.body(COMMENT)
    return 201, stored(COMMENTS, task_id=task["id"], owner_id=request.user["id"], **values, created_at=timestamp())


def list_comments(request):
    task = request.owned(TASKS, "task")
    return page(request, [comment for comment in COMMENTS.values() if comment["task_id"] == task["id"]])


def delete_comment(request):
    comment = request.owned(COMMENTS, "comment")
    del COMMENTS[comment["id"]]
    return 204, None


# ---------------------------------------------------------------------------------------------------------------------
# HTTP

PUBLIC = (health, register, login)
ROUTES = {
    "/health": {"GET": health},
    "/auth/register": {"POST": register},
    "/auth/login": {"POST": login},
    "/auth/me": {"GET": me},
    "/projects": {"GET": list_projects, "POST": create_project},
    "/projects/{id}": {"GET": get_project, "PATCH": update_project, "DELETE": delete_project},
    "/projects/{id}/tasks": {"POST": create_task},
    "/tasks": {"GET": list_tasks},
    "/tasks/{id}": {"GET": get_task, "PATCH": update_task, "DELETE": delete_task},
    "/tasks/{id}/comments": {"GET": list_comments, "POST": create_comment},
    "/comments/{id}": {"DELETE": delete_comment},
}


def find_handler(method, path):
    """Returns the handler of a request and the id in its path."""
    for pattern, methods in ROUTES.items():
        match = re.fullmatch(pattern.replace("{id}", "([^/]+)"), path)
        if match and method not in methods:
            raise ApiError(405, "method_not_allowed", f"{method} is not possible here")
        if match:
            return methods[method], match.group(1) if match.groups() else None
    raise ApiError(404, "not_found", "no such path")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body leave in one packet

    def respond(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        try:
            handler, path_id = find_handler(self.command, url.path)
            with LOCK:
                user = None if handler in PUBLIC else authenticate(self.headers.get("Authorization"))
                query = dict(parse_qsl(url.query, keep_blank_values=True))
                status, body = handler(Request(user, path_id, query, raw_body))
                payload = b"" if body is None else json.dumps(body).encode()
        except ApiError as error:
            status, payload = error.status, json.dumps(error.body).encode()
        except Exception as error:  # a fault of one request must not end the service
            self.log_error("%s %s: %r", self.command, self.path, error)
            status, payload = 500, b'{"error": {"code": "internal_error", "message": "unexpected fault"}}'
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = respond

    def log_request(self, code="-", size="-"):
        """Says nothing about requests that went well."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    parser = argparse.ArgumentParser(description="task tracker API")
    parser.add_argument("--port", type=int, default=8000)
    Server(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()


if __name__ == "__main__":
    main()
