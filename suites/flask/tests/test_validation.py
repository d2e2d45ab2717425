"""What the service refuses, by status, field and effect. Each rule is also tried from its allowed side."""

import pytest

BAD_URLS = {
    "no-scheme": "example.org/page",
    "javascript": "javascript:alert(1)",
    "ftp": "ftp://example.org/file",
    "no-host": "https:///page",
    "space-inside": "https://example.org/a page",
    "line-break-inside": "https://example.org/a\r\nX-Header: b",
    "not-ascii": "https://example.org/ü",
    "blank": "   ",
    "too-long": "https://example.org/" + "a" * 1981,
    "not-text": 42,
    "null": None,
}
BAD_CODES = {
    "too-short": "ab",
    "too-long": "a" * 21,
    "slash": "abc/def",
    "umlaut": "grün",
    "blank-inside": "ab cd",
    "not-text": 12345,
    "reserved": "api",
    "reserved-any-case": "Stats",
}


def refused(reply, field):
    assert reply.status == 422, f"answered with {reply.status}: {reply.text[:200]}"
    assert reply.json()["field"] == field
    assert isinstance(reply.json()["error"], str) and reply.json()["error"]


@pytest.mark.parametrize("url", BAD_URLS.values(), ids=BAD_URLS.keys())
def test_bad_url_is_refused(client, url):
    refused(client.send_json("POST", "/api/links", {"url": url}), "url")


def test_missing_url_is_refused(client):
    refused(client.send_json("POST", "/api/links", {"title": "No address"}), "url")


def test_longest_url_and_capital_scheme_are_accepted(client):
    longest = "https://example.org/" + "a" * 1980
    assert client.make(url=longest)["url"] == longest
    assert client.make(url="HTTPS://example.org/")["url"] == "HTTPS://example.org/"


@pytest.mark.parametrize("code", BAD_CODES.values(), ids=BAD_CODES.keys())
def test_bad_code_is_refused(client, code):
    refused(client.send_json("POST", "/api/links", {"url": "https://example.org/", "code": code}), "code")


def test_code_of_every_allowed_sign_is_accepted(client, word):
    code = f"{word[:9]}-_Z9"
    assert client.make(code=code)["code"] == code
    assert client.make(code=word[1:4])["code"] == word[1:4]


def test_title_has_a_limit(client):
    refused(client.send_json("POST", "/api/links", {"url": "https://example.org/", "title": "t" * 101}), "title")
    refused(client.send_json("POST", "/api/links", {"url": "https://example.org/", "title": ["a"]}), "title")
    assert client.make(title="ü" * 100)["title"] == "ü" * 100


def test_first_broken_field_is_reported(client):
    refused(client.send_json("POST", "/api/links", {"code": "x", "title": "t" * 101, "url": "nothing"}), "url")
    refused(client.send_json("POST", "/api/links", {"code": "x", "title": "t" * 101, "url": "https://example.org/"}), "title")


@pytest.mark.parametrize("body", [b"{not json", b"", b'["https://example.org/"]', b'"text"'], ids=["broken", "empty", "list", "text"])
def test_body_that_is_no_object_is_a_bad_request(client, body):
    reply = client.send("POST", "/api/links", body, {"Content-Type": "application/json"})
    assert reply.status == 400 and reply.json()["error"]


def test_refused_link_is_not_kept(client, word):
    assert client.send_json("POST", "/api/links", {"url": "nothing", "code": word}).status == 422
    assert client.get(f"/api/links/{word}").status == 404


@pytest.mark.parametrize(
    "query",
    [{"limit": "0"}, {"limit": "101"}, {"limit": "ten"}, {"offset": "-1"}, {"offset": "1.5"}],
    ids=lambda query: "-".join(*query.items()),
)
def test_bad_paging_is_refused(client, query):
    refused(client.get("/api/links", **query), *query)


def test_bad_change_is_refused_and_changes_nothing(client):
    made = client.make(title="Kept")
    path = f"/api/links/{made['code']}"
    refused(client.send_json("PATCH", path, {"title": "Lost", "url": "javascript:alert(1)"}), "url")
    refused(client.send_json("PATCH", path, {"title": "t" * 101}), "title")
    assert client.get(path).json() == made


def test_code_cannot_be_changed(client, word):
    made = client.make()
    refused(client.send_json("PATCH", f"/api/links/{made['code']}", {"code": word}), "code")
    assert client.get(f"/api/links/{word}").status == 404
