"""Comments on tasks."""


def test_create_comment_answers_201_with_the_comment(user):
    task = user.task()
    comment = user.post(f"/tasks/{task['id']}/comments", {"body": "Needs more water"}).expect(201).json()
    assert {"id", "created_at"} <= set(comment)
    assert (comment["body"], comment["task_id"], comment["owner_id"]) == ("Needs more water", task["id"], user.record["id"])


def test_comments_are_listed_for_their_task_in_order_of_creation(user):
    project = user.project()
    task, another = user.task(project), user.task(project)
    wanted = [user.comment(task, f"Comment {number}") for number in range(3)]
    user.comment(another, "Elsewhere")
    assert user.items(f"/tasks/{task['id']}/comments") == wanted


def test_list_of_comments_is_paged(user):
    task = user.task()
    ids = [user.comment(task)["id"] for _ in range(4)]
    page = user.get(f"/tasks/{task['id']}/comments", limit=2, offset=1).expect(200).json()
    assert [comment["id"] for comment in page["items"]] == ids[1:3]
    assert (page["total"], page["limit"], page["offset"]) == (4, 2, 1)


def test_deleted_comment_is_gone(user):
    task = user.task()
    kept, removed = user.comment(task), user.comment(task)
    user.delete(f"/comments/{removed['id']}").expect(204)
    assert [comment["id"] for comment in user.items(f"/tasks/{task['id']}/comments")] == [kept["id"]]


def test_comments_of_an_unknown_task_answer_404(user):
    user.get("/tasks/unknown/comments").expect(404)
    user.post("/tasks/unknown/comments", {"body": "Anybody?"}).expect(404)


def test_comments_on_a_task_of_another_user_answer_404(user, other):
    task = other.task()
    user.get(f"/tasks/{task['id']}/comments").expect(404)
    user.post(f"/tasks/{task['id']}/comments", {"body": "I was here"}).expect(404)
    assert other.items(f"/tasks/{task['id']}/comments") == []


def test_comment_of_another_user_cannot_be_deleted(user, other):
    task = other.task()
    comment = other.comment(task)
    user.delete(f"/comments/{comment['id']}").expect(404)
    assert other.items(f"/tasks/{task['id']}/comments") == [comment]


def test_delete_task_removes_its_comments(user):
    task = user.task()
    comment = user.comment(task)
    user.delete(f"/tasks/{task['id']}")
    user.delete(f"/comments/{comment['id']}").expect(404)
