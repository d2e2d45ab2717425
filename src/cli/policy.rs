//! What is fixed before anybody looks at the numbers, from the configuration and the command line.

use std::collections::BTreeMap;

use crate::config::{EXCLUSIONS_FILE, load_exclusions};
use crate::domain::{metric_key, parse_amount, visible};
use crate::views::{Design, Policy};

use super::arguments::{ClusterField, Judging, JudgingDesign};
use super::failure::Failure;
use super::settings::Settings;

/// The configuration's policy.
pub(super) fn configured(settings: &Settings) -> Result<Policy, Failure> {
    let path = settings.config.folder.join(EXCLUSIONS_FILE);
    let exclusions = load_exclusions(&path).map_err(|problems| Failure::of_document(&path, &problems))?;
    let designs = settings.config.designs.iter().map(|(suite, design)| (suite.clone(), of_config(*design))).collect();
    Ok(Policy { metrics: settings.config.metrics.clone(), designs, exclusions, ..Policy::default() })
}

/// The configuration's policy under the options of a command.
pub(super) fn policy(settings: &Settings, options: &Judging) -> Result<Policy, Failure> {
    let mut policy = configured(settings)?;
    if let Some(alpha) = options.alpha {
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(Failure::new(format!("--alpha {alpha} is not a chance between 0 and 1")).with_hint("0.05 is one in twenty"));
        }
        policy.alpha = alpha;
    }
    for text in &options.margin {
        let (metric, margin) = parse_margin(text).ok_or_else(|| {
            Failure::new(format!("--margin `{}` is not METRIC=VALUE", visible(text)))
                .with_hint("as in --margin shared_tests=2pp, --margin cost_usd=10%, --margin duration_seconds=0.1")
        })?;
        policy.metrics.entry(metric).or_default().margin = Some(margin);
    }
    policy.use_clusters = options.cluster != Some(ClusterField::None);
    if let Some(design) = options.design {
        let design = match design {
            JudgingDesign::Items => Design::Items,
            JudgingDesign::Clusters => Design::Clusters,
            JudgingDesign::Runs => Design::Runs,
        };
        policy.designs = BTreeMap::from([(String::new(), design)]);
    }
    Ok(policy)
}

fn of_config(design: crate::config::SuiteDesign) -> Design {
    match design {
        crate::config::SuiteDesign::Items => Design::Items,
        crate::config::SuiteDesign::Clusters => Design::Clusters,
        crate::config::SuiteDesign::Runs => Design::Runs,
    }
}

/// `shared_tests=2pp`, `cost_usd=10%`, `score=1.5`: the pass rate's names all mean the headline rate.
fn parse_margin(text: &str) -> Option<(String, f64)> {
    let (metric, amount) = text.split_once('=')?;
    let value = parse_amount(amount)?;
    let metric = metric_key(metric);
    (!metric.is_empty()).then(|| (metric.to_owned(), value))
}
