//! What a partial success leaves to do is written down once.

use super::Checkout;

const FILES: [(&str, &str); 3] = [
    ("Makefile", "test:\n\tsh check.sh\n"),
    ("check.sh", "echo 'FAIL stands </code> @me'\nexit 1\n"),
    ("good.txt", "a\n"),
];

#[test]
fn a_ticket_is_written_once_and_only_where_asked() {
    let settings =
        |tickets: &str| format!("{{primary_test: sh check.sh, targeted_test: false{tickets}}}");
    let checkout = Checkout::new(&FILES).config(&settings(""));
    checkout.write("good.txt", "b\n");
    let goal = "Write <b>good.txt</b>\n# anew";
    let without = checkout.verify(goal, "fast");
    without.ended(0, "done_partial", "accept_partial");
    assert_eq!(without.answer["ticket"], serde_json::Value::Null);

    let checkout = checkout.config(&settings(", tickets: tickets/open"));
    let first = checkout.verify(goal, "fast");
    first.ended(0, "done_partial", "accept_partial");
    let tickets = checkout.project.files("tickets");
    assert_eq!(tickets.len(), 1);
    assert!(
        tickets[0].starts_with("tickets/open/write-b-good-txt-b-anew-"),
        "{tickets:?}"
    );
    assert_eq!(
        first.text("ticket"),
        tickets[0],
        "from the project's folder"
    );
    let text = checkout.project.read(&tickets[0]);
    assert!(
        text.contains("## Goal achieved")
            && text.contains("## Issues remaining")
            && text.contains("    sh check.sh\n"),
        "{text}"
    );
    for line in text.lines().filter(|line| line.contains(['<', '@'])) {
        assert!(line.starts_with("    "), "{line}");
    }
    assert!(!text.lines().any(|line| line == "# anew"), "{text}");

    // The same is left, so there is nothing to add, and what a person wrote there stays.
    checkout.project.file(&tickets[0], "mine\n");
    checkout
        .verify(goal, "fast")
        .ended(0, "done_partial", "accept_partial");
    assert_eq!(
        (
            checkout.project.files("tickets"),
            checkout.project.read(&tickets[0])
        ),
        (tickets, "mine\n".to_owned())
    );
}

#[test]
fn nothing_is_written_where_the_goal_is_not_met() {
    let checkout = Checkout::new(&FILES)
        .config("{primary_test: sh check.sh, targeted_test: false, tickets: tickets}");
    checkout.write("good.txt", "b\n");
    checkout
        .verify("Write it anew", "strict")
        .ended(1, "not_done", "continue");
    assert!(checkout.project.files("tickets").is_empty());
}
