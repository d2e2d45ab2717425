//! Pure mathematics on slices and counts, independent of polars and the domain. An undefined result has a reason ([`Undefined`]) and is
//! never NaN.

mod adaptive_stopping;
mod adjust;
mod agreement;
mod attempt_counts;
mod attempts;
mod bisection;
mod bitset;
mod bootstrap;
mod bradley_terry;
mod change_point;
mod cluster;
mod compact_letters;
mod counts;
mod course;
mod daily_regression;
mod detectable;
mod discrimination;
mod distribution;
mod drift;
mod effect;
mod elo;
mod exact;
mod gate;
mod gate_odds;
mod good_nights;
mod grim;
mod grimmer;
mod half_life;
mod horizon;
mod interval;
mod item_design;
mod item_fit;
mod item_groups;
mod item_response;
mod judge_corrected;
mod known_noise;
mod logistic;
mod max_t;
mod mean;
mod noise;
mod partial_order;
mod posterior;
mod power;
mod ppi;
mod proportion;
mod proportion_difference;
mod quantile;
mod rank_sets;
mod ranking;
mod ratio;
mod rogan_gladen;
mod score_matrix;
mod separation;
mod sequential;
mod stated_spread;
mod suite_means;
mod symmetric;
mod two_way;
mod undefined;
mod variance;
mod verdict;
mod wander;
mod weighted_mean;

pub use adaptive_stopping::{
    AdaptiveInquiry, AdaptiveStopping, DIFFICULTY_GROUPS, Foreseen, ItemBlock, PairRecord, Units,
    difficulty_group,
};
pub use adjust::{benjamini_hochberg, holm_adjustment};
pub use agreement::{Agreement, cohen_kappa, krippendorff_alpha_nominal, label_shares};
pub use attempt_counts::AttemptCounts;
pub use attempts::{mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k};
pub use bisection::{FallSearch, PlaceTally};
pub use bitset::{ItemBitset, OutcomeBitsets, all_pairs};
pub use bootstrap::{BcaInterval, Replicates, Seed, jackknife_values};
pub use bradley_terry::{
    BradleyTerry, Effect, FitOptions, PairVote, Strength, Ties, VoteOutcome, bradley_terry,
};
pub use change_point::{
    ChangePoint, ChangeRule, change_points, change_points_of_shares, change_tests,
};
pub use cluster::{Clustered, Cr2, clustered_error, clustered_mean};
pub use compact_letters::compact_letters;
pub use counts::counts_over_runs;
pub use course::{COURSE_ALPHA, Course, CourseKind, NightOutcomes, item_course};
pub use daily_regression::{GateProcess, gate_process, least_nights};
pub use detectable::{
    ClusterVariance, Detectable, cluster_variance, detectable_flips, detectable_mcnemar,
    detectable_proportions, detectable_t, detectable_welch, items_needed, pairs_needed,
    power_flips, power_mcnemar, power_proportions, power_t, power_welch, runs_needed, units_for,
    units_needed,
};
pub use discrimination::{correlation_by_chance, pearson_correlation};
pub use distribution::{normal_quantile, normal_two_sided, t_quantile, t_two_sided};
pub use drift::{Drift, InvarianceDrift, invariance_drift};
pub use effect::{Dominance, StandardizedDifference, cliffs_delta, hedges_g};
pub use elo::elo_ratings;
pub use exact::{
    McNemar, Permutation, Resampling, fisher_exact, flip_interval, mcnemar_each, mcnemar_test,
    permutation_test, sign_flip,
};
pub use gate::{Ruling, rule_on_change, rule_point, rule_steady};
pub use gate_odds::{GateOdds, GatePlan, GateWorld, gate_odds};
pub use good_nights::{
    ENOUGH_IN_A_ROW, ItemWalk, JudgedNights, LevelWalk, NightJudge, NightState, is_far_beyond,
};
pub use grim::{PrintedRate, RecoveredTotal, Rounding, possible_share, recover_total, upper_tail};
pub use grimmer::{PrintedNumber, VarianceDivisor};
pub use half_life::{HalfLife, half_life};
pub use horizon::{
    HORIZON_PENALTY, MIN_FAMILIES, SuccessCurve, TimedAttempt, horizon_intervals, success_curve,
    task_weights,
};
pub use interval::Interval;
pub use item_design::MIN_COMMON_ITEMS;
pub use item_fit::{ItemFit, PairFit, item_fit};
pub use item_groups::{Reweighting, group_rank_ranges, order_core, smallest_reweighting};
pub use item_response::{
    Discrimination, ExpectedRate, ItemParameters, ItemResponse, MIN_ARMS, MIN_ITEMS, ResponseModel,
    Unfitted, item_response,
};
pub use judge_corrected::{
    CorrectedMean, JudgedRuns, LabelledAttempts, MAX_OF_A_RUN, corrected_difference, corrected_rate,
};
pub use known_noise::noise_of_neighbours;
pub use max_t::{MaxT, max_t};
pub use mean::{
    MeanDifference, ValueSummary, interval_of_mean, mean_interval, mean_t, paired_t,
    summarise_sample, welch_test,
};
pub use noise::{NoiseComponents, PairNoise, RepeatNoise, RunMeans, pair_noise, split_noise};
pub use partial_order::{PartialOrder, order_bits};
pub use posterior::{BetaPrior, beta_credible_interval, probability_flaky, probability_of_sign};
pub use power::{
    Aim, ArmRunsSummary, PairedVariance, mde_few, mde_miller, mde_paired, mde_two_proportions,
    mde_welch, n_half_width, n_mcnemar, n_miller, n_paired, n_two_proportions, n_welch,
    power_two_proportions, round_up_units, scale_to_aim,
};
pub use ppi::{JudgedSample, PredictionPowered, prediction_powered};
pub use proportion::{
    chance_adjusted_accuracy, clopper_pearson, effective_interval, wilson_score_interval,
};
pub use proportion_difference::{
    PairedTable, effective_difference, effective_paired_difference, newcombe_interval,
    newcombe_paired, tango_interval,
};
pub use quantile::{MedianInterval, median_absolute_deviation, median_interval, quantile};
pub use rank_sets::{Multiplier, PairP, RankSets, ordered_by_tests, rank_sets};
pub use ranking::{RankRange, leading_group, probability_of_best, rank_intervals, rank_ranges};
pub use ratio::{
    ItemRatios, LogRatio, PairSums, RatioOfMeans, geometric_mean, log_ratio_items,
    log_ratio_paired, log_ratio_welch, ratio_of_means, ratio_of_means_paired, relative_change,
};
pub use rogan_gladen::{Calibration, TrueRate, rogan_gladen};
pub use score_matrix::ScoreMatrix;
pub use separation::{
    DecidingMinority, Separation, Splitting, count_splits, deciding_minority, mean_discordance,
    median_kappa, pair_separation,
};
pub use sequential::{bernoulli_confidence_sequence, mcnemar_e_value};
pub use stated_spread::{SpreadFormula, TRIED_LEVELS, standard_deviation, standard_error};
pub use suite_means::{SuiteMeans, effective_units, widening_factor};
pub use two_way::{
    ItemsByRuns, RunNoise, SummedArm, TwoWay, one_way, one_way_summed, two_way, two_way_on_board,
    two_way_summed,
};
pub use undefined::Undefined;
pub use variance::{Buy, VarianceSplit, variance_split};
pub use verdict::{RuleVerdict, VerdictQuestion, apply_verdict_rule};
pub use weighted_mean::{WeightedMean, WeightedRow, weighted_mean};
