"""Projects: their life, and who may see them."""

MEMBERS = {"id", "owner_id", "name", "description", "created_at", "updated_at"}


def test_create_project_answers_201_with_the_project(user):
    project = user.post("/projects", {"name": "Garden", "description": "Beds and paths"}).expect(201).json()
    assert MEMBERS <= set(project), f"missing: {sorted(MEMBERS - set(project))}"
    assert (project["name"], project["description"]) == ("Garden", "Beds and paths")
    assert project["owner_id"] == user.record["id"]


def test_project_can_be_read_by_its_id(user):
    project = user.project()
    assert user.get(f"/projects/{project['id']}").expect(200).json() == project


def test_unknown_project_answers_404(user):
    for unknown in ("unknown", "0", "00000000-0000-0000-0000-000000000000"):
        user.get(f"/projects/{unknown}").expect(404)


def test_update_project_changes_only_what_was_sent(user):
    project = user.made("/projects", {"name": "Garden", "description": "Beds and paths"})
    changed = user.patch(f"/projects/{project['id']}", {"name": "Orchard"}).expect(200).json()
    assert (changed["name"], changed["description"]) == ("Orchard", "Beds and paths")
    assert user.get(f"/projects/{project['id']}").expect(200).json() == changed


def test_delete_project_answers_204_and_takes_it_off_the_list(user):
    kept, removed = user.project("Kept"), user.project("Removed")
    reply = user.delete(f"/projects/{removed['id']}").expect(204)
    assert reply.raw == b"", "a 204 reply has no body"
    assert [project["id"] for project in user.items("/projects")] == [kept["id"]]


def test_delete_project_removes_its_tasks_and_no_others(user):
    kept, removed = user.project("Kept"), user.project("Removed")
    staying, leaving = user.task(kept), user.task(removed)
    user.delete(f"/projects/{removed['id']}")
    user.get(f"/tasks/{leaving['id']}").expect(404)
    user.get(f"/tasks/{staying['id']}").expect(200)


def test_list_of_projects_is_in_order_of_creation(user):
    names = [f"Project {number}" for number in range(5)]
    for name in names:
        user.project(name)
    assert [project["name"] for project in user.items("/projects")] == names


def test_list_of_projects_is_paged(user):
    ids = [user.project(f"Project {number}")["id"] for number in range(5)]
    page = user.get("/projects", limit=2, offset=1).expect(200).json()
    assert [project["id"] for project in page["items"]] == ids[1:3]
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)


def test_list_of_projects_leaves_out_those_of_others(user, other):
    own = user.project()
    other.project()
    page = user.get("/projects").expect(200).json()
    assert [project["id"] for project in page["items"]] == [own["id"]]
    assert page["total"] == 1, "`total` must not count projects of others"


def test_project_of_another_user_answers_404(user, other):
    path = f"/projects/{other.project()['id']}"
    user.get(path).expect(404)
    user.patch(path, {"name": "Mine now"}).expect(404)
    user.delete(path).expect(404)
    assert other.get(path).expect(200).json()["name"] == "Garden", "the owner's project must be untouched"


def test_task_cannot_be_put_into_a_project_of_another_user(user, other):
    project = other.project()
    user.post(f"/projects/{project['id']}/tasks", {"title": "Intruder"}).expect(404)
    assert other.items("/tasks", project_id=project["id"]) == []
