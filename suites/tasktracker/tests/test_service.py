"""What holds for the service as a whole."""


def test_health_answers_without_a_token(anonymous):
    assert anonymous.get("/health").expect(200).json() == {"status": "ok"}


def test_unknown_path_answers_404_with_the_error_object(anonymous):
    reply = anonymous.get("/no-such-path").expect(404)
    assert reply.error().get("code") == "not_found", f"expected the documented error object, but {reply}"


def test_known_path_with_another_method_answers_405(user):
    for method, path in (("PUT", "/projects"), ("DELETE", "/auth/me"), ("POST", "/tasks")):
        reply = user.send(method, path).expect(405)
        assert reply.error().get("code") == "method_not_allowed", f"expected the documented error object, but {reply}"


def test_replies_are_labelled_as_json(user):
    for path in ("/health", "/projects", "/tasks/unknown"):
        label = user.get(path).headers.get("Content-Type", "")
        assert label.split(";")[0].strip() == "application/json", f"GET {path} has the content type `{label}`"
