"""Tasks: their life, who may see them, and how they are found."""

import re

import pytest

MEMBERS = {
    "id", "project_id", "owner_id", "title", "description", "status", "priority", "due_date", "completed_at", "created_at", "updated_at",
}  # fmt: skip
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def titles(tasks):
    return [task["title"] for task in tasks]


# Creating and reading


def test_create_task_answers_201(user):
    project = user.project()
    user.post(f"/projects/{project['id']}/tasks", {"title": "Water the plants"}).expect(201)


def test_created_task_has_every_value_that_was_sent(user):
    project = user.project()
    sent = {"title": "Prune", "description": "The roses", "status": "in_progress", "priority": "high", "due_date": "2031-05-04"}
    task = user.made(f"/projects/{project['id']}/tasks", sent)
    assert MEMBERS <= set(task), f"missing: {sorted(MEMBERS - set(task))}"
    assert {name: task[name] for name in sent} == sent
    assert (task["project_id"], task["owner_id"]) == (project["id"], user.record["id"])


def test_created_task_has_the_documented_defaults(user):
    task = user.task()
    defaults = {"description": "", "status": "todo", "priority": "medium", "due_date": None, "completed_at": None}
    assert {name: task[name] for name in defaults} == defaults


def test_task_carries_timestamps_in_utc(user):
    task = user.task()
    for name in ("created_at", "updated_at"):
        assert TIMESTAMP.fullmatch(task[name]), f"`{name}` is `{task[name]}`, not a timestamp such as 2031-05-04T09:30:00Z"


def test_members_that_only_the_service_sets_are_ignored(user, other):
    sent = {"id": "mine", "owner_id": other.record["id"], "created_at": "1999-01-01T00:00:00Z", "completed_at": "1999-01-01T00:00:00Z"}
    task = user.task(**sent)
    for name, value in sent.items():
        assert task[name] != value, f"a client could set `{name}`"


def test_text_survives_exactly(user):
    title = 'Zoë\'s "tasks"; DROP TABLE tasks; -- <b>100 %</b> 日本語 🌱'
    task = user.task(title=title)
    assert user.get(f"/tasks/{task['id']}").expect(200).json()["title"] == title


def test_task_can_be_read_by_its_id(user):
    task = user.task()
    assert user.get(f"/tasks/{task['id']}").expect(200).json() == task


def test_unknown_task_answers_404(user):
    for method, body in (("GET", None), ("PATCH", {"title": "Changed"}), ("DELETE", None)):
        user.send(method, "/tasks/unknown", body).expect(404)


def test_task_in_an_unknown_project_answers_404(user):
    user.post("/projects/unknown/tasks", {"title": "Nowhere"}).expect(404)


# Changing


def test_update_task_changes_only_what_was_sent(user):
    task = user.task(description="Twice a week", priority="high", due_date="2031-05-04")
    changed = user.patch(f"/tasks/{task['id']}", {"title": "Water everything"}).expect(200).json()
    ignored = ("title", "updated_at")
    assert changed["title"] == "Water everything"
    assert {k: v for k, v in changed.items() if k not in ignored} == {k: v for k, v in task.items() if k not in ignored}


def test_updated_task_stays_updated(user):
    task = user.task()
    user.patch(f"/tasks/{task['id']}", {"priority": "low"})
    assert user.get(f"/tasks/{task['id']}").expect(200).json()["priority"] == "low"


def test_due_date_is_removed_by_null(user):
    task = user.task(due_date="2031-05-04")
    assert user.patch(f"/tasks/{task['id']}", {"due_date": None}).expect(200).json()["due_date"] is None


def test_completing_a_task_sets_completed_at(user):
    task = user.task()
    done = user.patch(f"/tasks/{task['id']}", {"status": "done"}).expect(200).json()
    assert TIMESTAMP.fullmatch(done["completed_at"] or ""), f"`completed_at` of a task that is done is `{done['completed_at']}`"


def test_task_created_as_done_has_completed_at(user):
    assert user.task(status="done")["completed_at"] is not None


def test_reopening_a_task_clears_completed_at(user):
    task = user.task(status="done")
    assert user.patch(f"/tasks/{task['id']}", {"status": "todo"}).expect(200).json()["completed_at"] is None


# Deleting


def test_delete_task_answers_204_without_body(user):
    reply = user.delete(f"/tasks/{user.task()['id']}").expect(204)
    assert reply.raw == b"", "a 204 reply has no body"


def test_deleted_task_is_gone(user):
    project = user.project()
    kept, removed = user.task(project), user.task(project)
    user.delete(f"/tasks/{removed['id']}")
    user.get(f"/tasks/{removed['id']}").expect(404)
    assert [task["id"] for task in user.items("/tasks", project_id=project["id"])] == [kept["id"]]


# Isolation


def test_list_of_tasks_leaves_out_those_of_others(user, other):
    own = user.task()
    other.task()
    page = user.get("/tasks").expect(200).json()
    assert [task["id"] for task in page["items"]] == [own["id"]], "only own tasks may be listed"
    assert page["total"] == 1, "`total` must not count tasks of others"


def test_filter_by_project_does_not_reveal_tasks_of_others(user, other):
    task = other.task()
    assert user.items("/tasks", project_id=task["project_id"]) == []


def test_task_of_another_user_cannot_be_read(user, other):
    user.get(f"/tasks/{other.task()['id']}").expect(404)


def test_task_of_another_user_cannot_be_changed(user, other):
    task = other.task()
    user.patch(f"/tasks/{task['id']}", {"title": "Mine now"}).expect(404)
    assert other.get(f"/tasks/{task['id']}").expect(200).json()["title"] == task["title"], "the task must be untouched"


def test_task_of_another_user_cannot_be_deleted(user, other):
    task = other.task()
    user.delete(f"/tasks/{task['id']}").expect(404)
    other.get(f"/tasks/{task['id']}").expect(200)


# Filters. Each list is narrowed to the test's own project, so that tasks of others could not disturb it.


def test_filter_by_project(user):
    first, second = user.project("First"), user.project("Second")
    wanted = user.task(first)
    user.task(second)
    assert [task["id"] for task in user.items("/tasks", project_id=first["id"])] == [wanted["id"]]


def test_filter_by_status(user):
    project = user.project()
    for status in ("todo", "in_progress", "done"):
        user.task(project, title=status, status=status)
    for status in ("todo", "in_progress", "done"):
        assert titles(user.items("/tasks", project_id=project["id"], status=status)) == [status]


def test_filter_by_priority(user):
    project = user.project()
    for priority in ("low", "medium", "high"):
        user.task(project, title=priority, priority=priority)
    assert titles(user.items("/tasks", project_id=project["id"], priority="high")) == ["high"]


def test_filter_by_due_date_excludes_the_day_itself_and_undated_tasks(user):
    project = user.project()
    for title, due in (("before", "2031-05-03"), ("on the day", "2031-05-04"), ("after", "2031-05-05"), ("undated", None)):
        user.task(project, title=title, due_date=due)
    assert titles(user.items("/tasks", project_id=project["id"], due_before="2031-05-04")) == ["before"]


def test_search_ignores_case(user):
    project = user.project()
    user.task(project, title="Water the ROSES")
    user.task(project, title="Mow the lawn")
    assert titles(user.items("/tasks", project_id=project["id"], q="roses")) == ["Water the ROSES"]


def test_search_takes_every_character_literally(user):
    project = user.project()
    literal = ["has 50% inside", "has a_b inside", "has (.*) inside"]
    for title in ["at 50 now", "axb", "plain", *literal]:
        user.task(project, title=title)
    for title in literal:
        wanted = title.split()[1]
        assert titles(user.items("/tasks", project_id=project["id"], q=wanted)) == [title], f"searched for `{wanted}`"


def test_filters_combine(user):
    project = user.project()
    user.task(project, title="wanted", status="done", priority="high")
    user.task(project, title="wrong status", status="todo", priority="high")
    user.task(project, title="wrong priority", status="done", priority="low")
    page = user.get("/tasks", project_id=project["id"], status="done", priority="high").expect(200).json()
    assert titles(page["items"]) == ["wanted"]
    assert page["total"] == 1, "`total` counts the tasks that pass the filters"


# Order and pages


def test_tasks_are_listed_in_order_of_creation(user):
    project = user.project()
    wanted = [f"Task {number}" for number in range(5)]
    for title in wanted:
        user.task(project, title=title)
    assert titles(user.items("/tasks", project_id=project["id"])) == wanted


def test_tasks_can_be_sorted_newest_first(user):
    project = user.project()
    for title in ("first", "second", "third"):
        user.task(project, title=title)
    assert titles(user.items("/tasks", project_id=project["id"], sort="-created_at")) == ["third", "second", "first"]


@pytest.fixture
def dated_project(user):
    """A project whose tasks stand in no order of their dates, two of them of one day and one without a date."""
    project = user.project()
    dates = {"undated": None, "middle": "2031-05-04", "late": "2032-01-01", "early": "2030-12-31", "also middle": "2031-05-04"}
    for title, due in dates.items():
        user.task(project, title=title, due_date=due)
    return project


def test_tasks_can_be_sorted_by_due_date_with_undated_ones_last(user, dated_project):
    wanted = ["early", "middle", "also middle", "late", "undated"]
    assert titles(user.items("/tasks", project_id=dated_project["id"], sort="due_date")) == wanted


def test_tasks_can_be_sorted_by_latest_due_date_with_undated_ones_last(user, dated_project):
    wanted = ["late", "middle", "also middle", "early", "undated"]
    assert titles(user.items("/tasks", project_id=dated_project["id"], sort="-due_date")) == wanted


def test_page_of_tasks_has_the_asked_size_and_position(user):
    project = user.project()
    for number in range(5):
        user.task(project, title=f"Task {number}")
    page = user.get("/tasks", project_id=project["id"], limit=2, offset=2).expect(200).json()
    assert titles(page["items"]) == ["Task 2", "Task 3"]
    assert (page["limit"], page["offset"]) == (2, 2)


def test_total_counts_the_tasks_of_all_pages(user):
    project = user.project()
    for _ in range(3):
        user.task(project)
    assert user.get("/tasks", project_id=project["id"], limit=1).expect(200).json()["total"] == 3


def test_page_of_tasks_has_twenty_unless_asked_otherwise(user):
    project = user.project()
    for number in range(22):
        user.task(project, title=f"Task {number}")
    page = user.get("/tasks", project_id=project["id"]).expect(200).json()
    assert len(page["items"]) == 20, "the default `limit` is 20"
    assert (page["limit"], page["offset"]) == (20, 0)


def test_page_past_the_end_is_empty(user):
    project = user.project()
    user.task(project)
    assert user.items("/tasks", project_id=project["id"], offset=5) == []
