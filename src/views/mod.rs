//! Contents of pages and tables as plain typed structs. Asks the warehouse and calls stats; no HTML, no text formatting.
//!
//! Every figure carries its n, its interval if n allows one, and what was not counted. The terminal, JSON, Markdown, CSV and the site all
//! print these structs.

mod abilities;
mod against;
mod agreement;
mod arm_colours;
mod arm_page;
mod audit;
mod categories;
mod chart;
mod claims;
mod compare;
mod evaluation;
mod exported;
mod flips;
mod foreseen;
mod gate;
mod gate_accept;
mod gate_costs;
mod gate_decide;
mod gate_items;
mod gate_nights;
mod gate_plan;
mod gate_rules;
mod horizons;
mod imported;
mod items;
mod judged;
mod labelling;
mod leaderboard;
mod looked_at;
mod model_names;
mod news;
mod noise;
mod overall;
mod pair_table;
mod preferences;
mod question_groups;
mod reasons;
mod run;
mod run_turn;
mod runnable;
mod short_text;
mod side;
mod side_by_side;
mod site;
mod stored_verification;
mod stories;
mod suite_state;
mod transcript;
mod unstarted;
mod version_change;

pub use abilities::{
    Abilities, AbleArm, AskedApart, FittedItem, OffPair, PairsFit, UnfittedBoard, abilities,
    abilities_of_suites,
};
pub use against::Against;
pub use agreement::{
    AgreementReport, Alpha, CategoryBias, CriterionFlip, Disagreement, JudgeReport, JudgedRun,
    PairAgreement, ProbeReport, ProbedRun, Rated, Rater, RaterLine, SkippedRun, agreement, biases,
    decided_otherwise, probe_report,
};
pub use arm_colours::ArmColours;
pub use arm_page::{ArmOnSuite, ArmPage, Lead, Rival};
pub use audit::{NoAudit, UnauditedBoard, audit_suites, audited, system_name};
pub use categories::{Categories, Category, CategoryCell};
pub use chart::{
    ArmSpread, Disagreements, Discordance, Distribution, Pareto, ParetoPoint, Step, SuiteCharts,
    Threshold,
};
pub use claims::{ClaimedFile, SuiteClaims, audit_published};
pub use compare::{
    ComparedArm, Comparison, ComparisonRow, Delta, DeltaUnit, Leader, PairOrder, compare,
    compare_with_flips,
};
pub use evaluation::{CriteriaCount, EvaluatorScore, JudgeView, newest_scores};
pub use exported::{OutcomeGroup, RunTally, Share, Tally};
pub use flips::{FlippedItems, Flips, ListedItem, ListedItems, MOST_LISTED};
pub use foreseen::{ForeseenArm, ForeseenPair, ForeseenVerdict, PlannedRuns};
pub use gate::{
    AbsentArm, Basis, EarlierArm, GateCheck, GateReport, OutdatedArm, UndatedArm, UnknownItem,
    gate, on_good_nights,
};
pub use gate_accept::{OpenArm, open_arms};
pub use gate_costs::GateCost;
pub use gate_decide::{Choice, DecideReport, HeldDecision, decide_held};
pub use gate_items::{MOST_TURNED, NewFailures, NewPasses, Turn, TurnedItem, turn};
pub use gate_nights::{OpenRegression, RepairedRegression};
pub use gate_plan::{PlanBasis, PlanReport, PlannedGate, gate_plan};
pub use gate_rules::{Allowance, Ask, GateRule, names as names_item};
pub use horizons::{ArmHorizon, HUMAN_MINUTES, Horizon, Horizons, LengthGroup, horizons};
pub use imported::{
    CheckedFigure, ForeignSource, HeldField, ImportAnswer, ImportedSource, Quirk, RefusedRows,
    StatedOtherwise, UnrecognisedFile,
};
pub use items::{
    Discrimination, Go, ItemCell, ItemLine, ItemMatrix, ItemOrders, ItemSign, MatrixArm,
};
pub use judged::{
    CriteriaTable, CriteriaTally, CriterionCell, CriterionFlips, CriterionKey, CriterionRow,
    CriterionVerdict, criterion_flips,
};
pub use labelling::{LabelReport, LabelledRun, NextBoard, NextLabel, NextReport, next_labels};
pub use leaderboard::{Board, Entry, SortKey, SuiteBoard, leaderboard, retracted};
pub use looked_at::{Gap, How, LookedAt, MissingItem, MissingItems, OutcomeCounts};
pub use model_names::ModelNames;
pub use news::{Event, News, news};
pub use noise::{
    ArmNoise, DetectableByRuns, ItemHealth, JudgeBasis, JudgeNoise, NoiseLedger, SingleRuns,
    Sources, noise_ledgers,
};
pub use overall::{
    LeaderWithout, MANY_SUITES, Measure, OtherVersion, Overall, OverallDifference, OverallEntry,
    Pooling, Reversal, Sample, SuiteWeight, overall, overall_of_table,
};
pub use pair_table::{KnownPair, PairCell, PairTable, PairWay};
pub use preferences::{
    Bound, Points, Preferences, PreferredArm, StyleEffect, VoteUnit, VoteUnits, VotesOnPairs,
    preferences,
};
pub use question_groups::question_groups;
pub use reasons::{Ending, Reason, reasons};
pub use run::{
    DetailsByItem, ItemChoice, ItemPage, ItemRow, RunLine, RunPage, RunStated, ScoreLineView,
    ShownRun, StatedLine, SuiteLine, criteria_of, items_of, reasons_of, run_line, run_page,
    shown_run, suite_lines,
};
pub use run_turn::RunTurn;
pub use runnable::{
    ProblemLine, Runnable, RunnableAgent, RunnableApproach, RunnableSuite, RunnableTask, SuiteKind,
};
pub use side::Sides;
pub use side_by_side::{MOST_SIDES, Side, SideBySide};
pub use site::{Overview, OverviewSuite, SiteContext, SiteOptions, comparison_pairs, overview};
pub use stored_verification::StoredVerification;
pub use stories::{ItemNote, ItemStories, ItemStory};
pub use suite_state::SuiteState;
pub use transcript::{
    ItemTranscript, RunTranscripts, Spent, TranscriptPart, TranscriptReader, without_middle,
};
pub use unstarted::{Unstarted, unstarted};
pub use version_change::VersionChange;

// Parts of the answer that pages show unchanged.
pub use crate::inference::{
    AcceptedRegression, Adjustment, Apart, Arm, ArmHistory, ArmRuns, Audit, AuditedBoard,
    AuditedData, AuditedGroups, AuditedPlace, AuditedTable, Baseline, Because, Beyond, Bill,
    BoardEvidence, Break, Cell, ChangedItem, Check, CheckedColumn, ClaimFinding, ClaimKind,
    ClaimPlace, ClaimsAudit, ClusterSpread, CommitOrder, Comparability, ConditionEffect,
    ConditionSetting, Coverage, CrossCheck, DecidingItems, Decision, Design, Detail, Difference,
    Doubled, Drawn, Effect, Estimate, Evidence, ExcludedItem, Fact, Figure, Front, Grade, Grouping,
    Held, History, HistoryPoints, ITEM_SCORE, Incomparable, ItemChange, ItemCourse, JudgeFigure,
    JudgedBy, LevelChange, Levels, MIN_ITEMS, MIN_LABELS, MIN_RUNS, Method, Mismatch, MismatchKind,
    Missing, Money, Needed, Night, NightlyDuel, NightsEvidence, NoisyItem, Obstacle, OpenCost,
    Order, PairEvidence, Place, Policy, Precision, PriceInterval, PriceMethod, Record,
    RecordedFact, Reliability, Resolution, Role, Scale, ScoreColumn, Series, Severity, SharedItems,
    Since, SinceBecause, Sizes, Spread, StandardCard, Standing, SuiteGroup, Test, UNNAMED,
    UnlikePairs, Variation, Verdict, Why, apart, batch_of, board_groups, facts_of_scores, grade,
    held_groups, history, states_runs, suite_groups, with_absent,
};
pub use crate::stats::{
    COURSE_ALPHA, Calibration, CourseKind, Foreseen, GateOdds, HalfLife, Interval, InvarianceDrift,
    RankRange, ResponseModel, Ruling, Splitting, SuccessCurve, Summary, Ties, Undefined, Unfitted,
    Units,
};
