"""What holds for the service as a whole."""


def test_health_answers_without_a_token(anonymous):
    assert anonymous.get("/health").expect(200).json() == {"status": "ok"}


def test_unknown_path_answers_404(user):
    for path in ("/no-such-path", "/tasks/1/no-such-path", "/"):
        user.get(path).expect(404)


def test_known_path_with_another_method_answers_405(user):
    for method, path in (("PUT", "/projects"), ("DELETE", "/auth/me"), ("POST", "/tasks")):
        user.send(method, path).expect(405)


def test_replies_are_labelled_as_json(user):
    for path in ("/health", "/projects", "/tasks/unknown"):
        label = user.get(path).headers.get("Content-Type", "")
        assert label.split(";")[0].strip() == "application/json", f"GET {path} has the content type `{label}`"


def test_error_objects_have_the_documented_codes(anonymous, user, registration):
    codes = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 409: "conflict"}
    replies = [
        anonymous.get("/auth/me"),
        user.get("/no-such-path"),
        user.get("/tasks/unknown"),
        user.delete("/auth/me"),
        anonymous.post("/auth/register", {**registration, "email": user.email}),
    ]
    # Whether each of these is refused is for other tests; here it matters what a refusal looks like.
    refused = [reply for reply in replies if reply.status in codes]
    assert refused, "none of the requests that must be refused was refused as documented"
    for reply in refused:
        code = codes[reply.status]
        assert reply.error().get("code") == code, f"expected the error code `{code}`, but {reply}"
        assert isinstance(reply.error().get("message"), str), f"expected a message for a person, but {reply}"
