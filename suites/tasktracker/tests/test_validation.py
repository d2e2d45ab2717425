"""Input that the service must refuse, and the limits up to which it must accept."""

import pytest

BAD_EMAILS = [
    "robin.example.org",
    "robin@home@example.org",
    "@example.org",
    "robin@",
    "robin@localhost",
    "robin@example..org",
    "ro bin@example.org",
    "",
    7,
    None,
]
TOO_LONG = "x" * 201
UNKNOWN_STATUSES = ["lost", "DONE", "", None, 1]
UNKNOWN_PRIORITIES = ["urgent", "High", "", None, 1]
IMPOSSIBLE_DAYS = ["2031-02-30", "2031-02-29", "2031-04-31", "2031-13-01", "2031-00-10", "2031-01-00"]
OTHER_FORMS_OF_DATES = [
    "20310504",
    "2031-5-4",
    "04.05.2031",
    "05/04/2031",
    "2031-05-04T00:00:00Z",
    "2031-W18-7",
    "tomorrow",
    "",
    20310504,
    True,
]


@pytest.fixture
def tasks_path(user):
    """Where tasks of a fresh project are made."""
    return f"/projects/{user.project()['id']}/tasks"


# The error object


def test_error_object_of_a_422_names_the_invalid_member(user):
    reply = user.post("/projects", {"description": "A project without a name"}).expect(422)
    assert reply.error().get("code") == "validation_error", f"expected the documented error object, but {reply}"
    assert list(reply.error().get("fields", {})) == ["name"], f"`fields` names the invalid members and no others, but {reply}"


def test_error_object_of_a_422_names_all_invalid_members_at_once(user, tasks_path):
    reply = user.post(tasks_path, {"description": "x" * 2001, "priority": "urgent", "due_date": "soon"}).expect(422)
    fields = reply.error().get("fields", {})
    assert sorted(fields) == ["description", "due_date", "priority", "title"], f"`fields` names all that is wrong, but {reply}"


def test_error_object_of_a_400_has_its_code(user):
    reply = user.post("/projects", raw=b"{").expect(400)
    assert reply.error().get("code") == "bad_request", f"expected the documented error object, but {reply}"


def test_body_that_is_not_json_answers_400(user):
    for raw in (b'{"name": ', b"name=Garden", b""):
        user.post("/projects", raw=raw).expect(400)


def test_body_that_is_json_but_no_object_answers_400(user):
    for raw in (b'["name"]', b'"name"', b"5", b"null"):
        user.post("/projects", raw=raw).expect(400)


# Registration and login


def test_registration_needs_each_member(anonymous, registration):
    for member in registration:
        rest = {name: value for name, value in registration.items() if name != member}
        anonymous.post("/auth/register", rest).expect(422)


def test_registration_refuses_a_bad_email(anonymous, registration):
    for bad in BAD_EMAILS:
        anonymous.post("/auth/register", {**registration, "email": bad}).expect(422)


def test_registration_refuses_a_password_outside_its_limits(anonymous, registration):
    for bad in ("1234567", "x" * 129, 12345678):
        anonymous.post("/auth/register", {**registration, "password": bad}).expect(422)


def test_registration_accepts_a_password_at_its_lower_limit(anonymous, registration):
    anonymous.made("/auth/register", {**registration, "password": "12345678"})


def test_login_needs_each_member(anonymous, user):
    for rest in ({"email": user.email}, {"password": user.password}):
        anonymous.post("/auth/login", rest).expect(422)


def test_login_refuses_a_life_outside_its_limits(anonymous, user):
    for bad in (0, -1, 86401, "60", True):
        reply = anonymous.post("/auth/login", {"email": user.email, "password": user.password, "expires_in": bad})
        reply.expect(422)


# Projects and comments


def test_project_needs_a_name_within_its_limits(user):
    for bad in ({}, {"name": ""}, {"name": "   "}, {"name": "x" * 101}, {"name": 5}, {"name": None}):
        user.post("/projects", bad).expect(422)


def test_project_refuses_a_description_that_is_too_long(user):
    user.post("/projects", {"name": "Garden", "description": "x" * 2001}).expect(422)


def test_comment_needs_a_body_within_its_limits(user):
    path = f"/tasks/{user.task()['id']}/comments"
    for bad in ({}, {"body": ""}, {"body": " \n "}, {"body": "x" * 2001}, {"body": ["text"]}):
        user.post(path, bad).expect(422)


# Tasks


def test_task_needs_a_title(user, tasks_path):
    user.post(tasks_path, {}).expect(422)


def test_task_refuses_a_blank_title(user, tasks_path):
    for bad in ("", "   "):
        user.post(tasks_path, {"title": bad}).expect(422)


def test_task_refuses_a_title_that_is_too_long(user, tasks_path):
    user.post(tasks_path, {"title": TOO_LONG}).expect(422)


def test_task_refuses_a_title_that_is_no_text(user, tasks_path):
    for bad in (5, True, None, ["x"], {"x": 1}):
        user.post(tasks_path, {"title": bad}).expect(422)


def test_task_accepts_a_title_at_its_limit(user):
    for title in ("x", "é" * 200):
        assert user.task(title=title)["title"] == title


def test_white_space_around_a_title_is_removed(user):
    assert user.task(title="  Water the plants\n")["title"] == "Water the plants"


def test_task_refuses_an_unknown_status(user, tasks_path):
    for bad in UNKNOWN_STATUSES:
        user.post(tasks_path, {"title": "Task", "status": bad}).expect(422)


def test_task_refuses_an_unknown_priority(user, tasks_path):
    for bad in UNKNOWN_PRIORITIES:
        user.post(tasks_path, {"title": "Task", "priority": bad}).expect(422)


def test_task_refuses_a_due_date_that_does_not_exist(user, tasks_path):
    for bad in IMPOSSIBLE_DAYS:
        user.post(tasks_path, {"title": "Task", "due_date": bad}).expect(422)


def test_task_refuses_a_due_date_of_another_form(user, tasks_path):
    for bad in OTHER_FORMS_OF_DATES:
        user.post(tasks_path, {"title": "Task", "due_date": bad}).expect(422)


def test_task_accepts_a_leap_day_and_a_past_date(user):
    for day in ("2028-02-29", "1999-12-31"):
        assert user.task(due_date=day)["due_date"] == day


def test_update_of_a_task_refuses_a_bad_title(user):
    path = f"/tasks/{user.task()['id']}"
    for bad in ("", " ", None, TOO_LONG):
        user.patch(path, {"title": bad}).expect(422)


def test_update_of_a_task_refuses_an_unknown_status(user):
    path = f"/tasks/{user.task()['id']}"
    for bad in UNKNOWN_STATUSES:
        user.patch(path, {"status": bad}).expect(422)


def test_update_of_a_task_refuses_an_unknown_priority(user):
    path = f"/tasks/{user.task()['id']}"
    for bad in UNKNOWN_PRIORITIES:
        user.patch(path, {"priority": bad}).expect(422)


def test_update_of_a_task_refuses_a_due_date_that_does_not_exist(user):
    path = f"/tasks/{user.task()['id']}"
    for bad in IMPOSSIBLE_DAYS:
        user.patch(path, {"due_date": bad}).expect(422)


def test_refused_update_changes_nothing(user):
    task = user.task()
    user.patch(f"/tasks/{task['id']}", {"title": "Changed", "priority": "urgent"}).expect(422)
    assert user.get(f"/tasks/{task['id']}").expect(200).json() == task


def test_unknown_members_are_ignored(user):
    assert "colour" not in user.task(colour="green")


# Query parameters


def test_limit_outside_its_range_is_refused(user):
    for bad in ("0", "101", "-1"):
        user.get("/tasks", limit=bad).expect(422)


def test_limit_that_is_no_integer_is_refused(user):
    for bad in ("ten", "1.5", ""):
        user.get("/tasks", limit=bad).expect(422)


def test_bad_offset_is_refused(user):
    for bad in ("-1", "ten"):
        user.get("/tasks", offset=bad).expect(422)


def test_limit_at_its_bounds_is_accepted(user):
    for limit in (1, 100):
        assert user.get("/tasks", limit=limit).expect(200).json()["limit"] == limit


def test_filter_by_an_unknown_status_is_refused(user):
    user.get("/tasks", status="lost").expect(422)


def test_filter_by_an_unknown_priority_is_refused(user):
    user.get("/tasks", priority="urgent").expect(422)


def test_filter_by_a_due_date_that_does_not_exist_is_refused(user):
    user.get("/tasks", due_before="2031-02-30").expect(422)


def test_filter_by_a_due_date_of_another_form_is_refused(user):
    user.get("/tasks", due_before="tomorrow").expect(422)


def test_unknown_sort_is_refused(user):
    user.get("/tasks", sort="title").expect(422)
