"""The reference answer to suites/flask: every rule of its requirements, in one file, so that a break is one replaced text."""

import argparse
import re
import secrets
import string
from datetime import datetime, timezone
from urllib.parse import urlsplit

from flask import Flask, jsonify, make_response, render_template_string, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
app.json.sort_keys = False

# Insertion order is creation order: the last link is the newest.
links = {}
referrers = {}

RESERVED = {"api", "health", "links", "stats"}


class Refused(Exception):
    """A request that breaks a rule, with the status and field to report."""

    def __init__(self, status, message, field=None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.field = field


def valid_url(value):
    if not isinstance(value, str) or not value.strip():
        raise Refused(422, "url is required", "url")
    value = value.strip()
    if len(value) > 2000:
        raise Refused(422, "url is longer than 2000 characters", "url")
    if not re.fullmatch(r"[!-~]+", value):
        raise Refused(422, "url has characters that are not allowed", "url")
    try:
        parts = urlsplit(value)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme.lower() not in ("http", "https"):
        raise Refused(422, "url is no http or https address", "url")
    return value


def valid_title(value):
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refused(422, "title is not text", "title")
    if len(value.strip()) > 100:
        raise Refused(422, "title is longer than 100 characters", "title")
    return value.strip()


def valid_code(value):
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_-]{3,20}", value):
        raise Refused(422, "code is not 3 to 20 letters, digits, - or _", "code")
    if value.lower() in RESERVED:
        raise Refused(422, "code is a reserved word", "code")
    return value


def check_url(value):
    return valid_url(value)


def check_title(value):
    return valid_title(value)


def check_code(value):
    return valid_code(value)


def free_code():
    while True:
        code = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(6))
        if code not in links and code.lower() not in RESERVED:
            return code


def create(url, title, code):
    url, title = check_url(url), check_title(title)
    code = free_code() if code is None else check_code(code)
    if code in links:
        raise Refused(409, "code is taken", "code")
    created_at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    links[code] = {"code": code, "url": url, "title": title, "clicks": 0, "created_at": created_at}
    referrers[code] = {}
    return links[code]


def find(code):
    if code not in links:
        raise Refused(404, "there is no such link")
    return links[code]


def json_object():
    body = request.get_json(force=True, silent=True)
    if not isinstance(body, dict):
        raise Refused(400, "the body is no JSON object")
    return body


def query_number(name, default, lowest, highest):
    text = request.args.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or not lowest <= int(text) <= highest:
        raise Refused(422, f"{name} is not a whole number in its range", name)
    return int(text)


@app.get("/health")
def health():
    return jsonify(status="ok")


@app.post("/api/links")
def api_create():
    body = json_object()
    link = create(body.get("url"), body.get("title"), body.get("code"))
    return jsonify(link), 201, {"Location": f"/api/links/{link['code']}"}


@app.get("/api/links")
def api_list():
    limit, offset = query_number("limit", 20, 1, 100), query_number("offset", 0, 0, 10**9)
    wanted = request.args.get("q", "").lower()
    found = [link for link in reversed(links.values()) if wanted in link["url"].lower() or wanted in link["title"].lower()]
    return jsonify(links=found[offset : offset + limit], total=len(found))


@app.get("/api/links/<code>")
def api_read(code):
    return jsonify(find(code))


@app.patch("/api/links/<code>")
def api_change(code):
    link, body = find(code), json_object()
    change = {}
    if "url" in body:
        change["url"] = check_url(body["url"])
    if "title" in body:
        change["title"] = check_title(body["title"])
    if "code" in body:
        raise Refused(422, "code cannot be changed", "code")
    link.update(change)
    return jsonify(link)


@app.delete("/api/links/<code>")
def api_delete(code):
    find(code)
    del links[code], referrers[code]
    return "", 204


@app.get("/api/links/<code>/stats")
def api_link_stats(code):
    link = find(code)
    return jsonify(code=code, clicks=link["clicks"], referrers=referrers[code])


@app.get("/api/stats")
def api_stats():
    clicked = sorted((link for link in links.values() if link["clicks"]), key=lambda link: (-link["clicks"], link["code"]))
    top = [{"code": link["code"], "clicks": link["clicks"]} for link in clicked[:5]]
    return jsonify(links=len(links), clicks=sum(link["clicks"] for link in links.values()), top=top)


LAYOUT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Short links</title></head>
<body>
%s
</body>
</html>
"""

INDEX = LAYOUT % """<h1>Short links</h1>
{% if error %}<p class="error">{{ error }}</p>{% endif %}
<form method="post" action="/links">
<label>Address <input name="url" value="{{ entered.url }}"></label>
<label>Title <input name="title" value="{{ entered.title }}"></label>
<label>Code <input name="code" value="{{ entered.code }}"></label>
<button>Shorten</button>
</form>
<ul>
{% for link in newest %}<li><a href="/{{ link.code }}">{{ link.title or link.url }}</a></li>
{% endfor %}</ul>"""

DETAIL = LAYOUT % """<h1>{{ link.title or link.code }}</h1>
<p>Leads to <a href="{{ link.url }}">{{ link.url }}</a></p>
<p>Clicks: <span id="clicks">{{ link.clicks }}</span></p>"""

PROBLEM = LAYOUT % """<h1>{{ status }}</h1>
<p class="error">{{ message }}</p>"""


def index_page(entered, error=None):
    newest = list(reversed(links.values()))[:10]
    return render_template_string(INDEX, newest=newest, entered=entered, error=error)


@app.get("/")
def index():
    return index_page({"url": "", "title": "", "code": ""})


@app.post("/links")
def form_create():
    entered = {name: request.form.get(name, "") for name in ("url", "title", "code")}
    try:
        link = create(entered["url"], entered["title"], entered["code"] or None)
    except Refused as refused:
        return index_page(entered, refused.message), refused.status
    return "", 303, {"Location": f"/links/{link['code']}"}


@app.get("/links/<code>")
def detail(code):
    return render_template_string(DETAIL, link=find(code))


@app.get("/<code>")
def follow(code):
    link = find(code)
    if request.method == "GET":
        link["clicks"] += 1
        try:
            host = urlsplit(request.headers.get("Referer", "")).hostname or "direct"
        except ValueError:
            host = "direct"
        referrers[code][host] = referrers[code].get(host, 0) + 1
    response = make_response("", 302)
    response.headers["Location"] = link["url"]
    return response


@app.errorhandler(Refused)
def refused_answer(refused):
    return problem(refused.status, refused.message, refused.field)


@app.errorhandler(HTTPException)
def http_answer(error):
    return problem(error.code, error.name)


def problem(status, message, field=None):
    if not request.path.startswith("/api/"):
        return render_template_string(PROBLEM, status=status, message=message), status
    body = {"error": message}
    if field:
        body["field"] = field
    return jsonify(body), status


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    # One thread: the links are plain dictionaries.
    app.run(host="127.0.0.1", port=parser.parse_args().port, threaded=False)
