//! Shows a plan in progress to a person or a log: changing lines on a terminal, one of all runs and one per arm; one plain line per event in a
//! pipe.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{
    HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use tracing::{info, warn};

use crate::domain::{ItemStatus, Run, RunStatus, escape_invisible};
use crate::render::format;
use crate::results::{PlannedArm, PlannedRun};
use crate::run::{RunEvent, RunnableArm};

use super::output;

/// Number of steps of the bar per run, so that the bar also moves within a run of a thousand questions.
const STEPS_PER_RUN: u64 = 1000;
/// Maximum length of an error in a line, in characters.
const MAX_ERROR_CHARACTERS: usize = 200;
/// Maximum number of troubled items per run shown on a terminal, above the changing line. A pipe gets all of them.
const ITEMS_ON_A_TERMINAL: u64 = 3;
/// Maximum number of arms with a line of their own, so that the lines fit on a small terminal.
const MAX_ARM_LINES: usize = 8;

/// A run in progress.
struct RunInProgress {
    name: String,
    /// The index of its arm.
    arm: usize,
    /// The current step, in words.
    step: String,
    /// Number of items decided so far. `of` is the number of all items, which is unknown for code.
    items: u64,
    of: Option<u64>,
    /// Number of items that neither passed nor failed.
    troubled: u64,
}

/// The state so far.
#[derive(Default)]
struct WatchedState {
    running: BTreeMap<String, RunInProgress>,
    done: u64,
    failed: u64,
    /// Number of runs left to another process.
    left: u64,
    spent: CostSoFar,
    arms: Vec<ArmSoFar>,
}

#[derive(Clone, Copy, Default)]
struct CostSoFar {
    usd: Option<f64>,
    /// Whether some cost is unknown, so that `usd` is a lower bound.
    is_lower_bound: bool,
}

/// One arm's runs so far.
#[derive(Clone, Copy, Default)]
struct ArmSoFar {
    runs: u64,
    done: u64,
    /// Number of runs left to another process.
    left: u64,
    /// Runs that were done when the program began.
    done_before: u64,
    /// Items that passed, and items that passed or failed.
    passed: u64,
    counted: u64,
    spent: CostSoFar,
}

pub(super) struct PlanWatch {
    seen: Mutex<WatchedState>,
    total: u64,
    arms: Vec<PlannedArm>,
    /// Number of questions per run, by arm; `None` for code.
    questions: Vec<Option<u64>>,
    quiet: bool,
    lines: Option<WatchLines>,
    start: Instant,
}

/// The changing lines on a terminal.
struct WatchLines {
    all: ProgressBar,
    /// By arm; empty if one line tells everything, or if there are too many arms.
    by_arm: Vec<ProgressBar>,
}

impl PlanWatch {
    /// Watches `runs` of these arms, of which the runs in `done` are already finished. Without a terminal, every event is a line unless
    /// `quiet` is set. On a terminal, important events stay above the changing lines.
    pub fn new(
        arms: &[RunnableArm],
        runs: &[PlannedRun],
        done: &[Run],
        is_terminal: bool,
        quiet: bool,
    ) -> Self {
        let total = runs.len() as u64;
        let mut seen = WatchedState {
            done: done.len() as u64,
            arms: vec![ArmSoFar::default(); arms.len()],
            ..WatchedState::default()
        };
        for run in runs {
            let Some(arm) = seen.arms.get_mut(run.arm) else {
                continue;
            };
            arm.runs += 1;
            if let Some(record) = done.iter().find(|record| record.id == run.id) {
                arm.done += 1;
                arm.done_before += 1;
                arm.count_record(record);
                arm.spent.add(record.cost_usd);
            }
        }
        seen.failed = done
            .iter()
            .filter(|run| run.status != RunStatus::Completed)
            .count() as u64;
        for run in done {
            seen.spent.add(run.cost_usd);
        }
        let names: Vec<String> = arms.iter().map(|arm| arm_label(&arm.planned)).collect();
        let lines = is_terminal.then(|| draw_lines(total, &seen, &names));
        Self {
            seen: Mutex::new(seen),
            total,
            questions: arms.iter().map(RunnableArm::question_count).collect(),
            arms: arms.iter().map(|arm| arm.planned.clone()).collect(),
            quiet,
            lines,
            start: Instant::now(),
        }
    }

    pub fn show_event(&self, event: &RunEvent<'_>) {
        let Ok(mut seen) = self.seen.lock() else {
            return;
        };
        match event {
            RunEvent::Started { arm, run } => {
                let name = format!("{} {}", arm_label(arm), run.index);
                info!(run = %run.id, suite = arm.suite, approach = arm.approach, model = arm.model, index = run.index, "run started");
                self.print_line(&format!("start     {name}"));
                let of = self.questions.get(run.arm).copied().flatten();
                seen.running.insert(
                    run.id.to_string(),
                    RunInProgress {
                        name,
                        arm: run.arm,
                        step: String::new(),
                        items: 0,
                        of,
                        troubled: 0,
                    },
                );
            }
            RunEvent::Resumed { run, items } => {
                info!(run = %run.id, items, "decided before");
                let of = self
                    .questions
                    .get(run.arm)
                    .copied()
                    .flatten()
                    .map_or_else(String::new, |of| format!(" of {of}"));
                self.print_line(&format!(
                    "resumed   {}: {items}{of} items were decided before",
                    self.run_name(run.arm, run.index)
                ));
                if let Some(running) = seen.running.get_mut(run.id.as_str()) {
                    running.items = *items as u64;
                }
            }
            RunEvent::Warning { run, what } => {
                warn!(run = %run.id, what, "trouble");
                self.print_lasting(&format!(
                    "warning: {}: {}",
                    self.run_name(run.arm, run.index),
                    shorten_reason(what)
                ));
            }
            RunEvent::Item {
                run,
                item,
                status,
                reason,
                cost_usd,
            } => {
                info!(run = %run.id, item, status = status.name(), cost_usd, "item");
                seen.spent.add(*cost_usd);
                if let Some(arm) = seen.arms.get_mut(run.arm) {
                    arm.spent.add(*cost_usd);
                    arm.passed += u64::from(*status == ItemStatus::Pass);
                    arm.counted += u64::from(status.is_counted());
                }
                let is_troubled = !matches!(status, ItemStatus::Pass | ItemStatus::Fail);
                let mut troubled = 0;
                if let Some(running) = seen.running.get_mut(run.id.as_str()) {
                    running.items += 1;
                    running.troubled += u64::from(is_troubled);
                    troubled = running.troubled;
                }
                if is_troubled && (self.lines.is_none() || troubled <= ITEMS_ON_A_TERMINAL) {
                    let why = reason.map_or_else(String::new, |reason| {
                        format!(" – {}", shorten_reason(reason))
                    });
                    self.print_lasting(&format!(
                        "item      {}, {}: {}{why}",
                        self.run_name(run.arm, run.index),
                        escape_invisible(item),
                        status.name()
                    ));
                }
            }
            RunEvent::Step { run, what } => {
                info!(run = %run.id, what, "step");
                self.print_line(&format!(
                    "step      {}: {what}",
                    self.run_name(run.arm, run.index)
                ));
                if let Some(running) = seen.running.get_mut(run.id.as_str()) {
                    (*what).clone_into(&mut running.step);
                }
            }
            RunEvent::Finished {
                run,
                record,
                criteria,
            } => {
                seen.running.remove(run.id.as_str());
                seen.done += 1;
                seen.failed += u64::from(record.status != RunStatus::Completed);
                // Questions, and their costs, were already counted one by one.
                let is_code = self.questions.get(run.arm).is_none_or(Option::is_none);
                if is_code {
                    seen.spent.add(record.cost_usd);
                }
                if let Some(arm) = seen.arms.get_mut(run.arm) {
                    arm.done += 1;
                    if is_code {
                        arm.count_record(record);
                        arm.spent.add(record.cost_usd);
                    }
                }
                info!(run = %run.id, status = record.status.name(), error = record.error, cost_usd = record.cost_usd, "run finished");
                let counts = record.shared_tests_passed.zip(record.shared_tests_total);
                let counts = match (counts, criteria) {
                    // The reason has the numbers.
                    (None, _) if record.status == RunStatus::Partial => "no rate".to_owned(),
                    (Some((passed, total)), _) => format!("{passed}/{total} passed"),
                    (None, Some((met, of))) => format!("{met}/{of} criteria met"),
                    (None, None) => "no outcome".to_owned(),
                };
                let mut line = format!(
                    "{:<9} {}: {counts}",
                    record.status.name(),
                    self.run_name(run.arm, run.index)
                );
                line.push_str(&format!(
                    ", run {} ({} of {} runs",
                    run.id, seen.done, self.total
                ));
                line.push_str(
                    &seen
                        .spent
                        .describe()
                        .map_or_else(|| ")".to_owned(), |spent| format!(", {spent})")),
                );
                if let Some(error) = &record.error {
                    line.push_str(&format!(" – {}", shorten_reason(error)));
                }
                self.print_lasting(&line);
            }
            RunEvent::Taken { run } => {
                seen.running.remove(run.id.as_str());
                seen.left += 1;
                if let Some(arm) = seen.arms.get_mut(run.arm) {
                    arm.left += 1;
                }
                info!(run = %run.id, "run left to another process");
                self.print_lasting(&format!(
                    "left      {}, run {}: another process is at it",
                    self.run_name(run.arm, run.index),
                    run.id
                ));
            }
        }
        if let Some(lines) = &self.lines {
            lines.all.set_position(seen.progress_steps());
            lines.all.set_message(seen.format_progress(self.total));
            for (arm, line) in lines.by_arm.iter().enumerate() {
                line.set_message(seen.format_arm(
                    arm,
                    &arm_label(&self.arms[arm]),
                    self.start.elapsed(),
                ));
            }
        }
    }

    /// Removes the lines from the screen.
    pub fn clear_lines(&self) {
        if let Some(lines) = &self.lines {
            for line in lines.by_arm.iter().chain([&lines.all]) {
                line.finish_and_clear();
            }
        }
        let (done, cost) = self
            .seen
            .lock()
            .map_or((0, None), |seen| (seen.done, seen.spent.usd));
        info!(
            done,
            total = self.total,
            cost_usd = cost,
            seconds = self.start.elapsed().as_secs_f64(),
            "runs"
        );
    }

    fn run_name(&self, arm: usize, index: u32) -> String {
        self.arms
            .get(arm)
            .map_or_else(String::new, |arm| format!("{} {index}", arm_label(arm)))
    }

    /// Prints an event that must stay visible, above the changing lines if there are any: a result or an error.
    fn print_lasting(&self, text: &str) {
        match &self.lines {
            Some(lines) if !self.quiet => lines.all.println(text),
            Some(_) => {}
            None => self.print_line(text),
        }
    }

    /// Prints an event, if no changing line shows it.
    fn print_line(&self, text: &str) {
        if self.lines.is_none() && !self.quiet {
            output::write_stderr(text);
        }
    }
}

impl CostSoFar {
    fn add(&mut self, cost: Option<f64>) {
        match cost {
            Some(cost) => *self.usd.get_or_insert(0.0) += cost,
            None => self.is_lower_bound = true,
        }
    }

    /// Formats the cost, such as `$0.02 so far`. `None` if no cost is known.
    fn describe(self) -> Option<String> {
        let least = if self.is_lower_bound { "≥ " } else { "" };
        self.usd
            .map(|cost| format!("{least}{} so far", format::money(cost)))
    }
}

impl ArmSoFar {
    /// Adds the tests of a finished run.
    fn count_record(&mut self, record: &Run) {
        self.passed += record.shared_tests_passed.unwrap_or(0);
        self.counted += record.shared_tests_total.unwrap_or(0);
    }
}

impl WatchedState {
    /// Returns the progress of all runs, in steps of the bar.
    fn progress_steps(&self) -> u64 {
        (self.done + self.left) * STEPS_PER_RUN
            + self
                .running
                .values()
                .map(RunInProgress::progress_steps)
                .sum::<u64>()
    }

    /// Formats one arm's progress, such as `quiz oneshot/m  1/3 runs (25/100) · 61/80 passed · $0.0200 so far · about 3m left`.
    fn format_arm(&self, place: usize, name: &str, elapsed: Duration) -> String {
        let Some(arm) = self.arms.get(place) else {
            return String::new();
        };
        let running = || self.running.values().filter(|run| run.arm == place);
        let position = running()
            .next()
            .map_or_else(String::new, RunInProgress::format_position);
        let mut parts = vec![format!("{name}  {}/{} runs{position}", arm.done, arm.runs)];
        if arm.counted > 0 {
            parts.push(format!("{}/{} passed", arm.passed, arm.counted));
        }
        parts.extend(arm.spent.describe());
        let steps = (arm.done + arm.left) * STEPS_PER_RUN
            + running().map(RunInProgress::progress_steps).sum::<u64>();
        let left = estimate_remaining(
            elapsed,
            steps,
            arm.done_before * STEPS_PER_RUN,
            arm.runs * STEPS_PER_RUN,
        );
        parts.extend(left.map(|left| format!("about {:#} left", HumanDuration(left))));
        parts.join(" · ")
    }

    /// Formats the progress, such as `3/10 runs, 1 not completed · $0.02 so far · tasktracker oneshot/m 2 (setup) and 1 more`.
    fn format_progress(&self, total: u64) -> String {
        let failed = if self.failed > 0 {
            format!(", {} not completed", self.failed)
        } else {
            String::new()
        };
        let mut parts = vec![format!("{}/{total} runs{failed}", self.done)];
        parts.extend(self.spent.describe());
        if let Some(running) = self.running.values().next() {
            let more = if self.running.len() > 1 {
                format!(" and {} more", self.running.len() - 1)
            } else {
                String::new()
            };
            parts.push(format!(
                "{}{}{more}",
                running.name,
                running.format_position()
            ));
        }
        parts.join(" · ")
    }
}

impl RunInProgress {
    /// Returns the progress in steps of the bar. Rounding or a resumed run may complete a run's steps early: the last step counts only when the
    /// run has ended.
    fn progress_steps(&self) -> u64 {
        self.of
            .filter(|of| *of > 0)
            .map_or(0, |of| self.items.min(of) * STEPS_PER_RUN / of)
            .min(STEPS_PER_RUN - 1)
    }

    fn format_position(&self) -> String {
        match self.of {
            Some(of) => format!(" ({}/{of})", self.items),
            None if self.step.is_empty() => String::new(),
            None => format!(" ({})", self.step),
        }
    }
}

/// Shortens a reason to the length that fits a line.
fn shorten_reason(reason: &str) -> String {
    let text = escape_invisible(reason);
    match text.char_indices().nth(MAX_ERROR_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn draw_lines(total: u64, seen: &WatchedState, names: &[String]) -> WatchLines {
    let before = seen.done * STEPS_PER_RUN;
    // The messages are limited to the remaining width: a line that wraps would stay on the screen.
    let style = |template: &str| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
    };
    let of_all = style("{bar:16} {elapsed}{left} {wide_msg}").with_key(
        "left",
        move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            if let Some(left) = estimate_remaining(
                state.elapsed(),
                state.pos(),
                before,
                state.len().unwrap_or(0),
            ) {
                // Writing into a text in memory cannot fail.
                let _ = write!(text, ", about {:#} left", HumanDuration(left));
            }
        },
    );
    let lines = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    let all = lines.add(ProgressBar::new(total.saturating_mul(STEPS_PER_RUN)).with_style(of_all));
    all.set_position(before);
    all.set_message(seen.format_progress(total));
    all.enable_steady_tick(Duration::from_millis(500));
    let shown = if (2..=MAX_ARM_LINES).contains(&names.len()) {
        names
    } else {
        &[]
    };
    let by_arm = shown
        .iter()
        .enumerate()
        .map(|(arm, name)| {
            let line = lines.add(ProgressBar::no_length().with_style(style("  {wide_msg}")));
            line.set_message(seen.format_arm(arm, name, Duration::ZERO));
            line
        })
        .collect();
    WatchLines { all, by_arm }
}

/// Estimates the remaining time at the current pace. `None` before anything is done. Runs that were done `before` do not count for the
/// pace.
fn estimate_remaining(elapsed: Duration, done: u64, before: u64, total: u64) -> Option<Duration> {
    let now = done.checked_sub(before).filter(|now| *now > 0)?;
    let rest = total.checked_sub(done).filter(|rest| *rest > 0)?;
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * rest as f64 / now as f64).ok()
}

/// Formats an arm as `suite approach/model`.
fn arm_label(arm: &PlannedArm) -> String {
    escape_invisible(&format!("{} {}/{}", arm.suite, arm.approach, arm.model))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(items: u64, of: Option<u64>) -> RunInProgress {
        RunInProgress {
            name: "s a/m 1".to_owned(),
            arm: 0,
            step: "setup".to_owned(),
            items,
            of,
            troubled: 0,
        }
    }

    #[test]
    fn the_rest_is_told_once_something_is_done() {
        let seconds = Duration::from_secs;
        assert_eq!(estimate_remaining(seconds(10), 0, 0, 5000), None);
        assert_eq!(
            estimate_remaining(seconds(10), 1000, 0, 5000),
            Some(seconds(40))
        );
        assert_eq!(estimate_remaining(seconds(10), 5000, 0, 5000), None);
        assert_eq!(estimate_remaining(seconds(10), 3000, 3000, 5000), None);
        assert_eq!(
            estimate_remaining(seconds(10), 4000, 3000, 5000),
            Some(seconds(10))
        );
    }

    #[test]
    fn a_run_of_questions_moves_the_bar_before_its_end() {
        let mut seen = WatchedState {
            done: 1,
            ..WatchedState::default()
        };
        seen.running.insert("r".to_owned(), running(25, Some(100)));
        assert_eq!(
            (seen.progress_steps(), seen.format_progress(3).as_str()),
            (1250, "1/3 runs · s a/m 1 (25/100)")
        );
        // More decided items than the run has, as after a change of the file. The run is still not finished.
        seen.running.insert("r".to_owned(), running(125, Some(100)));
        assert_eq!(seen.progress_steps(), 1999);
        seen.running.insert("s".to_owned(), running(0, None));
        seen.failed = 1;
        seen.spent.add(Some(0.5));
        assert_eq!(
            seen.format_progress(3),
            "1/3 runs, 1 not completed · $0.50 so far · s a/m 1 (125/100) and 1 more"
        );
        seen.spent.add(None);
        seen.running.remove("r");
        assert_eq!(
            seen.format_progress(3),
            "1/3 runs, 1 not completed · ≥ $0.50 so far · s a/m 1 (setup)"
        );
    }

    #[test]
    fn an_arm_tells_its_runs_its_passes_its_cost_and_its_time() {
        let mut seen = WatchedState {
            arms: vec![
                ArmSoFar {
                    runs: 4,
                    done: 2,
                    done_before: 1,
                    passed: 61,
                    counted: 80,
                    ..ArmSoFar::default()
                },
                ArmSoFar {
                    runs: 4,
                    ..ArmSoFar::default()
                },
            ],
            ..WatchedState::default()
        };
        seen.arms[0].spent.add(Some(0.02));
        seen.running.insert("r".to_owned(), running(50, Some(100)));
        let seconds = Duration::from_secs;
        assert_eq!(
            seen.format_arm(0, "s a/m", seconds(30)),
            "s a/m  2/4 runs (50/100) · 61/80 passed · $0.0200 so far · about 30s left"
        );
        // Nothing is known of an arm that has not begun.
        assert_eq!(seen.format_arm(1, "s b/m", seconds(30)), "s b/m  0/4 runs");
    }
}
