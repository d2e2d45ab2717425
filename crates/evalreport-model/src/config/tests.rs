use std::fs;

use super::*;
use crate::domain::{AmountMark, ChangeBound, Direction, MetricKind, Unit};

const GUIDE: &str = include_str!("../../../../docs/look-up/configuration.md");

fn example() -> &'static str {
    let (_, after) = GUIDE
        .split_once("```yaml\n")
        .expect("the guide has an example");
    after.split_once("```").expect("the example ends").0
}

/// Checks the problems of a file that is valid except for `text`. Each problem has its hint in brackets.
#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let problems = parse("c.yaml", &format!("version: 1\n{text}")).expect_err("the text is wrong");
    let shown = |problem: &Problem| match &problem.hint {
        Some(hint) => format!("{problem} [{hint}]"),
        None => problem.to_string(),
    };
    assert_eq!(problems.iter().map(shown).collect::<Vec<_>>(), expected);
}

#[track_caller]
fn accepted(text: &str) -> ProjectConfig {
    parse("c.yaml", &format!("version: 1\n{text}"))
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
}

#[test]
fn the_guide_has_a_complete_example() {
    let config =
        parse("evalreport.yaml", example()).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(
        config
            .agents
            .iter()
            .map(|agent| agent.kind)
            .collect::<Vec<_>>(),
        [
            AgentKind::Anthropic,
            AgentKind::Openai,
            AgentKind::Claude,
            AgentKind::Command,
            AgentKind::Replay
        ]
    );
    assert_eq!(config.agents[0].temperature, Some(0.0));
    assert_eq!(config.agents[1].model.as_deref(), Some("4.10"));
    assert_eq!(
        config.agents[2].timeout.map(|timeout| timeout.as_secs()),
        Some(5400)
    );
    assert_eq!(
        config.agents[3].command,
        ["python3", "agent.py", "--model", "{model}"]
    );
    assert_eq!(config.default_agent.as_deref(), Some("sonnet"));
    assert_eq!(
        config.approaches[1].name.as_deref(),
        Some("Plan, then build")
    );
    assert_eq!(
        config.tasks[0].budget,
        QuestionBudget {
            max_tokens: Some(2000),
            max_seconds: Some(30.0),
            max_steps: Some(5)
        }
    );
    assert_eq!(config.judge.as_ref().and_then(|judge| judge.votes), Some(3));
    assert_eq!(
        config.metrics["files_created"].direction,
        Some(Direction::None)
    );
    assert_eq!(
        config.metrics["accuracy"],
        MetricSettings {
            label: Some("Accuracy".to_owned()),
            direction: Some(Direction::Up),
            unit: Some(Unit::Fraction),
            kind: Some(MetricKind::Rate),
            margin: Some(0.01),
        }
    );
    assert_eq!(
        config.metrics["shared_tests"].margin,
        Some(0.01),
        "under the name that it is looked for by"
    );
    assert_eq!(config.prices[0].usd_per_million.cache_write, Some(3.75));
    assert_eq!(
        config.gate[2].must_pass,
        ["test_add", "test_list", "auth/*"]
    );
    assert_eq!(
        config
            .gate
            .iter()
            .map(|gate| gate.no_new_failures)
            .collect::<Vec<_>>(),
        [false, false, false, true]
    );
    assert!(config.site.noindex);
    assert_eq!(
        config.aliases.suite.get("todo-app").map(String::as_str),
        Some("tasktracker")
    );
}

#[test]
fn the_guide_names_every_key_of_the_top_level() {
    let mut known = Vec::new();
    let problems = parse("c.yaml", "zzzzzzzz: 1\n").expect_err("unknown key");
    for hint in problems
        .iter()
        .filter_map(|problem| problem.hint.as_deref())
    {
        known.extend(
            hint.strip_prefix("known keys here: ")
                .into_iter()
                .flat_map(|keys| keys.split(", ")),
        );
    }
    assert_eq!(known.len(), 19, "{known:?}");
    for key in known {
        assert!(GUIDE.contains(&format!("`{key}`")), "{key}");
        assert!(
            example().contains(&format!("\n{key}:")) || example().starts_with(key),
            "{key}"
        );
    }
}

#[test]
fn nothing_but_a_version_is_the_default() {
    let default = ProjectConfig {
        file: "c.yaml".to_owned(),
        ..ProjectConfig::default()
    };
    assert_eq!(accepted(""), default);
    assert_eq!(accepted("agents:\nsite:\naliases: {model: ~}\n"), default);
}

#[test]
fn json_is_read_as_json() {
    let config = parse(
        "c.json",
        r#"{"version": 1, "site": {"title": "\uD83D\uDE00"}}"#,
    )
    .expect("valid");
    assert_eq!(config.site.title.as_deref(), Some("😀"));
    assert!(parse("c.json", "version: 1").is_err());
}

#[test]
fn the_version_is_required_and_known() {
    let message = |text: &str| parse("c.yaml", text).expect_err("wrong version")[0].to_string();
    assert_eq!(message("site: {}"), "c.yaml:1:1: `version` is missing");
    assert_eq!(
        message("version: 2"),
        "c.yaml:1:10: version `2` is not supported"
    );
    assert_eq!(
        message("version: '1'"),
        "c.yaml:1:10: `version` must be a whole number, not text"
    );
    assert_eq!(
        message("[]"),
        "c.yaml:1:1: the file must be a map of keys, not a list"
    );
}

#[test]
fn all_problems_come_at_once_and_in_order() {
    let text = "\
agents:
  - id: a
    type: comand
    model: 4.10
  - id: a
    type: claude
default_agent: b
tasks:
  - id: t
    type: question_eval
    agent: aa
    questions_file: q.yaml
    budget: {max_tokens: -5, max_seconds: -0.5}
    concurrency: 0
site: {titel: x}
gates: []
aliases: {model: {x: x}}
";
    refused(
        text,
        &[
            "c.yaml:4:11: `agents[0].type` must be one of `command`, `claude`, `codex`, `gemini`, `opencode`, `anthropic`, `openai`, \
             `replay`, not `comand` \
             [did you mean `command`?]",
            "c.yaml:5:12: `agents[0].model` must be text, not a number [write \"4.10\"]",
            "c.yaml:6:9: duplicate agent `a` [it is already on line 3; give one of them another id]",
            "c.yaml:8:16: `default_agent` names the unknown agent `b` [did you mean `a`?]",
            "c.yaml:12:12: `tasks[0].agent` names the unknown agent `aa` [did you mean `a`?]",
            "c.yaml:14:26: `tasks[0].budget.max_tokens` must not be negative, but is `-5`",
            "c.yaml:14:43: `tasks[0].budget.max_seconds` must not be negative, but is `-0.5`",
            "c.yaml:15:18: `tasks[0].concurrency` must be at least 1",
            "c.yaml:16:8: unknown key `site.titel` [did you mean `title`?]",
            "c.yaml:17:1: unknown key `gates` [did you mean `gate`?]",
            "c.yaml:18:22: `aliases.model.x` is an alias of itself [remove it]",
        ],
    );
}

#[test]
fn what_question_evaluation_replaced_is_said() {
    refused(
        "adapters:\n  - id: x\ntasks:\n  - {id: t, type: cucumber_eval, features: [x]}\n  - {id: u, type: other}\n  - {id: v}\n",
        &[
            "c.yaml:2:1: unknown key `adapters` \
             [describe agents under `agents`, and their questions as tasks of `type: question_eval`]",
            "c.yaml:5:19: `tasks[0].type` is `cucumber_eval`, which question evaluation replaced \
             [write the scenarios as questions and use type: question_eval with `questions_file`]",
            "c.yaml:6:19: `tasks[1].type` must be `question_eval`, not `other`",
            "c.yaml:7:5: `tasks[2].questions_file` is missing",
            "c.yaml:7:5: `tasks[2].type` is missing [write type: question_eval]",
        ],
    );
}

#[test]
fn every_key_of_cogni_without_a_counterpart_names_its_replacement() {
    refused(
        "repo: {output_dir: out, setup_commands: [npm ci]}\nagents:\n  - {id: a, type: builtin}\n\
         tasks:\n  - {id: t, type: question_eval, questions_file: q.yaml, compaction: {}}\nrate_limiter: {}\n",
        &[
            "c.yaml:2:1: unknown key `repo` \
             [remove it: --results DIR replaces `output_dir`; run `setup_commands` before evalreport, as a step of your build]",
            "c.yaml:4:19: `agents[0].type` is `builtin`, which evalreport does not have \
             [write `type: claude` or `type: command` for an agent with tools, `type: openai` or `type: anthropic` for one without]",
            "c.yaml:6:58: unknown key `tasks[0].compaction` [remove it: the agent compacts its own context]",
            "c.yaml:7:1: unknown key `rate_limiter` \
             [remove it: `concurrency` of a task and --jobs limit parallel questions, and `Retry-After` is obeyed]",
        ],
    );
}

#[test]
fn an_agent_has_what_its_type_needs_and_no_more() {
    refused(
        "agents:\n\
         \x20 - {id: a, type: command}\n\
         \x20 - {id: b, type: replay, command: x, base_url: 'http://h'}\n\
         \x20 - {id: c, type: openai}\n\
         \x20 - {type: claude}\n\
         \x20 - {id: 'd e'}\n",
        &[
            "c.yaml:3:5: `agents[0].command` is missing, which an agent of type `command` needs",
            "c.yaml:4:5: `agents[1].file` is missing, which an agent of type `replay` needs",
            "c.yaml:4:36: `agents[1].command` is not used by an agent of type `replay` [it belongs to type `command`, `claude`, `codex`, `gemini` and `opencode`]",
            "c.yaml:4:49: `agents[1].base_url` is not used by an agent of type `replay` [it belongs to type `anthropic` and `openai`]",
            "c.yaml:6:5: `agents[3].id` is missing",
            "c.yaml:7:5: `agents[4].type` is missing",
            "c.yaml:7:10: `agents[4].id` must be one word without `@`, not `d e`",
        ],
    );
    refused(
        "agents: [{id: a, type: claude, temperature: -1, max_steps: 1.5, timeout: 90}]\n",
        &[
            "c.yaml:2:45: `agents[0].temperature` must not be negative, but is `-1`",
            "c.yaml:2:60: `agents[0].max_steps` must be a whole number, not `1.5`",
            "c.yaml:2:74: `agents[0].timeout` needs a unit after `90` [write hours, minutes and seconds such as 2h, 30m, 1h30m or 90s]",
        ],
    );
}

#[test]
fn a_key_in_the_file_is_refused_without_showing_it() {
    let text = "version: 1\nagents:\n  - {id: c, type: openai, api_key: sk-secret}\n";
    let problems = parse("c.yaml", text).expect_err("a key");
    assert_eq!(problems.len(), 1);
    let shown = document::render_problem(&problems[0], text);
    assert!(
        shown.contains("`agents[0].api_key` on line 3") && !shown.contains("sk-secret"),
        "{shown}"
    );
}

#[test]
fn a_reference_without_anything_to_refer_to_says_so() {
    refused(
        "default_agent: a\n",
        &["c.yaml:2:16: `default_agent` names the unknown agent `a` [no agent is declared]"],
    );
    refused(
        "agents: [{id: left, type: claude}, {id: right, type: claude}]\njudge: {agent: zzzzzz, votes: 0}\n",
        &[
            "c.yaml:3:16: `judge.agent` names the unknown agent `zzzzzz` [known agents: `left`, `right`]",
            "c.yaml:3:31: `judge.votes` must be at least 1",
        ],
    );
    refused(
        "judge: {votes: 3}\n",
        &["c.yaml:2:8: `judge.agent` is missing"],
    );
}

#[test]
fn quality_has_a_price() {
    let config = accepted("decision: {pp: 2, usd: 0.04}\n");
    assert_eq!(config.usd_per_unit, Some(2.0));
    refused(
        "decision: {pp: 0, usd: -1}\n",
        &[
            "c.yaml:2:16: `decision.pp` must be above 0",
            "c.yaml:2:24: `decision.usd` must not be negative, but is `-1`",
        ],
    );
    refused(
        "decision: {pp: 1}\n",
        &["c.yaml:2:11: `decision.usd` is missing"],
    );
}

#[test]
fn error_rates_of_a_judge_are_shares_of_items() {
    let config = accepted("judge_errors: {sensitivity: .93/200, specificity: 1/150}\n");
    assert_eq!(
        config.judge_errors,
        JudgeErrors::new((0.93, 200), (1.0, 150))
    );
    refused(
        "judge_errors: {sensitivity: 93%, specificity: 0.5/0}\n",
        &[
            "c.yaml:2:29: `judge_errors.sensitivity` is no share with a number of items: `93%` [write 0.93/200 for 93% of 200 items]",
            "c.yaml:2:47: `judge_errors.specificity` is no share with a number of items: `0.5/0` [write 0.93/200 for 93% of 200 items]",
        ],
    );
    refused(
        "judge_errors: {sensitivity: 0.5/9}\n",
        &["c.yaml:2:15: `judge_errors.specificity` is missing"],
    );
    refused(
        "judge_errors: {sensitivity: 0.5/9, specificity: 0.5/9}\n",
        &[
            "c.yaml:2:49: a judge with these error rates is no better than chance, which nothing can correct",
        ],
    );
}

#[test]
fn a_command_is_arguments_and_no_shell_line() {
    let config = accepted(
        "approaches:\n\
         \x20 - {id: a, command: 'run  --model {model}'}\n\
         \x20 - {id: ralph, timeout: 2h}\n\
         \x20 - {id: j, command: [x, '{\"k\": {}}']}\n",
    );
    assert_eq!(config.approaches[0].command, ["run", "--model", "{model}"]);
    assert!(config.approaches[1].command.is_empty());
    refused(
        "approaches:\n\
         \x20 - {id: a, command: 'run | tee log'}\n\
         \x20 - {id: b, command: []}\n\
         \x20 - {id: c, command: [x, '{modell}', '{cwd}']}\n\
         \x20 - {id: d}\n\
         \x20 - {id: a, command: ' '}\n",
        &[
            "c.yaml:3:22: `approaches[0].command` has characters that only a shell would understand \
             [no shell reads it: write a list with one item for each argument, such as [\"program\", \"--flag\", \"two words\"]]",
            "c.yaml:4:22: `approaches[1].command` names no program",
            "c.yaml:5:22: `approaches[2].command` has the unknown placeholder `cwd` \
             [known placeholders: model, requirements, output_dir, prompt_file, suite, root]",
            "c.yaml:5:22: `approaches[2].command` has the unknown placeholder `modell` [did you mean `model`?]",
            "c.yaml:6:5: `approaches[3].command` is missing [only `oneshot` and `ralph` are built in; any other approach is a command, \
             or names the `agent` that it asks]",
            "c.yaml:7:10: duplicate approach `a` [it is already on line 3; give one of them another id]",
            "c.yaml:7:22: `approaches[4].command` names no program",
        ],
    );
}

#[test]
fn metrics_have_known_words_only() {
    refused(
        "metrics: {a: {unit: second, direction: sideways, kind: counts, margin: -1, labl: x}}\n",
        &[
            "c.yaml:2:21: `metrics.a.unit` must be one of `fraction`, `points`, `seconds`, `tokens`, `usd`, `count`, `number`, \
             not `second` [did you mean `seconds`?]",
            "c.yaml:2:40: `metrics.a.direction` must be one of `up`, `down`, `none`, not `sideways`",
            "c.yaml:2:56: `metrics.a.kind` must be one of `rate`, `amount`, `score`, `count`, not `counts` [did you mean `count`?]",
            "c.yaml:2:72: `metrics.a.margin` must not be negative, but is `-1`",
            "c.yaml:2:76: unknown key `metrics.a.labl` [did you mean `label`?]",
        ],
    );
}

#[test]
fn margins_fit_their_metrics() {
    let config = accepted(
        "metrics:\n  pass_rate: {margin: 2pp}\n  cost: {margin: 10%}\n  speed: {margin: 5}\n  f1: {margin: 2pp}\n  g: {unit: fraction, margin: 0.5}\n",
    );
    for (metric, margin) in [
        ("shared_tests", 0.02),
        ("cost_usd", 0.1),
        ("speed", 5.0),
        ("f1", 0.02),
        ("g", 0.5),
    ] {
        assert_eq!(config.metrics[metric].margin, Some(margin), "{metric}");
    }
    refused(
        "metrics:\n  pass_rate: {margin: 5}\n  duration: {margin: 5}\n  cost_usd: {margin: 5pp}\n  f1: {margin: 60pp}\n  calls: {kind: count, margin: 3}\n",
        &[
            "c.yaml:3:23: `metrics.pass_rate.margin` is more than 50 percentage points [write 2pp or 0.02 for two percentage points]",
            "c.yaml:4:22: `metrics.duration.margin` has no percent sign, and for an amount it is relative [write 10% or 0.1 for a tenth]",
            "c.yaml:5:22: `metrics.cost_usd.margin` is in percentage points, but an amount needs a percentage [write 10%]",
            "c.yaml:6:16: `metrics.f1.margin` is more than 50 percentage points [write 2pp or 0.02 for two percentage points]",
            "c.yaml:7:32: `metrics.calls.margin` is for a count, and counts are shown but never judged [leave it out]",
        ],
    );
}

#[test]
fn a_price_may_have_tiers() {
    let price =
        "prices:\n  - model: m\n    usd_per_million: {input: 1, output: 2}\n    tiers:\n      - ";
    let config = accepted(&format!(
        "{price}{{above_input_tokens: 200000, usd_per_million: {{input: 2, output: 3}}}}\n"
    ));
    assert_eq!(config.prices[0].tiers[0].above_input_tokens, 200_000);
    assert!(
        parse(
            "c.yaml",
            &format!("version: 1\n{price}{{usd_per_million: {{input: 2, output: 3}}}}\n")
        )
        .is_err()
    );
}

#[test]
fn prices_are_ordered_and_given_once() {
    let price = |model: &str, date: &str| {
        format!("  - {{model: {model}, date: {date}, usd_per_million: {{input: 1, output: 2}}}}\n")
    };
    let config = accepted(&format!(
        "prices:\n{}{}{}",
        price("b", "2026-02-01"),
        price("b", "2026-01-01"),
        price("a", "~")
    ));
    assert_eq!(
        config
            .prices
            .iter()
            .map(|price| price.model.as_str())
            .collect::<Vec<_>>(),
        ["a", "b", "b"]
    );
    assert!(config.prices[1].date < config.prices[2].date);
    assert_eq!(config.prices[0].usd_per_million.cache_read, None);
    refused(
        &format!(
            "prices:\n{}{}{}  - model: x\n",
            price("b", "2026-02-01"),
            price("b", "2026-02-01"),
            price("c", "2026-2-30")
        ),
        &[
            "c.yaml:4:13: duplicate price of `b` [it is already on line 3; a new price needs a `date` of its own]",
            "c.yaml:5:22: `prices[2].date` must be a date, not `2026-2-30` [write year, month and day such as 2026-01-31]",
            "c.yaml:6:5: `prices[3].usd_per_million` is missing",
        ],
    );
    refused(
        "prices: [{model: a, usd_per_million: {input: -1, cache_write: .nan}}]\n",
        &[
            "c.yaml:2:38: `prices[0].usd_per_million.output` is missing",
            "c.yaml:2:46: `prices[0].usd_per_million.input` must not be negative, but is `-1`",
            "c.yaml:2:63: `prices[0].usd_per_million.cache_write` must be a finite number, not `.nan`",
        ],
    );
}

#[test]
fn bounds_of_gates_are_numbers_or_text() {
    let config = parse("c.yaml", "version: 1\ngate:\n  - {metric: a, max_drop: 2pp, max_rise: +10%}\n  - {metric: a, max_drop: 0.5}\n")
        .expect("valid");
    let bound = |value, mark| Some(ChangeBound { value, mark });
    assert_eq!(
        (config.gate[0].max_drop, config.gate[0].max_rise),
        (
            bound(0.02, AmountMark::PercentagePoints),
            bound(0.1, AmountMark::Percent)
        )
    );
    assert_eq!(config.gate[1].max_drop, bound(0.5, AmountMark::None));
    let of_rate = parse("c.yaml", "version: 1\ngate:\n  - {max_drop: 5pp}\n")
        .expect("a drop of the pass rate");
    assert_eq!(
        (of_rate.gate[0].max_drop, &of_rate.gate[0].metric),
        (bound(0.05, AmountMark::PercentagePoints), &None)
    );
    let problems = parse(
        "c.yaml",
        "version: 1\ngate:\n  - {metric: a, max_drop: -2pp}\n",
    )
    .expect_err("a negative bound");
    assert_eq!(
        problems[0].to_string(),
        "c.yaml:3:27: `gate[0].max_drop` must be an amount, not `-2pp`"
    );
}

#[test]
fn a_gate_asks_for_something() {
    refused(
        "gate:\n  - {max_rise: 1}\n  - {metric: a}\n  - {suite: s}\n  - {metric: a, max_rise: -1}\n",
        &[
            "c.yaml:3:5: `gate[0].metric` is missing, which `max_rise` needs [for example `metric: cost`]",
            "c.yaml:4:14: `gate[1].metric` has no bound [give the allowed change with `max_drop` or `max_rise`]",
            "c.yaml:5:5: this gate asks for nothing [give a `metric` with a bound, `must_pass` or `no_new_failures`]",
            "c.yaml:6:27: `gate[3].max_rise` must not be negative, but is `-1`",
        ],
    );
}

#[test]
fn the_site_has_a_web_address() {
    assert_eq!(
        accepted("site: {base_url: 'https://e.org/x//'}")
            .site
            .base_url
            .as_deref(),
        Some("https://e.org/x")
    );
    for url in ["https://e.org/?site=1", "https://e.org/x#top"] {
        let problems = parse(
            "c.yaml",
            &format!("version: 1\nsite: {{base_url: \"{url}\"}}"),
        )
        .expect_err(url);
        assert!(
            problems[0]
                .message
                .starts_with("`site.base_url` must be the address of a folder, not"),
            "{problems:?}"
        );
    }
    for url in [
        "e.org",
        "javascript:alert(1)",
        "https://",
        "https:///x",
        "https://e.org/\\\"><script>",
        "https://e.org/a b",
    ] {
        let problems = parse(
            "c.yaml",
            &format!("version: 1\nsite: {{base_url: \"{url}\"}}"),
        )
        .expect_err(url);
        assert!(
            problems[0]
                .message
                .starts_with("`site.base_url` must be a web address"),
            "{problems:?}"
        );
    }
}

#[test]
fn an_alias_is_followed_once() {
    refused(
        "aliases: {model: {a: b, b: c, e: ' '}, approach: {x: y, y: x}, items: {}}\n",
        &[
            "c.yaml:2:22: `aliases.model.a` leads to `b`, which is itself an alias [give the final name, such as `c`]",
            "c.yaml:2:34: `aliases.model.e` is empty",
            "c.yaml:2:54: `aliases.approach.x` leads to `y`, which is itself an alias [give the final name, such as `x`]",
            "c.yaml:2:60: `aliases.approach.y` leads to `x`, which is itself an alias [give the final name, such as `y`]",
            "c.yaml:2:64: unknown key `aliases.items` [did you mean `item`?]",
        ],
    );
}

#[test]
fn hostile_text_is_shown_safely() {
    let long = "x".repeat(50_000);
    let text = format!(
        "version: 1\n\
         default_agent: \"\\e[2J\\u202Eevil\"\n\
         agents: [{{id: \"a\\n\
         b\", type: \"{long}\"}}]\n\
         \"\\a\": 1\n\
         aliases: {{model: {{\"\\e\": \"\\e\"}}}}\n"
    );
    let problems = parse("c.yaml", &text).expect_err("hostile");
    assert_eq!(problems.len(), 5, "{problems:?}");
    for problem in &problems {
        let shown = document::render_problem(problem, &text);
        assert!(shown.len() < 700 && !shown.contains('\u{202e}'), "{shown}");
        assert!(
            !shown
                .chars()
                .any(|character| character.is_control() && character != '\n'),
            "{shown}"
        );
        assert!(shown.lines().count() <= 4, "{shown}");
    }
}

#[test]
fn the_nearest_file_upwards_is_found() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let inner = root.path().join("a/b");
    fs::create_dir_all(&inner).expect("folders");
    assert_eq!(
        find_file(&inner).filter(|path| path.starts_with(root.path())),
        None
    );
    fs::write(root.path().join("evalreport.yml"), "version: 1\n").expect("a file");
    assert_eq!(find_file(&inner), Some(root.path().join("evalreport.yml")));
    fs::write(root.path().join("evalreport.yaml"), "version: 1\n").expect("a file");
    assert_eq!(find_file(&inner), Some(root.path().join("evalreport.yaml")));
    fs::create_dir(root.path().join("a/evalreport.yaml")).expect("a folder of that name");
    assert_eq!(find_file(&inner), Some(root.path().join("evalreport.yaml")));
}

#[test]
fn a_loaded_file_knows_its_folder() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let path = root.path().join("evalreport.yaml");
    fs::write(&path, "version: 1\nsite: {title: x}\n").expect("a file");
    let config = load(&path).expect("valid");
    assert_eq!(
        (config.folder.as_path(), config.site.title.as_deref()),
        (root.path(), Some("x"))
    );
}

#[test]
fn a_file_that_cannot_be_read_is_one_problem() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let path = root.path().join("evalreport.yaml");
    let message = || load(&path).expect_err("unreadable")[0].message.clone();
    assert!(message().starts_with("cannot be read: "));
    fs::write(&path, b"version: 1\n\xff").expect("a file");
    assert_eq!(message(), "is not valid UTF-8 from byte 12 on");
    fs::File::create(&path)
        .and_then(|file| file.set_len(MAX_BYTES + 1))
        .expect("a large file");
    assert!(
        message().starts_with("is no configuration: "),
        "{}",
        message()
    );
    fs::remove_file(&path)
        .and_then(|()| fs::create_dir(&path))
        .expect("a folder");
    assert!(message().starts_with("cannot be read: "));
}
