//! The policy: settings of the tests that are fixed before anybody looks at the numbers, from the configuration and the command line.

use std::collections::{BTreeMap, BTreeSet};

use tracing::warn;

use crate::config::{EXCLUSIONS_FILE, JudgeErrors, SuiteDesign, load_exclusions, parse_share_of};
use crate::domain::{
    BUILT_IN, COST_PER_SOLVED, ChangeBound, Direction, Metric, MetricKind, NoMargin, PASS_RATE,
    built_in_metric, escape_invisible, metric_key,
};
use crate::views::{Calibration, Design, ITEM_SCORE, Policy};
use crate::warehouse::Warehouse;

use super::failure::CommandFailure;
use super::options::{ClusterField, Judging, JudgingDesign};
use super::settings::Settings;
use super::{output, selection};

/// Returns the configuration's policy.
pub(super) fn configured_policy(settings: &Settings) -> Result<Policy, CommandFailure> {
    let path = settings.config.folder.join(EXCLUSIONS_FILE);
    let exclusions = load_exclusions(&path)
        .map_err(|problems| CommandFailure::from_document(&path, &problems))?;
    let configured = || settings.config.designs.iter();
    let designs = configured()
        .filter_map(|(suite, design)| Some((suite.clone(), design_unit(*design)?)))
        .collect();
    let independent = configured()
        .filter(|(_, design)| **design == SuiteDesign::Independent)
        .map(|(suite, _)| suite.clone())
        .collect();
    let primary = settings.config.primaries.clone();
    let judge_errors = settings.config.judge_errors.map(to_calibration);
    Ok(Policy {
        metrics: settings.config.metrics.clone(),
        usd_per_unit: settings.config.usd_per_unit,
        primary,
        designs,
        independent,
        exclusions,
        judge_errors,
        ..Policy::default()
    })
}

/// Returns the configuration's policy with the options of a command applied.
pub(super) fn policy_with_options(
    settings: &Settings,
    options: &Judging,
) -> Result<Policy, CommandFailure> {
    let mut policy = configured_policy(settings)?;
    if let Some(alpha) = options.alpha {
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(
                CommandFailure::new(format!("--alpha {alpha} is not between 0 and 1"))
                    .with_hint("for example 0.05"),
            );
        }
        policy.alpha = alpha;
    }
    for text in &options.margin {
        let (metric, bound) = parse_margin(text)?;
        let own = policy.metrics.entry(metric.clone()).or_default();
        // Other metrics are known only after the runs have been read, see `check_margins`.
        if let Some((unit, kind)) = built_in_metric(&metric) {
            bound
                .to_margin(own.unit.unwrap_or(unit), own.kind.unwrap_or(kind))
                .map_err(|wrong| margin_failure(text, wrong))?;
        }
        own.margin = Some(bound.value);
    }
    if let Some(errors) = options.judge_errors.as_deref() {
        policy.judge_errors = Some(to_calibration(parse_errors(errors)?));
    }
    policy.use_clusters = options.cluster != Some(ClusterField::None);
    if let Some(design) = options.design {
        let unit = design_unit(match design {
            JudgingDesign::Items => SuiteDesign::Items,
            JudgingDesign::Clusters => SuiteDesign::Clusters,
            JudgingDesign::Runs => SuiteDesign::Runs,
            JudgingDesign::Independent => SuiteDesign::Independent,
        });
        // The option replaces what the configuration says of any suite.
        policy.independent.clear();
        match unit {
            Some(unit) => policy.designs = BTreeMap::from([(String::new(), unit)]),
            None => policy.independent = BTreeSet::from([String::new()]),
        }
    }
    Ok(policy)
}

/// Reads `sensitivity=.93/200,specificity=.88/150`.
fn parse_errors(text: &str) -> Result<JudgeErrors, CommandFailure> {
    let part = |name: &str| {
        parse_share_of(
            text.split(',')
                .find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))?,
        )
    };
    let both = (text.split(',').count() == 2)
        .then(|| part("sensitivity").zip(part("specificity")))
        .flatten();
    let refused = |why: &str| {
        CommandFailure::new(format!("--judge-errors `{}` {why}", escape_invisible(text)))
            .with_hint("as in --judge-errors sensitivity=.93/200,specificity=.88/150: the judge passes 93% of 200 true passes and fails 88% of 150 true fails")
    };
    let Some((sensitivity, specificity)) = both else {
        return Err(refused("is not two shares with numbers of items"));
    };
    JudgeErrors::new(sensitivity, specificity)
        .ok_or_else(|| refused("is no better than chance, which nothing can correct"))
}

fn to_calibration(errors: JudgeErrors) -> Calibration {
    let JudgeErrors {
        sensitivity: (sensitivity, passes),
        specificity: (specificity, fails),
    } = errors;
    Calibration {
        sensitivity,
        passes: f64::from(passes),
        specificity,
        fails: f64::from(fails),
    }
}

/// Fails if the name of a primary metric is unknown, once there are runs: a typo must not leave the decision to another metric.
pub(super) fn check_primaries(
    settings: &Settings,
    warehouse: &Warehouse,
) -> Result<(), CommandFailure> {
    if warehouse.runs().is_empty() {
        return Ok(());
    }
    let scores = || {
        warehouse
            .runs()
            .iter()
            .flat_map(|row| &row.run.scores)
            .map(|score| score.metric.as_str())
    };
    let declared = || settings.config.metrics.keys().map(String::as_str);
    let known = || {
        BUILT_IN
            .iter()
            .map(|(name, _, _)| *name)
            .chain([ITEM_SCORE, COST_PER_SOLVED])
            .chain(scores())
            .chain(declared())
    };
    match settings
        .config
        .primaries
        .iter()
        .find(|(_, metric)| known().all(|name| name != metric.as_str()))
    {
        None => Ok(()),
        Some((suite, metric)) => {
            let failure = selection::unknown_name("metric", metric, known());
            Err(CommandFailure {
                message: format!(
                    "`primary.{}` in the configuration: {}",
                    escape_invisible(suite),
                    failure.message
                ),
                ..failure
            })
        }
    }
}

/// Warns of suites whose primary metric was never measured. `tables` yields each suite's name and, if its primary metric was not measured,
/// the metric.
pub(super) fn warn_primaries<'a>(
    settings: &Settings,
    tables: impl Iterator<Item = (&'a str, Option<&'a String>)>,
) {
    for (suite, metric) in tables {
        if let Some(metric) = metric {
            warn!(suite, metric, "primary metric not measured");
            output::print_message(
                settings,
                &format!(
                    "warning: `primary.{}` in the configuration: no run here has `{}`; another metric decides",
                    escape_invisible(suite),
                    escape_invisible(metric)
                ),
            );
        }
    }
}

/// Returns the unit of a design, or `None` for independent samples, which [`Policy::independent`] lists.
fn design_unit(design: SuiteDesign) -> Option<Design> {
    match design {
        SuiteDesign::Items => Some(Design::Items),
        SuiteDesign::Clusters => Some(Design::Clusters),
        SuiteDesign::Runs => Some(Design::Runs),
        SuiteDesign::Independent => None,
    }
}

/// Fails if a margin of the command line would have no effect, because no selected run measures its metric or the metric is never judged,
/// or if its unit does not fit the metric.
pub(super) fn check_margins<'a>(
    options: &Judging,
    measured: impl Iterator<Item = &'a Metric>,
) -> Result<(), CommandFailure> {
    let measured: BTreeMap<&str, &Metric> = measured
        .map(|metric| (metric.name.as_str(), metric))
        .collect();
    let is_judged = |metric: &Metric| {
        metric.direction != Direction::None
            && metric.kind != MetricKind::Count
            && metric.name != "own_tests"
    };
    let judged = || {
        measured
            .values()
            .filter(|metric| is_judged(metric))
            .map(|metric| metric.name.as_str())
    };
    let judged_here = || {
        format!(
            "judged here: {}",
            judged()
                .map(escape_invisible)
                .collect::<Vec<_>>()
                .join(", ")
        )
    };
    for text in &options.margin {
        let (key, bound) = parse_margin(text)?;
        // A score of the runs whose row is that of the items has its name as a label.
        let named = measured
            .get(key.as_str())
            .or_else(|| measured.values().find(|metric| metric.label == key));
        match named {
            Some(metric) if is_judged(metric) => {
                bound
                    .to_margin(metric.unit, metric.kind)
                    .map_err(|wrong| margin_failure(text, wrong))?;
            }
            Some(_) => {
                let failure = CommandFailure::new(format!(
                    "--margin `{}`: `{}` is shown but never judged",
                    escape_invisible(text),
                    escape_invisible(&key)
                ));
                return Err(failure.with_hint(judged_here()));
            }
            None if BUILT_IN.iter().any(|(name, _, _)| *name == key) => {
                let failure = CommandFailure::new(format!(
                    "--margin `{}`: no selected run measures `{}`",
                    escape_invisible(text),
                    escape_invisible(&key)
                ));
                return Err(failure.with_hint(judged_here()));
            }
            None => return Err(selection::unknown_name("metric", &key, judged())),
        }
    }
    Ok(())
}

/// Fails if a margin is for another metric than the pass rate, for commands that judge only pass rates.
pub(super) fn check_only_pass_rate(options: &Judging) -> Result<(), CommandFailure> {
    for text in &options.margin {
        let (key, _) = parse_margin(text)?;
        if key != PASS_RATE {
            return Err(CommandFailure::new(format!(
                "--margin `{}`: only pass rates are judged here",
                escape_invisible(text)
            ))
            .with_hint("`evalreport compare` judges the other metrics"));
        }
    }
    Ok(())
}

/// Fails if there are margins, for commands that judge no equivalence.
pub(super) fn refuse_margins(options: &Judging) -> Result<(), CommandFailure> {
    options.margin.first().map_or(Ok(()), |text| {
        Err(CommandFailure::new(format!(
            "--margin `{}`: nothing is judged equivalent here",
            escape_invisible(text)
        ))
        .with_hint("`evalreport compare` judges by margins"))
    })
}

fn margin_failure(text: &str, wrong: NoMargin) -> CommandFailure {
    CommandFailure::new(format!(
        "--margin `{}` {}",
        escape_invisible(text),
        wrong.problem
    ))
    .with_hint(wrong.hint)
}

/// Reads `shared_tests=2pp`, `cost_usd=10%` or `score=1.5`. All names of the pass rate mean the headline rate.
fn parse_margin(text: &str) -> Result<(String, ChangeBound), CommandFailure> {
    let parsed = text
        .split_once('=')
        .and_then(|(metric, amount)| Some((metric_key(metric), ChangeBound::parse(amount)?)));
    parsed.filter(|(metric, _)| !metric.is_empty()).map(|(metric, bound)| (metric.to_owned(), bound)).ok_or_else(|| {
        CommandFailure::new(format!("--margin `{}` is not METRIC=VALUE", escape_invisible(text)))
            .with_hint("as in --margin shared_tests=2pp, --margin cost_usd=10%, --margin duration_seconds=0.1")
    })
}
