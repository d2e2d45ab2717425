//! From stored outcomes to a decision: which runs count, what was independently repeated, each arm's figures, the evidence about each pair,
//! and what to do. Each noun has one file; data flows from the sample to the decision.
//!
//! ```text
//! arm (which runs) -> sample, item_scores, scores -> estimate -> comparison (paired, unpaired, numbers) -> family -> verdict -> ranking
//!                                                                                                                      |-> answer -> decision
//! ```

mod absent;
mod accepted;
mod answer;
mod apart;
mod arm;
mod audit;
mod baseline;
mod cell;
mod claims;
mod comparability;
mod comparison;
mod condition;
mod conditions;
mod decision;
mod detail;
mod estimate;
mod exclusions;
mod family;
mod figures;
mod finding;
mod front;
mod grouping;
mod history;
mod item_course;
mod item_scores;
mod labelled;
mod made_up;
mod meeting;
mod metrics;
mod mismatch;
mod nights;
mod numbers;
mod pair;
mod paired;
mod policy;
mod price;
mod provenance;
mod ranking;
mod reliability;
mod repeats;
mod sample;
mod scores;
mod seed;
mod since;
mod spending;
mod stopping;
mod tables;
mod texts;
mod unpaired;
mod verdict;
mod wish;

pub use absent::with_absent;
pub use accepted::AcceptedRegression;
pub(crate) use accepted::is_about;
pub use answer::{ITEM_SCORE, Role};
pub use apart::{Apart, apart};
pub use arm::{
    Arm, ArmRuns, Grouping, NightKey, Since, SinceBecause, SuiteGroup, UNNAMED, batch_of, night_of,
};
pub use audit::{
    Audit, AuditedBoard, AuditedData, AuditedGroups, AuditedPlace, DecidingItems, Order,
    StandardCard, audit,
};
pub use baseline::{Baseline, Held, held_groups};
pub use cell::Cell;
pub use claims::{
    AuditedTable, CheckedColumn, ClaimFinding, ClaimKind, ClaimPlace, ClaimsAudit, HeldRuns,
    Severity, audit_claims, held_runs, states_runs,
};
pub use comparability::{ChangedItem, Comparability, UnlikePairs};
pub use comparison::{
    Beyond, Difference, Levels, Needed, PairEvidence, Record, Scale, Sizes, Test, Variation,
};
pub use condition::{ConditionEffect, ConditionSetting};
pub use decision::{Because, Decision, OpenCost, Why};
pub use detail::{Bill, Check, CrossCheck, Detail, Doubled, Effect};
pub use estimate::{ClusterSpread, Estimate, Method};
pub use exclusions::ExcludedItem;
pub use family::{Adjustment, Evidence, Resolution};
pub use figures::{Coverage, Figure, Money, Spread};
pub use front::Front;
pub use grouping::suite_groups;
pub use history::{
    ArmHistory, Break, CommitOrder, History, HistoryPoints, ItemChange, LevelChange, Night,
    NightlyDuel, NoisyItem, Precision, Series, history,
};
pub use item_course::ItemCourse;
pub use labelled::{JudgeFigure, JudgedBy, MIN_LABELS};
pub use mismatch::{Grade, Mismatch, MismatchKind, SharedItems, grade};
pub use nights::NightsEvidence;
pub use pair::{ItemTable, decide_pair};
pub(crate) use policy::MAX_APART;
pub use policy::{Design, MIN_ITEMS, MIN_RUNS, Policy};
pub use price::{PriceInterval, PriceMethod};
pub use provenance::{Fact, RecordedFact, facts_of_scores, recorded_facts};
pub use ranking::{BoardEvidence, Drawn, Standing};
pub use reliability::Reliability;
pub use scores::ScoreColumn;
pub use since::{board_groups, board_groups_with_histories, since_changes_of};
pub use stopping::{Compared, Duels, PILOT, fewest_pairs, planned_runs};
pub use verdict::{Incomparable, Missing, Obstacle, Place, Verdict};

pub(crate) use answer::{MetricAnswer, SuiteAnswer};
pub(crate) use apart::apart_from_newest;
pub(crate) use baseline::UNKNOWN_VERSION;
pub(crate) use estimate::{counts, interval_of_run, rate_over_runs};
pub(crate) use figures::{
    Numbers, Range, cost, duration, figures, money, spread, summaries, tokens,
};
pub(crate) use front::{Trade, fronts};
pub(crate) use item_course::{Courses, started_together};
pub(crate) use made_up::MadeUp;
pub(crate) use nights::over_nights;
pub(crate) use policy::{CONFIDENCE, SAME};
pub(crate) use price::{per_solved, price_interval};
pub(crate) use ranking::{Best, chances_to_lead, standings};
pub(crate) use reliability::reliability;
pub(crate) use repeats::possibly_cached;
pub(crate) use sample::{
    Asked, Met, Outcomes, Rates, Side, is_marked, label_columns, names as item_names,
};
pub(crate) use scores::{evaluators_of, newest, newest_score, score_columns};
pub(crate) use seed::seed;
pub(crate) use texts::ArmTexts;
pub(crate) use wish::{Wish, can_be_labelled, wishes};
