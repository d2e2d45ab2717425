//! A gate's report as the comment of a pull request: the decision, a table, the items that changed sides, and everything else folded.

use crate::domain::{Metric, MetricKind, beginning};
use crate::views::{
    Ask, Cell, GateCheck, GateCost, GateReport, NewFailures, NewPasses, PairEvidence, Ruling,
    TurnedItem,
};

use super::markdown::{code, escape};
use super::table::titled;
use super::{comparability, format, gate, looked_at, shown, verdicts, words};

/// First line of a pull request's comment, by which the next report finds and replaces it.
pub const MARKER: &str = "<!-- evalreport:gate -->";

/// Maximum characters of the comment. GitHub takes 65,536; the rest is for those who add their own lines.
pub const MOST_CHARACTERS: usize = 60_000;
/// Characters that the unfolded lists of items may take, failures and passes each.
const MOST_OF_A_LIST: usize = 12_000;
/// Kept for the ends of folds and the sentence about what is left out.
const KEPT: usize = 1_000;

const WORST_FIRST: [Ruling; 3] = [Ruling::Regression, Ruling::Inconclusive, Ruling::Pass];
/// Maximum rows of checks, and of costs, above the folds.
const MOST_ROWS: usize = 12;
/// Maximum arms whose changed items are listed above the folds.
const MOST_ARMS: usize = 3;
/// Maximum items listed above the folds for one arm. The next ones are folded.
const MOST_ITEMS: usize = 5;
/// Maximum arms above the folds of which the comment says what the gate looked at.
const MOST_LOOKED_AT: usize = 5;
/// Maximum notes above the folds.
const MOST_NOTES: usize = 5;
/// Begins each line that counts if it is left out.
const BULLET: &str = "- ";
/// Maximum characters of a name or of a reason.
const MOST_OF_A_TEXT: usize = 160;
/// Maximum characters of a sentence, which holds several names.
const MOST_OF_A_SENTENCE: usize = 1_000;

/// Writes the comment. `notes` are about the runs, for example how to make a baseline.
pub fn comment(report: &GateReport, against: Option<&str>, notes: &[String]) -> String {
    let mut page = Page::default();
    page.always(MARKER);
    let against = against.map_or_else(String::new, |against| format!(" against {}", name(against)));
    page.always(&format!(
        "### Gate{against}: {}\n",
        gate::ruling(report.ruling)
    ));
    if let Some(sentence) = decision(report) {
        page.always(&format!("{sentence}\n"));
    }
    for looked in report.looked_at.iter().take(MOST_LOOKED_AT) {
        page.always(&format!(
            "{}\n",
            cut(&looked_at::line(looked), MOST_OF_A_SENTENCE)
        ));
    }
    rows(&mut page, report);
    let asides = asides(report, notes);
    for note in asides.iter().take(MOST_NOTES) {
        page.always(&format!("{}\n", cut(note, MOST_OF_A_SENTENCE)));
    }
    gone(&mut page, report);
    failures(&mut page, report);
    passes(&mut page, report);
    let further = report.looked_at.iter().skip(MOST_LOOKED_AT);
    page.fold(
        "What else the gate looked at",
        "arms",
        further.map(|looked| bullet(&looked_at::line(looked))),
    );
    page.fold(
        "How each check was decided",
        "checks",
        report
            .checks
            .iter()
            .map(|check| explanation(check, report.confidence)),
    );
    page.fold(
        "Items that fail now and are flaky",
        "items",
        report.new_failures.iter().flat_map(flaky),
    );
    page.fold(
        "Comparability",
        "notes",
        comparabilities(report).into_iter(),
    );
    page.fold(
        "Further notes",
        "notes",
        asides.iter().skip(MOST_NOTES).map(|note| bullet(note)),
    );
    page.finished()
}

/// A text of bounded length that counts what it has no room for.
#[derive(Default)]
struct Page {
    text: String,
    characters: usize,
    /// What was left out, in the order of the page.
    left_out: Vec<(&'static str, u64)>,
}

impl Page {
    fn always(&mut self, line: &str) {
        self.characters += line.chars().count() + 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a line if it fits below the limit, and says whether it did.
    fn add(&mut self, line: &str, limit: usize) -> bool {
        let fits = self.characters + line.chars().count() < limit.min(MOST_CHARACTERS - KEPT);
        if fits {
            self.always(line);
        }
        fits
    }

    fn leave_out(&mut self, what: &'static str, count: u64) {
        if count == 0 {
            return;
        }
        match self.left_out.iter_mut().find(|(known, _)| *known == what) {
            Some((_, all)) => *all += count,
            None => self.left_out.push((what, count)),
        }
    }

    /// Adds lines below a summary that opens them. Without lines there is no fold.
    fn fold(&mut self, summary: &str, what: &'static str, lines: impl Iterator<Item = String>) {
        let mut lines = lines.peekable();
        if lines.peek().is_none() {
            return;
        }
        let is_open = self.add(
            &format!("<details><summary>{}</summary>\n", escape(summary)),
            MOST_CHARACTERS,
        );
        for line in lines {
            let is_added = is_open && self.add(&line, MOST_CHARACTERS);
            self.leave_out(what, u64::from(!is_added && line.starts_with(BULLET)));
        }
        if is_open {
            self.always("\n</details>\n");
        }
    }

    fn finished(mut self) -> String {
        if !self.left_out.is_empty() {
            let parts: Vec<String> = self
                .left_out
                .iter()
                .map(|(what, count)| counted(*count, what))
                .collect();
            self.always(&format!(
                "Not shown: {}. `evalreport gate --format json` has every check and cost.",
                words::listed(&parts)
            ));
        }
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
        self.text
    }
}

/// Counts notes and rows too, which tables do not.
fn counted(count: u64, what: &'static str) -> String {
    match (count, what) {
        (1, "notes") => "1 note".to_owned(),
        (1, "costs") => "1 cost".to_owned(),
        (_, "notes" | "costs") => format!("{} {what}", format::integer(count)),
        _ => words::count_of(count, what),
    }
}

/// Returns a foreign name for a sentence or a cell.
fn name(text: &str) -> String {
    cut(text, MOST_OF_A_TEXT)
}

fn cut(text: &str, characters: usize) -> String {
    escape(&beginning(text, characters))
}

fn bullet(text: &str) -> String {
    format!("{BULLET}{}", cut(text, MOST_OF_A_SENTENCE))
}

/// Says the result of the check that decides, and how many checks have which result.
fn decision(report: &GateReport) -> Option<String> {
    let check = report.checks.get(usize::try_from(report.deciding?).ok()?)?;
    let sentence = gate::sentence(check, report.confidence);
    let bold = gate::capital(check.ruling);
    let rest = sentence.strip_prefix(bold).unwrap_or(&sentence);
    let mut text = format!("**{bold}**{}.", cut(rest, MOST_OF_A_SENTENCE));
    if report.checks.len() > 1 {
        let count = |ruling: Ruling| {
            report
                .checks
                .iter()
                .filter(|check| check.ruling == ruling)
                .count() as u64
        };
        let of = |ruling: Ruling| match (count(ruling), ruling) {
            (0, _) => None,
            (1, Ruling::Regression) => Some("1 regression".to_owned()),
            (count, Ruling::Regression) => Some(format!("{} regressions", format::integer(count))),
            (count, Ruling::Inconclusive) => {
                Some(format!("{} inconclusive", format::integer(count)))
            }
            (count, Ruling::Pass) => Some(format!("{} passed", format::integer(count))),
        };
        let counts: Vec<String> = WORST_FIRST.into_iter().filter_map(of).collect();
        text.push_str(&format!(
            " Of {}: {}.",
            words::count_of(report.checks.len() as u64, "checks"),
            counts.join(", ")
        ));
    }
    Some(text)
}

/// Adds the table: checks, worst first, and the cost of arms that no rule about cost concerns.
fn rows(page: &mut Page, report: &GateReport) {
    let confidence = format::fixed(report.confidence * 100.0, 0);
    let is_named = report
        .checks
        .iter()
        .any(|check| !gate::arm(check).is_empty());
    let head = [
        "Suite",
        "Arm",
        "Metric",
        "Baseline",
        "New runs",
        &format!("Difference [{confidence}% CI]"),
        "Limit",
    ];
    page.always(&row(is_named, &head, "Result"));
    page.always(&format!(
        "|{}",
        " --- |".repeat(head.len() + usize::from(is_named))
    ));
    let of = |ruling: Ruling| {
        report
            .checks
            .iter()
            .filter(move |check| check.ruling == ruling)
    };
    let worst_first = WORST_FIRST.into_iter().flat_map(of);
    for check in worst_first.take(MOST_ROWS) {
        page.always(&check_row(is_named, check));
    }
    let is_ruled = |cost: &GateCost| {
        let is_same = |check: &&GateCheck| {
            (&check.suite, &check.arm, &check.against) == (&cost.suite, &cost.arm, &cost.against)
        };
        report.checks.iter().filter(is_same).any(|check| {
            check
                .metric
                .as_ref()
                .is_some_and(|metric| metric.name == cost.metric.name)
        })
    };
    let costs: Vec<&GateCost> = report.costs.iter().filter(|cost| !is_ruled(cost)).collect();
    for cost in costs.iter().take(MOST_ROWS) {
        page.always(&cost_row(is_named, cost));
    }
    page.always("");
    let checks = report.checks.len().saturating_sub(MOST_ROWS) as u64;
    if checks > 0 {
        page.always(&format!(
            "{} more {} below.\n",
            format::integer(checks),
            if checks == 1 {
                "check is"
            } else {
                "checks are"
            }
        ));
    }
    page.leave_out("costs", costs.len().saturating_sub(MOST_ROWS) as u64);
}

/// Joins cells. The second one is the arm, and is left out if no arm has a name; the last one is the result.
fn row(is_named: bool, cells: &[&str], result: &str) -> String {
    let is_shown = |(place, _): &(usize, &&str)| is_named || *place != 1;
    let cells: Vec<String> = cells
        .iter()
        .enumerate()
        .filter(is_shown)
        .map(|(_, cell)| name(cell))
        .collect();
    format!("| {} | {result} |", cells.join(" | "))
}

fn check_row(is_named: bool, check: &GateCheck) -> String {
    let (metric, limit) = match &check.rule {
        Ask::MaxDrop { .. } | Ask::MaxRise { .. } => (gate::metric(check), gate::limit(check)),
        Ask::MustPass { .. } => (gate::rule(check), "all".to_owned()),
        Ask::NoNewFailures => ("New failures".to_owned(), "none".to_owned()),
    };
    let head = match &check.rule {
        Ask::NoNewFailures => check
            .failing
            .map_or_else(String::new, |failing| words::count_of(failing, "items")),
        Ask::MustPass { .. } => match (check.passed, check.attempts) {
            (Some(passed), Some(attempts)) => format!(
                "{}/{}",
                format::integer(passed),
                words::count_of(attempts, "attempts")
            ),
            _ => String::new(),
        },
        Ask::MaxDrop { .. } | Ask::MaxRise { .. } => {
            figure(check.metric.as_ref(), check.head.as_ref())
        }
    };
    let baseline = figure(check.metric.as_ref(), check.baseline.as_ref());
    let change = gate::change(check);
    let ruling = gate::ruling(check.ruling);
    let result = if check.ruling == Ruling::Pass {
        ruling.to_owned()
    } else {
        format!("**{ruling}**")
    };
    row(
        is_named,
        &[
            &check.suite,
            &gate::arm(check),
            &metric,
            &baseline,
            &head,
            &change,
            &limit,
        ],
        &result,
    )
}

fn cost_row(is_named: bool, cost: &GateCost) -> String {
    let (metric, arm) = (
        Some(&cost.metric),
        gate::arm_vs(&cost.suite, &cost.arm, cost.against.as_ref()),
    );
    let label = titled(
        &cost.metric.label,
        &words::over(&cost.metric, std::slice::from_ref(&cost.head)),
    );
    let (head, baseline) = (
        figure(metric, Some(&cost.head)),
        figure(metric, cost.baseline.as_ref()),
    );
    row(
        is_named,
        &[
            &cost.suite,
            &arm,
            label.trim_end(),
            &baseline,
            &head,
            &change(metric, cost.evidence.as_ref()),
            "none",
        ],
        "not checked",
    )
}

/// Formats a figure with its n: `160/200 (80.0%)`, `85% (3 runs, 180 outcomes)`, `$1.20 (3 runs)`.
fn figure(metric: Option<&Metric>, cell: Option<&Cell>) -> String {
    let Some((metric, cell)) = metric.zip(cell) else {
        return String::new();
    };
    let text = words::cell(metric, cell);
    let has_counts = metric.kind == MetricKind::Rate && cell.total.is_some() && cell.runs() <= 1;
    match (&cell.estimate, cell.runs()) {
        _ if has_counts || cell.value.is_none() => text,
        (Some(estimate), _) => format!("{text} ({})", words::basis(estimate)),
        (None, 0) => text,
        (None, runs) => format!("{text} ({})", words::count_of(runs, "runs")),
    }
}

fn change(metric: Option<&Metric>, evidence: Option<&PairEvidence>) -> String {
    metric
        .zip(evidence)
        .and_then(|(metric, pair)| verdicts::change_of(metric, pair))
        .unwrap_or_default()
}

/// Adds the items that are not there, and errors that the baseline does not know.
fn gone(page: &mut Page, report: &GateReport) {
    let item = |name: &str, more: &str| {
        format!("{BULLET}{}{more}", code(&beginning(name, MOST_OF_A_TEXT)))
    };
    for looked in &report.looked_at {
        if let Some(said) = looked_at::missing(looked) {
            let limit = page.characters + MOST_OF_A_LIST;
            page.always(&format!("**{}**\n", name(&said)));
            for missing in &looked.missing.items {
                let is_added = page.add(
                    &item(&missing.item, &format!(" ({})", looked_at::fate(missing))),
                    limit,
                );
                page.leave_out("items", u64::from(!is_added));
            }
            page.leave_out(
                "items",
                looked
                    .missing
                    .count
                    .saturating_sub(looked.missing.items.len() as u64),
            );
            page.always("");
        }
        if let Some(said) = looked_at::errors(looked) {
            let limit = page.characters + MOST_OF_A_LIST;
            page.always(&format!("**{}**\n", name(&said)));
            for error in &looked.errors {
                let reason = error.reason.as_deref().map_or_else(String::new, |reason| {
                    format!(": {}", name(&shown::short(reason)))
                });
                let is_added = page.add(&item(&error.item, &reason), limit);
                page.leave_out("items", u64::from(!is_added));
            }
            page.leave_out(
                "items",
                looked
                    .unknown_errors
                    .saturating_sub(looked.errors.len() as u64),
            );
            page.always("");
        }
    }
}

/// Adds the items that fail now and always passed, or passed until they broke.
fn failures(page: &mut Page, report: &GateReport) {
    let groups: Vec<Group<'_>> = report
        .new_failures
        .iter()
        .flat_map(Group::failing)
        .collect();
    lists(page, &groups, "New failures of further arms");
}

/// Adds the items that pass now and always failed.
fn passes(page: &mut Page, report: &GateReport) {
    let groups: Vec<Group<'_>> = report.new_passes.iter().map(Group::passing).collect();
    lists(page, &groups, "New passes of further arms");
}

/// Items of one arm below a sentence.
struct Group<'a> {
    who: String,
    what: String,
    items: &'a [TurnedItem],
    /// Items that the report counts and does not list.
    unlisted: u64,
}

impl<'a> Group<'a> {
    /// Returns the items that always passed in the baseline, and those that broke in it.
    fn failing(found: &'a NewFailures) -> impl Iterator<Item = Self> {
        let of = |count: u64, items: &'a [TurnedItem], before: &str| {
            let verb = if count == 1 { "fails" } else { "fail" };
            (count > 0).then(|| Self {
                who: words::arm_on(&found.suite, &found.arm),
                what: format!(
                    "{} {verb} now and {before}",
                    words::count_of(count, "items")
                ),
                items,
                unlisted: count.saturating_sub(items.len() as u64),
            })
        };
        let always = of(found.count, &found.items, "always passed in the baseline");
        always.into_iter().chain(of(
            found.broken_count,
            &found.broken,
            "broke in the baseline",
        ))
    }

    fn passing(found: &'a NewPasses) -> Self {
        let verb = if found.count == 1 { "passes" } else { "pass" };
        Self {
            who: words::arm_on(&found.suite, &found.arm),
            what: format!(
                "{} {verb} now and always failed in the baseline",
                words::count_of(found.count, "items")
            ),
            items: &found.items,
            unlisted: found.count.saturating_sub(found.items.len() as u64),
        }
    }
}

/// Adds the first items of the first arms, and folds the rest.
fn lists(page: &mut Page, groups: &[Group<'_>], further: &str) {
    let limit = page.characters + MOST_OF_A_LIST;
    for group in groups.iter().take(MOST_ARMS) {
        page.always(&format!("**{}** ({})\n", group.what, name(&group.who)));
        let (shown, folded) = group.items.split_at(group.items.len().min(MOST_ITEMS));
        for item in shown {
            if !page.add(&changed(item), limit) {
                page.leave_out("items", 1);
            }
        }
        page.always("");
        let more = folded.len() as u64 + group.unlisted;
        if folded.is_empty() {
            page.leave_out("items", group.unlisted);
        } else {
            let unlisted = match group.unlisted {
                0 => String::new(),
                count => format!(", {} of them listed", format::integer(more - count)),
            };
            page.fold(
                &format!("{} more{unlisted}", format::integer(more)),
                "items",
                folded.iter().map(changed),
            );
            page.leave_out("items", group.unlisted);
        }
    }
    let rest = groups.get(MOST_ARMS..).unwrap_or_default();
    page.fold(
        further,
        "arms",
        rest.iter()
            .map(|group| bullet(&format!("{}: {}", group.who, group.what))),
    );
}

/// Describes an item that changed sides. Its name is code, which can be copied as it is.
fn changed(item: &TurnedItem) -> String {
    let of = |passed: u64, attempts: u64| {
        format!(
            "{} of {}",
            format::integer(passed),
            format::integer(attempts)
        )
    };
    let reason = item.reason.as_deref().map_or_else(String::new, |reason| {
        format!(": {}", name(&shown::short(reason)))
    });
    format!(
        "{BULLET}{}{} (passed {}, baseline {}){reason}",
        code(&beginning(&item.item, MOST_OF_A_TEXT)),
        gate::course(item).map_or_else(String::new, |course| format!(", {course}")),
        of(item.passed, item.attempts),
        of(item.baseline_passed, item.baseline_attempts)
    )
}

fn flaky(found: &NewFailures) -> Vec<String> {
    let more = found.flaky_count.saturating_sub(found.flaky.len() as u64);
    let head = (found.flaky_count > 0).then(|| {
        let listed = if more > 0 {
            format!(
                ", {} of them listed",
                format::integer(found.flaky.len() as u64)
            )
        } else {
            String::new()
        };
        format!(
            "{}: {}{listed}\n",
            name(&words::arm_on(&found.suite, &found.arm)),
            words::count_of(found.flaky_count, "items")
        )
    });
    head.into_iter()
        .chain(found.flaky.iter().map(changed))
        .chain((found.flaky_count > 0).then(String::new))
        .collect()
}

/// Says how a check was decided, with the method of its evidence.
fn explanation(check: &GateCheck, confidence: f64) -> String {
    let method = match &check.evidence {
        Some(pair) if pair.difference.is_some() => {
            format!(". {}", words::capital(&verdicts::method(pair)))
        }
        Some(_) | None => String::new(),
    };
    bullet(&format!("{}{method}.", gate::sentence(check, confidence)))
}

/// Lists how alike new runs and baseline were measured, once per arm.
fn comparabilities(report: &GateReport) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for check in &report.checks {
        let Some(pair) = &check.comparability else {
            continue;
        };
        let line = bullet(&format!(
            "{}: {}.",
            words::arm_on(&check.suite, &check.arm),
            comparability::graded(pair)
        ));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Lists what a reader must know about the runs.
fn asides(report: &GateReport, notes: &[String]) -> Vec<String> {
    gate::asides(report)
        .into_iter()
        .chain(notes.iter().cloned())
        .collect()
}
