//! Shows a plan in progress to a person or a log: a changing line on a terminal, one plain line per event in a pipe.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tracing::{info, warn};

use crate::domain::{ItemStatus, Run, RunStatus, escape_invisible};
use crate::render::format;
use crate::results::PlannedArm;
use crate::run::{RunEvent, RunnableArm};

use super::output;

/// Number of steps of the bar per run, so that the bar also moves within a run of a thousand questions.
const STEPS_PER_RUN: u64 = 1000;
/// Maximum length of an error in a line, in characters.
const MAX_ERROR_CHARACTERS: usize = 200;
/// Maximum number of troubled items per run shown on a terminal, above the changing line. A pipe gets all of them.
const ITEMS_ON_A_TERMINAL: u64 = 3;

/// A run in progress.
struct RunInProgress {
    name: String,
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
    cost: Option<f64>,
    /// Whether some cost is unknown, so that `cost` is a lower bound.
    is_lower_bound: bool,
}

pub(super) struct PlanWatch {
    seen: Mutex<WatchedState>,
    total: u64,
    arms: Vec<PlannedArm>,
    /// Number of questions per run, by arm; `None` for code.
    questions: Vec<Option<u64>>,
    quiet: bool,
    bar: Option<ProgressBar>,
    start: Instant,
}

impl PlanWatch {
    /// Watches `total` runs of these arms, of which those in `done` are already finished. Without a terminal, every event is a line unless
    /// `quiet` is set. On a terminal, important events stay above the changing line.
    pub fn new(
        arms: &[RunnableArm],
        total: usize,
        done: &[Run],
        is_terminal: bool,
        quiet: bool,
    ) -> Self {
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let mut seen = WatchedState {
            done: done.len() as u64,
            ..WatchedState::default()
        };
        seen.failed = done
            .iter()
            .filter(|run| run.status != RunStatus::Completed)
            .count() as u64;
        for run in done {
            seen.add_cost(run.cost_usd);
        }
        let before = seen.done;
        Self {
            seen: Mutex::new(seen),
            total,
            questions: arms.iter().map(RunnableArm::question_count).collect(),
            arms: arms.iter().map(|arm| arm.planned.clone()).collect(),
            quiet,
            bar: is_terminal.then(|| draw_bar(total, before)),
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
                seen.add_cost(*cost_usd);
                let is_troubled = !matches!(status, ItemStatus::Pass | ItemStatus::Fail);
                let mut troubled = 0;
                if let Some(running) = seen.running.get_mut(run.id.as_str()) {
                    running.items += 1;
                    running.troubled += u64::from(is_troubled);
                    troubled = running.troubled;
                }
                if is_troubled && (self.bar.is_none() || troubled <= ITEMS_ON_A_TERMINAL) {
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
                // The cost of questions was already added one by one.
                if self.questions.get(run.arm).is_none_or(Option::is_none) {
                    seen.add_cost(record.cost_usd);
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
                        .format_cost()
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
                info!(run = %run.id, "run left to another process");
                self.print_lasting(&format!(
                    "left      {}, run {}: another process is at it",
                    self.run_name(run.arm, run.index),
                    run.id
                ));
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_position(seen.progress_steps());
            bar.set_message(seen.format_progress(self.total));
        }
    }

    /// Removes the line from the screen.
    pub fn clear_line(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let (done, cost) = self
            .seen
            .lock()
            .map_or((0, None), |seen| (seen.done, seen.cost));
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

    /// Prints an event that must stay visible, above the bar if there is one: a result or an error.
    fn print_lasting(&self, text: &str) {
        match &self.bar {
            Some(bar) if !self.quiet => bar.println(text),
            Some(_) => {}
            None => self.print_line(text),
        }
    }

    /// Prints an event, if there is no bar that shows it.
    fn print_line(&self, text: &str) {
        if self.bar.is_none() && !self.quiet {
            output::write_stderr(text);
        }
    }
}

impl WatchedState {
    fn add_cost(&mut self, cost: Option<f64>) {
        match cost {
            Some(cost) => *self.cost.get_or_insert(0.0) += cost,
            None => self.is_lower_bound = true,
        }
    }

    /// Formats the cost, such as `$0.02 so far`. `None` if no cost is known.
    fn format_cost(&self) -> Option<String> {
        let least = if self.is_lower_bound { "≥ " } else { "" };
        self.cost
            .map(|cost| format!("{least}{} so far", format::money(cost)))
    }

    /// Returns the progress of all runs, in steps of the bar.
    fn progress_steps(&self) -> u64 {
        let share = |running: &RunInProgress| {
            running
                .of
                .filter(|of| *of > 0)
                .map_or(0, |of| running.items.min(of) * STEPS_PER_RUN / of)
        };
        // Rounding or a resumed run may complete a run's steps early. The last step counts only when the run has ended.
        (self.done + self.left) * STEPS_PER_RUN
            + self
                .running
                .values()
                .map(|running| share(running).min(STEPS_PER_RUN - 1))
                .sum::<u64>()
    }

    /// Formats the progress, such as `3/10 runs, 1 not completed · $0.02 so far · tasktracker oneshot/m 2 (setup) and 1 more`.
    fn format_progress(&self, total: u64) -> String {
        let failed = if self.failed > 0 {
            format!(", {} not completed", self.failed)
        } else {
            String::new()
        };
        let mut parts = vec![format!("{}/{total} runs{failed}", self.done)];
        parts.extend(self.format_cost());
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

fn draw_bar(total: u64, before: u64) -> ProgressBar {
    // The message is limited to the remaining width: a line that wraps would stay on the screen.
    let style = ProgressStyle::with_template("{bar:16} {elapsed}{left} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "left",
            move |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                if let Some(left) = estimate_remaining(
                    state.elapsed(),
                    state.pos(),
                    before * STEPS_PER_RUN,
                    state.len().unwrap_or(0),
                ) {
                    // Writing into a text in memory cannot fail.
                    let _ = write!(text, ", about {:#} left", HumanDuration(left));
                }
            },
        );
    let bar = ProgressBar::with_draw_target(
        Some(total.saturating_mul(STEPS_PER_RUN)),
        ProgressDrawTarget::stderr_with_hz(10),
    )
    .with_style(style);
    bar.set_position(before * STEPS_PER_RUN);
    bar.set_message(
        WatchedState {
            done: before,
            ..WatchedState::default()
        }
        .format_progress(total),
    );
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
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
        seen.add_cost(Some(0.5));
        assert_eq!(
            seen.format_progress(3),
            "1/3 runs, 1 not completed · $0.50 so far · s a/m 1 (125/100) and 1 more"
        );
        seen.add_cost(None);
        seen.running.remove("r");
        assert_eq!(
            seen.format_progress(3),
            "1/3 runs, 1 not completed · ≥ $0.50 so far · s a/m 1 (setup)"
        );
    }
}
