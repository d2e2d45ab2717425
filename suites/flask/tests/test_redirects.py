"""Following short links, and what is counted."""


def clicks(client, code):
    return client.get(f"/api/links/{code}").json()["clicks"]


def test_redirect_leads_to_the_exact_url(client, word):
    url = f"https://example.org/{word}/a%20b?x=1&y=%C3%BC#part"
    code = client.make(url=url)["code"]
    reply = client.click(code)
    assert (reply.status, reply.location) == (302, url)


def test_every_get_is_one_click(client):
    code = client.make()["code"]
    for _ in range(3):
        client.click(code)
    assert clicks(client, code) == 3


def test_head_redirects_and_counts_nothing(client):
    made = client.make()
    reply = client.send("HEAD", f"/{made['code']}")
    assert (reply.status, reply.location) == (302, made["url"])
    assert clicks(client, made["code"]) == 0


def test_unknown_code_is_a_page_not_found(client, word):
    reply = client.get(f"/{word}")
    assert reply.status == 404
    reply.page()


def test_referrers_are_counted_by_host(client):
    code = client.make()["code"]
    for referer in ["https://News.example:8443/today?x=1", "http://news.example/", "https://blog.example/post", None, "no host here"]:
        client.click(code, referer)
    assert client.get(f"/api/links/{code}/stats").json() == {
        "code": code,
        "clicks": 5,
        "referrers": {"news.example": 2, "blog.example": 1, "direct": 2},
    }


def test_stats_of_a_new_link_are_empty(client):
    code = client.make()["code"]
    assert client.get(f"/api/links/{code}/stats").json() == {"code": code, "clicks": 0, "referrers": {}}


def test_totals_follow_links_and_clicks(client):
    before = client.get("/api/stats").json()
    first, second = client.make()["code"], client.make()["code"]
    client.click(first)
    client.click(second)
    client.click(second)
    after = client.get("/api/stats").json()
    assert (after["links"] - before["links"], after["clicks"] - before["clicks"]) == (2, 3)
    client.send("DELETE", f"/api/links/{second}")
    last = client.get("/api/stats").json()
    assert (last["links"] - before["links"], last["clicks"] - before["clicks"]) == (1, 1)


def test_top_is_by_clicks_then_code(client, word):
    highest = max([entry["clicks"] for entry in client.get("/api/stats").json()["top"]], default=0)
    codes = [client.make(code=f"{word}-{letter}")["code"] for letter in "bac"]
    for code, times in zip(codes, [1, 1, 2]):
        for _ in range(highest + times):
            client.click(code)
    top = client.get("/api/stats").json()["top"]
    assert len(top) <= 5
    assert top[:3] == [
        {"code": f"{word}-c", "clicks": highest + 2},
        {"code": f"{word}-a", "clicks": highest + 1},
        {"code": f"{word}-b", "clicks": highest + 1},
    ]
    for code in codes:
        client.send("DELETE", f"/api/links/{code}")


def test_top_has_no_link_without_clicks(client, word):
    client.make(code=f"{word}-never")
    top = client.get("/api/stats").json()["top"]
    assert all(entry["clicks"] > 0 for entry in top), top
