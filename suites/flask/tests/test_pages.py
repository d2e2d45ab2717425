"""The HTML pages: the form, the list, the page of one link, and the escaping of what users typed."""

import urllib.parse

HOSTILE = "<script>alert('x')</script> \"quoted\" & <b>bold</b>"


def test_index_has_the_form(client):
    reply = client.get("/")
    assert reply.status == 200
    page = reply.page()
    forms = page.all("form", action="/links")
    assert forms and forms[0]["attrs"].get("method", "").lower() == "post"
    assert {"url", "title", "code"} <= {element["attrs"].get("name") for element in page.all("input")}


def test_index_shows_the_ten_newest(client, word):
    codes = [client.make(title=f"{word} {number}")["code"] for number in range(11)][::-1]
    page = client.get("/").page()
    shown = [element["attrs"]["href"] for element in page.all("a") if element["attrs"].get("href", "")[1:] in codes]
    assert shown == [f"/{code}" for code in codes[:10]]


def test_index_names_links_by_title_or_url(client, word):
    with_title = client.make(title=f"Title {word}")
    without = client.make(url=f"https://example.org/{word}")
    page = client.get("/").page()
    assert [element["text"].strip() for element in page.all("a", href=f"/{with_title['code']}")] == [f"Title {word}"]
    assert [element["text"].strip() for element in page.all("a", href=f"/{without['code']}")] == [f"https://example.org/{word}"]


def test_form_makes_a_link(client, word):
    reply = client.form("/links", url=f"https://example.org/{word}", title="From the form", code=word)
    assert reply.status == 303
    assert urllib.parse.urlsplit(reply.location).path == f"/links/{word}"
    link = client.get(f"/api/links/{word}").json()
    assert (link["url"], link["title"]) == (f"https://example.org/{word}", "From the form")


def test_form_with_empty_code_gets_one(client, word):
    reply = client.form("/links", url=f"https://example.org/{word}", title="", code="")
    assert reply.status == 303
    assert client.get("/api/links", q=word).json()["total"] == 1


def test_form_refuses_and_keeps_what_was_entered(client, word):
    reply = client.form("/links", url=f"javascript:{word}", title="Kept title", code=word)
    assert reply.status == 422
    page = reply.page()
    assert any(element["text"].strip() for element in page.with_class("error"))
    values = {element["attrs"].get("name"): element["attrs"].get("value") for element in page.all("input")}
    assert (values["url"], values["title"], values["code"]) == (f"javascript:{word}", "Kept title", word)
    assert client.get(f"/api/links/{word}").status == 404


def test_form_with_taken_code_is_a_conflict(client, word):
    client.make(code=word)
    reply = client.form("/links", url="https://example.org/", code=word)
    assert reply.status == 409
    assert any(element["text"].strip() for element in reply.page().with_class("error"))


def test_page_of_a_link_shows_title_url_and_clicks(client, word):
    made = client.make(title=f"Title {word}", url=f"https://example.org/{word}?a=1&b=2")
    client.click(made["code"])
    for _ in range(2):
        page = client.get(f"/links/{made['code']}").page()
    assert f"Title {word}" in page.text
    assert page.all("a", href=made["url"])
    assert [element["text"].strip() for element in page.all("span", id="clicks")] == ["1"]


def test_page_of_an_unknown_link_is_not_found(client, word):
    reply = client.get(f"/links/{word}")
    assert reply.status == 404
    reply.page()


def no_markup_of_the_user(reply):
    page = reply.page()
    assert "<b>bold" not in reply.text and "alert('x')</script>" not in reply.text
    assert not page.all("b") and not any("alert" in element["text"] for element in page.all("script"))
    return page


def test_index_escapes_titles(client):
    code = client.make(title=HOSTILE)["code"]
    reply = client.get("/")
    # Removed at once, so that no later page of another test shows it.
    client.send("DELETE", f"/api/links/{code}")
    page = no_markup_of_the_user(reply)
    assert [element["text"].strip() for element in page.all("a", href=f"/{code}")] == [HOSTILE]


def test_page_of_a_link_escapes_title_and_url(client, word):
    url = f"https://example.org/{word}?q=\"><b>bold</b>&x='y'"
    code = client.make(title=HOSTILE, url=url)["code"]
    reply = client.get(f"/links/{code}")
    client.send("DELETE", f"/api/links/{code}")
    page = no_markup_of_the_user(reply)
    assert HOSTILE in page.text
    assert page.all("a", href=url)


def test_form_escapes_what_was_entered(client):
    entered = "\"><b>bold</b><script>alert('x')</script>"
    page = no_markup_of_the_user(client.form("/links", url=entered, title=entered, code=entered))
    values = {element["attrs"].get("name"): element["attrs"].get("value") for element in page.all("input")}
    assert (values["url"], values["title"], values["code"]) == (entered, entered, entered)
