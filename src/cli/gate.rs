//! `gate`: checks whether new runs are worse than allowed. Meant for CI, which reads the exit code.

use std::io::{self, Write};
use std::path::Path;

use tracing::info;

use crate::config::{self, OnInconclusive};
use crate::domain::{BUILT_IN, Bound, Filter, PASS_RATE, built_in, metric_key, visible};
use crate::render::json::{GateAnswer, GateDecideAnswer, GatePlanAnswer};
use crate::render::table::Table;
use crate::render::{
    comparability, csv, gate as page, gate_comment, gate_plan as gate_plan_page, json, junit,
    looked_at, markdown, tables, terminal,
};
use crate::results::WholeFile;
use crate::views::{
    Allowance, Ask, Baseline, Basis, Choice, GateReport, GateRule, Grouping, Held, OutdatedArm,
    Policy, Ruling, decide_held, gate, gate_plan, held_groups, on_good_nights, retracted,
    with_absent,
};
use crate::warehouse::Warehouse;

use super::arguments::{self, Format, Gate};
use super::baseline::{self, Opened};
use super::failure::{self, Failure};
use super::file_arms::AskedOfFiles;
use super::settings::Settings;
use super::shown::shown;
use super::{accept, engine, exit_code, foreign, output, policy, selection, unstarted};

/// Names the answer that unreadable results would make wrong.
const ANSWER: &str = "the gate's answer";

/// The answer of a gate.
pub(super) struct Gated {
    pub code: u8,
    /// The comment of a pull request, if rules were checked.
    pub comment: Option<String>,
}

pub(super) fn run(settings: &Settings, arguments: &Gate) -> Result<u8, Failure> {
    gated(settings, arguments).map(|gated| gated.code)
}

/// Checks the rules and prints the answer.
pub(super) fn gated(settings: &Settings, arguments: &Gate) -> Result<Gated, Failure> {
    let settings = &engine::with_engine(
        settings,
        &arguments.engine,
        &[&arguments.suites, &arguments.selection.suite],
    )?;
    let (suites, paths) = foreign::split(settings, &arguments.suites)?;
    let mut filter = arguments.selection.filter()?;
    filter.suites.extend(suites);
    let policy = policy::policy(settings, &arguments.judging)?;
    let accepting = arguments
        .accept
        .as_deref()
        .map(accept::reason)
        .transpose()?;
    let mut rules = rules_of(arguments)?;
    let metrics = asked_metrics(&rules);
    for rule in &settings.config.gate {
        rules.extend(configured(rule)?);
    }
    if rules.is_empty() && !arguments.instead.decide {
        if arguments.baseline.is_none() {
            if paths.is_empty() {
                // Where there are no runs, rules would not help.
                selection::check(&settings.open()?, &Filter::default())?;
            }
            return Err(Failure::new("no gate rule given").with_hint(
                "for example --baseline main.bundle, which checks for new failures, --max-drop 2pp, --max-cost +10% or --must-pass ITEM; or set `gate` \
                 in the configuration",
            ));
        }
        // The one rule that a single new run can decide.
        output::say(
            settings,
            "note: no rule is given, so the gate is --no-new-failures",
        );
        rules.push(no_new_failures());
    }
    let allowed = Allowance {
        removed: arguments.allow_removed,
        missing: share(arguments.max_missing.as_deref())?.unwrap_or_default(),
    };
    for rule in &mut rules {
        rule.allowance.removed |= allowed.removed;
        if arguments.max_missing.is_some() {
            rule.allowance.missing = allowed.missing;
        }
    }
    let has_files = !paths.is_empty()
        || arguments
            .baseline
            .as_ref()
            .is_some_and(|what| Path::new(what).exists());
    let asked = AskedOfFiles::take(&arguments.of_files, &mut filter, has_files)?;
    let (settings, stores) = &foreign::with_side(settings, &paths, &asked)?;
    // The named results are the new runs, whatever else the stores hold.
    filter.ids = if stores.is_empty() {
        Vec::new()
    } else {
        foreign::ids_in(settings, stores)?
    };
    let Opened {
        mut warehouse,
        baseline,
        taken,
        lasts,
        ..
    } = open(settings, arguments, &rules, (&asked, &filter.ids))?;
    output::refuse_incomplete(ANSWER, warehouse.problems())?;
    if let Baseline::Runs { both, .. } = &baseline
        && !both.is_empty()
    {
        output::say(
            settings,
            "note: the baseline has the same files as the new runs, so the gate compares these with themselves",
        );
    }
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check(&warehouse, &filter)?;
    policy::check_primaries(settings, &warehouse)?;
    unstarted::say(settings, &warehouse, &filter);
    let grouping = if arguments.newest_batch {
        Grouping::NewestBatch
    } else {
        Grouping::AllBatches
    };
    if accepting.is_some() && !matches!(baseline, Baseline::Last(_)) {
        return Err(
            Failure::new("--accept needs a baseline that moves with the runs").with_hint(
                "for example --baseline last:7; a fixed baseline is accepted by choosing another",
            ),
        );
    }
    let mut groups = held_groups(&warehouse, &filter, &baseline, grouping);
    if arguments.instead.plan || arguments.instead.decide {
        groups = on_good_nights(&warehouse, groups, &rules, &policy);
    }
    if groups.is_empty() {
        return Err(
            Failure::new("no new runs: all selected runs belong to the baseline").with_hint(
                "runs of the baseline are never new runs; --results must contain the new runs",
            ),
        );
    }
    let groups = with_absent(groups, &warehouse, &filter, &baseline);
    let asked = Asked {
        settings,
        arguments,
        warehouse: &warehouse,
        groups: &groups,
        filter: &filter,
        policy: &policy,
        taken,
        allowed,
    };
    let gated = if let Some(reason) = accepting {
        Gated {
            code: asked.accept(&rules, reason)?,
            comment: None,
        }
    } else if arguments.instead.plan {
        Gated {
            code: asked.plan(&rules)?,
            comment: None,
        }
    } else if arguments.instead.decide {
        Gated {
            code: asked.decide()?,
            comment: None,
        }
    } else {
        asked.judge(&metrics, &rules)?
    };
    if lasts {
        settings.keep(&mut warehouse)?;
    }
    Ok(gated)
}

/// The request, with the runs that it concerns.
struct Asked<'a> {
    settings: &'a Settings,
    arguments: &'a Gate,
    warehouse: &'a Warehouse,
    groups: &'a [Held<'a>],
    filter: &'a Filter,
    policy: &'a Policy,
    /// Says which runs are the baseline, if its name does not.
    taken: Option<String>,
    allowed: Allowance,
}

impl Asked<'_> {
    /// Checks the new runs against the rules.
    fn judge(&self, metrics: &[String], rules: &[GateRule]) -> Result<Gated, Failure> {
        let Self {
            settings,
            arguments,
            warehouse,
            ..
        } = *self;
        let report = gate(warehouse, self.groups, rules, self.policy);
        output::refuse_incomplete(ANSWER, &warehouse.late_problems())?;
        check_items(&report)?;
        if report.checks.is_empty() {
            return Err(no_rule());
        }
        check_metrics(metrics, &report)?;
        policy::check_margins(&arguments.judging, report.measured.values())?;
        if settings.strict {
            failure::refuse_unlike(&comparability::gate_notes(&report))?;
        }
        self.refuse_outdated(&report.outdated)?;
        let is_without = report
            .checks
            .iter()
            .any(|check| matches!(check.basis, Basis::NoBaseline | Basis::OtherVersion));
        let notes = self.notes(is_without);
        let on_inconclusive = on_inconclusive(settings, arguments.on_inconclusive);
        let fail_inconclusive = on_inconclusive == Some(OnInconclusive::Fail);
        if let Some(path) = &arguments.junit {
            write(path, &junit::junit(&report, fail_inconclusive))?;
        }
        let comment = || gate_comment::comment(&report, arguments.baseline.as_deref(), &notes);
        if let Some(path) = &arguments.markdown {
            write(path, &comment())?;
        }
        let gated = Gated {
            code: code(report.ruling, on_inconclusive),
            comment: Some(comment()),
        };
        let table = page::table(&report, arguments.baseline.as_deref(), &notes);
        output::print(&match settings.format {
            Format::Junit => junit::junit(&report, fail_inconclusive),
            Format::Markdown => comment(),
            Format::Json | Format::Full => {
                let (against, missing, taken) = (
                    arguments.baseline.clone(),
                    self.missing(),
                    self.taken.clone(),
                );
                let comment = comment();
                let looked_at_sentences = report.looked_at.iter().map(looked_at::line).collect();
                let answer = GateAnswer {
                    against,
                    missing,
                    taken,
                    looked_at_sentences,
                    report,
                    retracted: self.retracted(),
                };
                let answer = json::document("gate", answer);
                in_json(settings, &table, &comment, answer)
            }
            format => laid_out(&table, format, settings),
        })?;
        Ok(gated)
    }

    /// Accepts what is regressed, and prints it.
    fn accept(&self, rules: &[GateRule], reason: &str) -> Result<u8, Failure> {
        let report = gate(self.warehouse, self.groups, rules, self.policy);
        output::refuse_incomplete(ANSWER, &self.warehouse.late_problems())?;
        accept::accept(self.settings, &report, reason)
    }

    /// Prints the odds of the rules, without a ruling.
    fn plan(&self, rules: &[GateRule]) -> Result<u8, Failure> {
        let report = gate_plan(self.warehouse, self.groups, rules, self.policy);
        if report.plans.is_empty() {
            return Err(Failure::new(
                "no rule is about the pass rate of a selected suite; odds exist only for those",
            )
            .with_hint("for example --max-drop 2pp or --no-new-failures"));
        }
        let table = gate_plan_page::table(
            &report,
            self.arguments.baseline.as_deref(),
            &self.notes(false),
        );
        self.answer("gate-plan", &table, || GatePlanAnswer {
            against: self.arguments.baseline.clone(),
            report,
        })?;
        Ok(exit_code::DONE)
    }

    /// Prints whether to ship the new runs.
    fn decide(&self) -> Result<u8, Failure> {
        let settings = self.settings;
        let report = decide_held(self.warehouse, self.groups, self.allowed, self.policy);
        output::refuse_incomplete(ANSWER, &self.warehouse.late_problems())?;
        let measured = report
            .decisions
            .iter()
            .filter_map(|one| one.comparison.as_ref())
            .flat_map(|table| &table.rows);
        policy::check_margins(&self.arguments.judging, measured.map(|row| &row.metric))?;
        self.refuse_outdated(&report.outdated)?;
        let tables = report
            .decisions
            .iter()
            .filter_map(|one| one.comparison.as_ref());
        policy::warn_primaries(
            settings,
            tables.map(|table| (table.suite.as_str(), table.primary_not_measured.as_ref())),
        );
        let is_without = report
            .decisions
            .iter()
            .any(|decision| decision.decision.is_none());
        let table = gate_plan_page::decisions(
            &report,
            self.arguments.baseline.as_deref(),
            &self.notes(is_without),
        );
        let code = match report.choice {
            Choice::Ship => exit_code::DONE,
            Choice::Keep => exit_code::NEGATIVE,
            Choice::ChooseByPrice | Choice::Measure | Choice::CannotSettle | Choice::Incomplete => {
                exit_code::INCONCLUSIVE
            }
        };
        self.answer("gate-decide", &table, || GateDecideAnswer {
            against: self.arguments.baseline.clone(),
            missing: self.missing(),
            sentences: report
                .decisions
                .iter()
                .map(gate_plan_page::decision)
                .collect(),
            report,
        })?;
        Ok(code)
    }

    /// Fails, under `--strict`, if the newest version of a suite lacks arms of the new runs.
    fn refuse_outdated(&self, arms: &[OutdatedArm]) -> Result<(), Failure> {
        if !self.settings.strict || arms.is_empty() {
            return Ok(());
        }
        let details = page::outdated(arms)
            .iter()
            .map(|line| visible(line.trim_end_matches('.')))
            .collect();
        let failure = Failure {
            details,
            ..Failure::new(
                "the newest version of a suite lacks arms of the head, and --strict refuses that",
            )
        };
        Err(failure
            .with_hint("run these arms on it, or select the others with --approach and --model"))
    }

    fn answer<T: serde::Serialize>(
        &self,
        name: &str,
        table: &Table,
        answer: impl FnOnce() -> T,
    ) -> Result<(), Failure> {
        output::print(&match self.settings.format {
            Format::Junit => return Err(output::no_junit()),
            Format::Json | Format::Full => in_json(
                self.settings,
                table,
                &laid_out(table, Format::Markdown, self.settings),
                json::document(name, answer()),
            ),
            format => laid_out(table, format, self.settings),
        })
    }

    fn retracted(&self) -> u64 {
        retracted(self.warehouse, self.filter)
    }

    /// Returns whether the baseline moves with the runs, so that the new runs become part of it.
    fn grows(&self) -> bool {
        self.arguments
            .baseline
            .as_deref()
            .is_some_and(|baseline| baseline.starts_with("last:"))
    }

    /// Says why there is no baseline at all, which is possible only for one that moves with the runs.
    fn missing(&self) -> Option<String> {
        let is_without = self
            .groups
            .iter()
            .all(|held| held.baseline.is_empty() && held.other_versions.is_empty());
        (is_without && self.grows())
            .then(|| "no batch before the new runs, so there is no baseline yet".to_owned())
    }

    /// Returns notes about the runs and, if there is no baseline, how to make one.
    fn notes(&self, is_without: bool) -> Vec<String> {
        let mut notes: Vec<String> = self.taken.iter().cloned().collect();
        if is_without {
            notes.extend(self.missing().map(|tried| format!("There is {tried}.")));
            // The first night, or the first with a new version of the suite.
            notes.push(if self.grows() {
                "These runs become the baseline of the next ones; nothing is to be done.".to_owned()
            } else {
                "To make a baseline, run `evalreport export bundle FILE` beside its results, then use --baseline FILE.".to_owned()
            });
        }
        notes.extend(tables::scope_notes(
            self.retracted(),
            !self.warehouse.aliases().is_empty(),
        ));
        notes
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        let mut file = WholeFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    };
    write().map_err(|error: io::Error| {
        Failure::new(format!("cannot write {}: {error}", shown(path)))
    })?;
    info!(file = %path.display(), "file written");
    Ok(())
}

/// Formats a table in any format except JSON and JUnit XML.
fn laid_out(table: &Table, format: Format, settings: &Settings) -> String {
    match format {
        Format::Csv => csv::table(table),
        Format::Markdown => format!("{}\n{}", gate_comment::MARKER, markdown::table(table)),
        Format::Table | Format::Junit | Format::Json | Format::Full => {
            terminal::table(table, settings.style)
        }
    }
}

/// Returns the JSON answer, with the table and the Markdown if the format asks for all.
fn in_json(settings: &Settings, table: &Table, markdown: &str, answer: String) -> String {
    if settings.format == Format::Full {
        output::full(settings, std::slice::from_ref(table), markdown, &answer)
    } else {
        answer
    }
}

fn no_rule() -> Failure {
    Failure::new("no rule is about a selected suite and approach")
        .with_hint("`evalreport list` shows all suites")
}

/// Fails if a `must_pass` item is in no selected suite: a typo must not silently disable a rule.
fn check_items(report: &GateReport) -> Result<(), Failure> {
    let Some(unknown) = report.unknown.first() else {
        return Ok(());
    };
    let failure = Failure::new(format!(
        "no item `{}` in a selected suite",
        visible(&unknown.pattern)
    ));
    Err(match &unknown.near {
        Some(near) => failure.with_hint(format!("did you mean `{}`?", visible(near))),
        None => failure.with_hint("`*` matches any text, for example `auth/*`; `evalreport show RUN --items all` lists the items of a run"),
    })
}

/// Fails if the configuration has no gate rule, or an invalid one.
pub(super) fn check_configured(settings: &Settings) -> Result<(), Failure> {
    if settings.config.gate.is_empty() {
        return Err(Failure::new("no gate rule given")
            .with_hint("write rules under `gate` in the configuration"));
    }
    settings
        .config
        .gate
        .iter()
        .try_for_each(|rule| configured(rule).map(drop))
}

/// Returns what an inconclusive answer means: as the command says, or else the configuration.
fn on_inconclusive(
    settings: &Settings,
    asked: Option<arguments::OnInconclusive>,
) -> Option<OnInconclusive> {
    let asked = asked.map(|asked| match asked {
        arguments::OnInconclusive::Fail => OnInconclusive::Fail,
        arguments::OnInconclusive::Pass => OnInconclusive::Pass,
    });
    asked.or(settings.config.on_inconclusive)
}

fn code(ruling: Ruling, on_inconclusive: Option<OnInconclusive>) -> u8 {
    match (ruling, on_inconclusive) {
        (Ruling::Pass, _) | (Ruling::Inconclusive, Some(OnInconclusive::Pass)) => exit_code::DONE,
        (Ruling::Regression, _) | (Ruling::Inconclusive, Some(OnInconclusive::Fail)) => {
            exit_code::NEGATIVE
        }
        (Ruling::Inconclusive, None) => exit_code::INCONCLUSIVE,
    }
}

fn open(
    settings: &Settings,
    arguments: &Gate,
    rules: &[GateRule],
    files: (&AskedOfFiles, &[String]),
) -> Result<Opened, Failure> {
    if let Some(what) = &arguments.baseline {
        return baseline::open(
            settings,
            what,
            settings.options(),
            !arguments.newest_batch,
            files,
        );
    }
    // Items pass or fail by themselves; every other rule compares with a baseline. Odds need only the new runs.
    let is_change = rules
        .iter()
        .any(|rule| !matches!(rule.ask, Ask::MustPass { .. }));
    if arguments.instead.decide || (is_change && !arguments.instead.plan) {
        return Err(Failure::new("a rule needs a baseline to measure a change")
            .with_hint("give a store, a bundle, a result file, a run id, last:K, a tag KEY=VALUE or a git revision"));
    }
    let baseline = Baseline::Runs {
        ids: std::collections::BTreeSet::new(),
        both: std::collections::BTreeSet::new(),
        grouping: Grouping::NewestBatch,
    };
    Ok(Opened::of(settings.open_whole(ANSWER)?, baseline))
}

/// Returns the rules of the command line, which apply to all suites and approaches.
fn rules_of(arguments: &Gate) -> Result<Vec<GateRule>, Failure> {
    let metric = metric_key(arguments.metric.as_deref().unwrap_or(PASS_RATE));
    let bound = |option: &str, text: &Option<String>| {
        text.as_deref()
            .map(|text| {
                Bound::parse(text).ok_or_else(|| {
                    Failure::new(format!("{option} `{}` is no amount", visible(text)))
                        .with_hint("write a number, or as in 2pp or 10%")
                })
            })
            .transpose()
    };
    let (drop, rise) = (
        bound("--max-drop", &arguments.max_drop)?,
        bound("--max-rise", &arguments.max_rise)?,
    );
    if arguments.metric.is_some() && drop.or(rise).is_none() {
        return Err(Failure::new("--metric has no bound")
            .with_hint("give the allowed change with --max-drop or --max-rise"));
    }
    let mut rules: Vec<GateRule> = bounded(metric, drop, rise).collect();
    if let Some(text) = &arguments.max_cost {
        // Without the percent sign, 10 could mean dollars or ten times the cost.
        let cost = Bound::parse(text)
            .filter(|bound| bound.is_percent())
            .ok_or_else(|| {
                Failure::new(format!("--max-cost `{}` is no percentage", visible(text)))
                    .with_hint("write it as in +10%")
            })?;
        rules.extend(bounded("cost_usd", None, Some(cost)));
    }
    rules.extend(arguments.must_pass.iter().map(|item| must_pass(item)));
    rules.extend(arguments.no_new_failures.then(no_new_failures));
    check_shares(&rules, "the command line")?;
    Ok(rules)
}

/// Returns the rules of one entry of the configuration.
fn configured(entry: &config::Gate) -> Result<Vec<GateRule>, Failure> {
    let metric = metric_key(entry.metric.as_deref().unwrap_or(PASS_RATE));
    let asked = bounded(metric, entry.max_drop, entry.max_rise)
        .chain(entry.must_pass.iter().map(|item| must_pass(item)));
    let asked = asked.chain(entry.no_new_failures.then(no_new_failures));
    let missing = entry.max_missing.map_or(0.0, |bound| bound.value);
    let allowance = Allowance {
        removed: entry.allow_removed,
        missing,
    };
    let rules: Vec<GateRule> = asked
        .map(|rule| GateRule {
            suite: entry.suite.clone(),
            approach: entry.approach.clone(),
            allowance,
            ..rule
        })
        .collect();
    check_shares(&rules, "`gate` in the configuration")?;
    Ok(rules)
}

fn bounded(
    metric: &str,
    drop: Option<Bound>,
    rise: Option<Bound>,
) -> impl Iterator<Item = GateRule> {
    let rule = |ask, bound: Bound| GateRule {
        is_percent: bound.is_percent(),
        ..plain(ask)
    };
    let drop = drop.map(|bound| {
        rule(
            Ask::MaxDrop {
                metric: metric.to_owned(),
                allowed: bound.value,
            },
            bound,
        )
    });
    let rise = rise.map(|bound| {
        rule(
            Ask::MaxRise {
                metric: metric.to_owned(),
                allowed: bound.value,
            },
            bound,
        )
    });
    drop.into_iter().chain(rise)
}

/// Returns a rule for all suites and approaches.
fn plain(ask: Ask) -> GateRule {
    GateRule {
        suite: None,
        approach: None,
        ask,
        is_percent: false,
        allowance: Allowance::default(),
    }
}

/// Reads the share of items that may be missing.
fn share(text: Option<&str>) -> Result<Option<f64>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let share = Bound::parse(text)
        .map(|bound| bound.value)
        .filter(|share| *share < 1.0);
    share.map(Some).ok_or_else(|| {
        Failure::new(format!(
            "--max-missing `{}` is no share of the items",
            visible(text)
        ))
        .with_hint("write it as in 5% or 0.05")
    })
}

fn must_pass(item: &str) -> GateRule {
    plain(Ask::MustPass {
        item: item.to_owned(),
    })
}

fn no_new_failures() -> GateRule {
    plain(Ask::NoNewFailures)
}

/// Fails if a pass rate may change by 100 pp or more, which is a mistake in the unit.
fn check_shares(rules: &[GateRule], place: &str) -> Result<(), Failure> {
    for rule in rules {
        let (Ask::MaxDrop { metric, allowed } | Ask::MaxRise { metric, allowed }) = &rule.ask
        else {
            continue;
        };
        if metric == PASS_RATE && *allowed >= 1.0 {
            return Err(Failure::new(format!(
                "{place} allows the pass rate to change by {} percentage points",
                allowed * 100.0
            ))
            .with_hint("write 2pp or 0.02 for two percentage points"));
        }
    }
    Ok(())
}

/// Returns the metrics that rules are about.
fn asked_metrics(rules: &[GateRule]) -> Vec<String> {
    let metric = |rule: &GateRule| match &rule.ask {
        Ask::MaxDrop { metric, .. } | Ask::MaxRise { metric, .. } => Some(metric.clone()),
        Ask::MustPass { .. } | Ask::NoNewFailures => None,
    };
    rules.iter().filter_map(metric).collect()
}

/// Fails if a metric of the command line is unknown: a typo must not look like missing data.
fn check_metrics(metrics: &[String], report: &GateReport) -> Result<(), Failure> {
    for metric in metrics {
        if built_in(metric).is_none() && !report.measured.contains_key(metric) {
            let always = BUILT_IN.into_iter().map(|(name, _, _)| name);
            return Err(selection::unknown(
                "metric",
                metric,
                always.chain(report.measured.keys().map(String::as_str)),
            ));
        }
    }
    Ok(())
}
