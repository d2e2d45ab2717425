"""Input that the service must refuse, and the limits up to which it must accept."""

import pytest

PAST_THE_END = "x" * 201
BAD_DATES = {
    "impossible-day": "2031-02-30",
    "impossible-month": "2031-13-01",
    "no-leap-year": "2031-02-29",
    "no-dashes": "20310504",
    "one-digit": "2031-5-4",
    "day-first": "04.05.2031",
    "timestamp": "2031-05-04T00:00:00Z",
    "week": "2031-W18-7",
    "word": "tomorrow",
    "empty": "",
    "number": 20310504,
}
BAD_EMAILS = {
    "no-at": "robin.example.org",
    "two-ats": "robin@home@example.org",
    "no-name": "@example.org",
    "no-domain": "robin@",
    "no-dot": "robin@localhost",
    "empty-part": "robin@example..org",
    "inner-space": "ro bin@example.org",
    "empty": "",
    "number": 7,
    "null": None,
}


def cases(table):
    return [pytest.param(value, id=name) for name, value in table.items()]


def assert_invalid(reply, *members):
    """The reply is a 422 that names each of these members."""
    reply.expect(422)
    named = reply.error().get("fields") or {}
    missing = [member for member in members if member not in named]
    assert not missing, f"`error.fields` does not name {missing}: {reply}"


@pytest.fixture
def tasks_path(user):
    """Where tasks of a fresh project are made."""
    return f"/projects/{user.project()['id']}/tasks"


# The error object


def test_invalid_values_answer_the_documented_error_object(user):
    error = user.post("/projects", {"name": ""}).expect(422).error()
    assert error.get("code") == "validation_error"
    assert isinstance(error.get("message"), str) and error["message"]
    assert list(error.get("fields", {})) == ["name"], "`fields` names the invalid members and no others"


def test_all_invalid_members_are_named_at_once(user, tasks_path):
    reply = user.post(tasks_path, {"title": "", "status": "lost", "priority": "urgent", "due_date": "soon"})
    assert_invalid(reply, "title", "status", "priority", "due_date")


@pytest.mark.parametrize("raw", [b'{"name": ', b'["name"]', b'"name"', b""], ids=["cut-off", "array", "text", "empty"])
def test_body_that_is_no_json_object_answers_400(user, raw):
    reply = user.post("/projects", raw=raw).expect(400)
    assert reply.error().get("code") == "bad_request", f"expected the documented error object, but {reply}"


# Registration and login


@pytest.mark.parametrize("member", ["email", "password", "name"])
def test_registration_needs_each_member(anonymous, registration, member):
    del registration[member]
    assert_invalid(anonymous.post("/auth/register", registration), member)


@pytest.mark.parametrize("bad", cases(BAD_EMAILS))
def test_registration_refuses_a_bad_email(anonymous, registration, bad):
    assert_invalid(anonymous.post("/auth/register", {**registration, "email": bad}), "email")


def test_registration_refuses_a_password_outside_its_limits(anonymous, registration):
    for bad in ("1234567", "x" * 129, 12345678):
        assert_invalid(anonymous.post("/auth/register", {**registration, "password": bad}), "password")


def test_registration_accepts_a_password_at_its_lower_limit(anonymous, registration):
    anonymous.made("/auth/register", {**registration, "password": "12345678"})


def test_login_needs_each_member(anonymous):
    assert_invalid(anonymous.post("/auth/login", {}), "email", "password")


def test_login_refuses_a_life_outside_its_limits(anonymous, user):
    for bad in (0, -1, 86401, "60", True):
        reply = anonymous.post("/auth/login", {"email": user.email, "password": user.password, "expires_in": bad})
        assert_invalid(reply, "expires_in")


# Projects and comments


def test_project_needs_a_name_within_its_limits(user):
    for bad in ({}, {"name": ""}, {"name": "   "}, {"name": "x" * 101}, {"name": 5}, {"name": None}):
        assert_invalid(user.post("/projects", bad), "name")


def test_project_refuses_a_description_that_is_too_long(user):
    assert_invalid(user.post("/projects", {"name": "Garden", "description": "x" * 2001}), "description")


def test_comment_needs_a_body_within_its_limits(user):
    path = f"/tasks/{user.task()['id']}/comments"
    for bad in ({}, {"body": ""}, {"body": " \n "}, {"body": "x" * 2001}, {"body": ["text"]}):
        assert_invalid(user.post(path, bad), "body")


# Tasks


def test_task_needs_a_title(user, tasks_path):
    assert_invalid(user.post(tasks_path, {}), "title")


def test_task_refuses_a_blank_title(user, tasks_path):
    for bad in ("", "   "):
        assert_invalid(user.post(tasks_path, {"title": bad}), "title")


def test_task_refuses_a_title_that_is_too_long(user, tasks_path):
    assert_invalid(user.post(tasks_path, {"title": PAST_THE_END}), "title")


def test_task_refuses_a_title_that_is_no_text(user, tasks_path):
    for bad in (5, True, None, ["x"], {"x": 1}):
        assert_invalid(user.post(tasks_path, {"title": bad}), "title")


def test_task_accepts_a_title_at_its_limit(user):
    for title in ("x", "é" * 200):
        assert user.task(title=title)["title"] == title


def test_white_space_around_a_title_is_removed(user):
    assert user.task(title="  Water the plants\n")["title"] == "Water the plants"


@pytest.mark.parametrize("bad", ["lost", "DONE", "", None, 1], ids=["word", "capitals", "empty", "null", "number"])
def test_task_refuses_an_unknown_status(user, tasks_path, bad):
    assert_invalid(user.post(tasks_path, {"title": "Task", "status": bad}), "status")


@pytest.mark.parametrize("bad", ["urgent", "High", "", None, 1], ids=["word", "capitals", "empty", "null", "number"])
def test_task_refuses_an_unknown_priority(user, tasks_path, bad):
    assert_invalid(user.post(tasks_path, {"title": "Task", "priority": bad}), "priority")


@pytest.mark.parametrize("bad", cases(BAD_DATES))
def test_task_refuses_a_bad_due_date(user, tasks_path, bad):
    assert_invalid(user.post(tasks_path, {"title": "Task", "due_date": bad}), "due_date")


def test_task_accepts_a_leap_day_and_a_past_date(user):
    for day in ("2028-02-29", "1999-12-31"):
        assert user.task(due_date=day)["due_date"] == day


@pytest.mark.parametrize(
    ("member", "bad"),
    [("title", " "), ("title", None), ("status", "lost"), ("priority", "urgent"), ("due_date", "2031-02-30")],
    ids=["blank-title", "null-title", "status", "priority", "due-date"],
)
def test_update_of_a_task_is_checked_like_its_creation(user, member, bad):
    task = user.task()
    assert_invalid(user.patch(f"/tasks/{task['id']}", {member: bad}), member)


def test_refused_update_changes_nothing(user):
    task = user.task()
    user.patch(f"/tasks/{task['id']}", {"title": "Changed", "priority": "urgent"}).expect(422)
    assert user.get(f"/tasks/{task['id']}").expect(200).json() == task


def test_unknown_members_are_ignored(user):
    assert "colour" not in user.task(colour="green")


# Query parameters


@pytest.mark.parametrize("bad", ["0", "101", "-1", "ten", "1.5", ""], ids=["zero", "too-many", "negative", "word", "fraction", "empty"])
def test_bad_limit_is_refused(user, bad):
    assert_invalid(user.get("/tasks", limit=bad), "limit")


@pytest.mark.parametrize("bad", ["-1", "ten"], ids=["negative", "word"])
def test_bad_offset_is_refused(user, bad):
    assert_invalid(user.get("/tasks", offset=bad), "offset")


def test_limit_at_its_bounds_is_accepted(user):
    for limit in (1, 100):
        assert user.get("/tasks", limit=limit).expect(200).json()["limit"] == limit


@pytest.mark.parametrize(
    ("parameter", "bad"),
    [("status", "lost"), ("priority", "urgent"), ("due_before", "2031-02-30"), ("sort", "title")],
    ids=["status", "priority", "due-before", "sort"],
)
def test_bad_filter_is_refused(user, parameter, bad):
    assert_invalid(user.get("/tasks", **{parameter: bad}), parameter)
