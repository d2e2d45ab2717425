-- Sums over the outcomes of each arm at each item: what an item cost, how long it took, and in how many outcomes that is known.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Runs that were cancelled, hit by an outage or done in part do not count.
-- Columns: suite, suite_version (null if unknown), approach, model, kind, evaluator, item text; 64-bit integers outcomes, passed, counted;
-- then sums with the number of outcomes that have the value: cost_usd, with_cost, duration_seconds, with_duration, input_tokens,
-- with_input, output_tokens, with_output. Money and time are 64-bit floats, whose last digits depend on the engine's order of adding.
-- Order: suite, suite_version, approach, model, kind, evaluator, item; where an unknown version stands depends on the engine.
with current_runs as (
  select run_id, publish_id, suite, suite_version, approach, model
  from (
    select
      run_id, publish_id, suite, suite_version, approach, model, status, deleted,
      row_number() over (partition by run_id order by sequence desc) as place
    from runs
  ) as revisions
  where place = 1 and not deleted and status in ('completed', 'failed', 'limit') -- and run_id in ('…')
)
select
  current_runs.suite as suite, current_runs.suite_version as suite_version, current_runs.approach as approach,
  current_runs.model as model, kind, evaluator, item,
  cast(count(*) as bigint) as outcomes,
  cast(sum(case when outcomes.status = 'pass' then 1 else 0 end) as bigint) as passed,
  cast(sum(case when outcomes.status in ('pass', 'fail', 'error', 'limit') then 1 else 0 end) as bigint) as counted,
  sum(outcomes.cost_usd) as cost_usd, cast(count(outcomes.cost_usd) as bigint) as with_cost,
  sum(outcomes.duration_seconds) as duration_seconds, cast(count(outcomes.duration_seconds) as bigint) as with_duration,
  cast(sum(outcomes.input_tokens) as bigint) as input_tokens, cast(count(outcomes.input_tokens) as bigint) as with_input,
  cast(sum(outcomes.output_tokens) as bigint) as output_tokens, cast(count(outcomes.output_tokens) as bigint) as with_output
from outcomes join current_runs
  on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
where standing
group by current_runs.suite, current_runs.suite_version, current_runs.approach, current_runs.model, kind, evaluator, item
order by suite, suite_version, approach, model, kind, evaluator, item
