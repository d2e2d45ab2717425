"""The JSON API: making, reading, listing, changing and removing links."""

import re


def test_health(client):
    reply = client.get("/health")
    assert (reply.status, reply.json()) == (200, {"status": "ok"})


def test_create_returns_the_link(client, word):
    reply = client.send_json("POST", "/api/links", {"url": f"  https://example.org/{word}?a=1&b=2 ", "title": "  Two words "})
    assert reply.status == 201
    link = reply.json()
    assert set(link) == {"code", "url", "title", "clicks", "created_at"}
    assert (link["url"], link["title"], link["clicks"]) == (f"https://example.org/{word}?a=1&b=2", "Two words", 0)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", link["created_at"])
    assert reply.location.endswith(f"/api/links/{link['code']}")


def test_generated_codes_are_six_letters_or_digits_and_differ(client, word):
    codes = [client.make(url=f"https://example.org/{word}")["code"] for _ in range(20)]
    assert all(re.fullmatch(r"[A-Za-z0-9]{6}", code) for code in codes), codes
    assert len(set(codes)) == 20


def test_null_title_and_code_mean_none(client):
    link = client.make(title=None, code=None)
    assert link["title"] == "" and len(link["code"]) == 6


def test_own_code_is_used_and_can_be_read(client, word):
    made = client.make(code=word, title="Own")
    assert made["code"] == word
    reply = client.get(f"/api/links/{word}")
    assert (reply.status, reply.json()) == (200, made)


def test_codes_are_case_sensitive(client, word):
    lower, upper = client.make(code=word), client.make(code=word.upper())
    assert client.get(f"/api/links/{word}").json()["url"] == lower["url"]
    assert client.get(f"/api/links/{word.upper()}").json()["url"] == upper["url"]


def test_taken_code_is_a_conflict(client, word):
    first = client.make(code=word)
    reply = client.send_json("POST", "/api/links", {"url": "https://example.org/other", "code": word})
    assert (reply.status, reply.json()["field"]) == (409, "code")
    assert reply.json()["error"]
    assert client.get(f"/api/links/{word}").json()["url"] == first["url"]


def test_unknown_code_is_not_found_as_json(client, word):
    for method, path in [("GET", ""), ("DELETE", ""), ("GET", "/stats")]:
        reply = client.send(method, f"/api/links/{word}{path}")
        assert reply.status == 404 and reply.json()["error"], f"{method} {path}"
    assert client.send_json("PATCH", f"/api/links/{word}", {"title": "x"}).status == 404


def test_unknown_path_and_method_are_json_errors(client):
    missing = client.get("/api/nothing-here")
    assert missing.status == 404 and missing.json()["error"]
    wrong = client.send("DELETE", "/api/links")
    assert wrong.status == 405 and wrong.json()["error"]


def test_list_is_newest_first(client, word):
    codes = [client.make(url=f"https://example.org/{word}/{number}")["code"] for number in range(3)]
    listed = client.get("/api/links", q=word).json()
    assert [link["code"] for link in listed["links"]] == codes[::-1]
    assert listed["total"] == 3


def test_list_pages_with_limit_and_offset(client, word):
    codes = [client.make(url=f"https://example.org/{word}/{number}")["code"] for number in range(5)][::-1]
    part = client.get("/api/links", q=word, limit=2, offset=1).json()
    assert [link["code"] for link in part["links"]] == codes[1:3]
    assert part["total"] == 5
    beyond = client.get("/api/links", q=word, offset=5).json()
    assert (beyond["links"], beyond["total"]) == ([], 5)


def test_list_shows_twenty_unless_told(client, word):
    for _ in range(21):
        client.make(url=f"https://example.org/{word}")
    listed = client.get("/api/links", q=word).json()
    assert (len(listed["links"]), listed["total"]) == (20, 21)


def test_search_looks_in_url_and_title_and_ignores_case(client, word):
    by_title = client.make(title=f"About {word.upper()}")["code"]
    by_url = client.make(url=f"https://example.org/{word}/x")["code"]
    client.make()
    found = client.get("/api/links", q=word).json()
    assert [link["code"] for link in found["links"]] == [by_url, by_title]


def test_change_title_and_url(client, word):
    made = client.make(title="Before")
    reply = client.send_json("PATCH", f"/api/links/{made['code']}", {"title": " After "})
    assert (reply.status, reply.json()) == (200, {**made, "title": "After"})
    changed = client.send_json("PATCH", f"/api/links/{made['code']}", {"url": f"http://example.net/{word}"}).json()
    assert changed == {**made, "title": "After", "url": f"http://example.net/{word}"}
    assert client.get(f"/api/links/{made['code']}").json() == changed
    assert client.click(made["code"]).location == f"http://example.net/{word}"


def test_delete_removes_and_frees_the_code(client, word):
    client.make(code=word)
    reply = client.send("DELETE", f"/api/links/{word}")
    assert (reply.status, reply.text) == (204, "")
    assert client.get(f"/api/links/{word}").status == 404
    assert client.get(f"/{word}").status == 404
    assert client.make(code=word)["clicks"] == 0
