//! From stored outcomes to a decision: which runs count, what was independently repeated, each arm's figures, the evidence about each pair,
//! and what to do. Each noun has one file; data flows from the sample to the decision.
//!
//! ```text
//! arm (which runs) -> sample, item_scores, scores -> estimate -> comparison (paired, unpaired, numbers) -> family -> verdict -> ranking
//!                                                                                                                      |-> answer -> decision
//! ```

// Layers below, under the names that they have in this house.
use evalreport_model::domain;
use evalreport_stats as stats;
use evalreport_warehouse as warehouse;

mod absent;
mod accepted;
mod answer;
mod arm;
mod audit;
mod baseline;
mod better;
mod board_noise;
mod cached_runs;
mod cell;
mod change_cause;
mod claims;
mod cluster_test;
mod comparability;
mod comparison;
mod condition_effect;
mod copied_items;
mod decision;
mod each_run_alone;
mod estimate;
mod exclusions;
mod family;
mod figures;
mod grouping;
mod history;
mod independent;
mod item_course;
mod item_overlap;
mod item_scores;
mod joint_order;
mod label_selection;
mod labelled;
mod metrics;
mod mismatch;
mod night_key;
mod nights;
mod numbers;
mod ordered_scores;
mod pair;
mod pair_test;
mod paired;
mod pareto;
mod policy;
mod price;
mod provenance;
mod ranking;
mod reliability;
mod run_conditions;
mod sample;
mod scores;
mod secondary_effects;
mod seed;
mod separate_tables;
mod simulated_runs;
mod since;

mod spending;
mod stopping;
mod tables;
mod texts;
mod unlike_labels;
mod unpaired;
mod verdict;

pub use absent::{MAX_JOB, add_absent_arms};
pub use accepted::AcceptedRegression;
pub use accepted::is_acceptance_of;
pub use answer::Role;
pub use arm::{Arm, ArmRuns, BatchSelection, Since, SinceBecause, SuiteGroup, UNNAMED_APPROACHES};
pub use audit::{
    Audit, AuditedBoard, AuditedData, AuditedGroups, AuditedPlace, DecidingItems, Order,
    StandardCard, audit_board,
};
pub use baseline::{BaselineComparison, BaselineSelection, compare_to_baseline};
pub use better::PRIOR_DEVIATION as BETTER_PRIOR_DEVIATION;
pub use cell::Cell;
pub use change_cause::{ChangeCause, ItemShift};
pub use claims::{
    AuditedTable, CheckedColumn, ClaimFinding, ClaimKind, ClaimPlace, ClaimsAudit, RunsInStore,
    Severity, audit_claims, reports_runs, stored_runs,
};
pub use comparability::{ChangedItem, Comparability, UnlikePairs};
pub use comparison::{
    Beyond, Difference, Levels, Needed, PairEvidence, Record, Scale, Sizes, Test, Variation,
};
pub use condition_effect::{ConditionEffect, ConditionSetting};
pub use copied_items::ItemCopies;
pub use decision::{Because, Decision, OpenCost, Why};
pub use estimate::{ClusterSpread, Estimate, Method};
pub use exclusions::ExcludedItem;
pub use family::{Adjustment, Evidence, Resolution};
pub use figures::{Coverage, Figure, Money, Spread};
pub use grouping::suite_groups;
pub use history::{
    ArmHistory, Break, CommitOrder, History, HistoryPoints, ItemChange, LevelChange, Night,
    NightlyDuel, NoisyItem, Precision, Series, explain_histories, suite_histories,
};
pub use item_course::ItemCourse;
pub use item_scores::ITEM_SCORE;
pub use labelled::{JudgeFigure, JudgedBy, MIN_LABELS};
pub use mismatch::{Grade, Mismatch, MismatchKind, SharedItems, worst_grade};
pub use nights::NightsEvidence;
pub use pair::{ItemTable, decide_pair};
pub use pareto::Front;
pub use policy::MAX_UNSHARED_ITEMS;
pub use policy::{Design, MIN_ITEMS, MIN_RUNS, Policy};
pub use price::{PriceInterval, PriceMethod};
pub use provenance::{Fact, RecordedFact, facts_of_scores, recorded_facts};
pub use ranking::{BoardEvidence, Drawn, Standing};
pub use reliability::Reliability;
pub use scores::ScoreColumn;
pub use secondary_effects::{Bill, Check, CrossCheck, Detail, Doubled, Effect};
pub use separate_tables::{Apart, find_separate_arms};
pub use since::{board_groups, board_groups_with_histories, since_change_in_history};
pub use stopping::{PILOT_RUNS, RoundDuels, RunComparison, fewest_pairs, planned_runs};
pub use unlike_labels::{LabelDifference, UnlikeLabels};
pub use verdict::{Incomparable, Missing, Obstacle, PairVerdict, Place};

pub use answer::{MetricComparison, SuiteComparison};
pub use baseline::UNKNOWN_VERSION;
pub use cached_runs::count_cached_runs;
pub use estimate::{interval_of_run, rate_over_runs, run_counts};
pub use figures::{
    RunNumbers, ValueRange, run_cost, run_duration, run_spread, run_tokens, summarise_figures,
    summarise_sets, total_cost,
};
pub use item_course::{ArmItemCourses, started_together};
pub use label_selection::{LabelSelection, can_be_corrected, select_labels};
pub use night_key::{NightKey, Nights, night_key};
pub use nights::sequential_evidence;
pub use pareto::{QualityAndPrice, pareto_positions};
pub use policy::{CONFIDENCE, EQUAL_SHARE_TOLERANCE};
pub use price::{price_interval, price_per_solved};
pub use ranking::{FirstPlaceShares, chances_to_lead, rank_arms};
pub use reliability::attempt_reliability;
pub use sample::{
    ArmOutcomes, ArmRates, AskedState, BetterArm, SharedItem, is_column_marked, label_columns,
    number_item_names as item_names,
};
pub use scores::{evaluators_of, newest_record, newest_score_value, score_columns};
pub use seed::seed_from_values;
pub use separate_tables::find_separate_from_newest;
pub use simulated_runs::RunSimulator;
pub use texts::ArmTexts;
