-- The outcomes themselves, without texts, one row each.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Columns: run_id, kind, evaluator, item text; attempt 32-bit integer, from 1; cluster and category text; status text; score,
-- duration_seconds and cost_usd 64-bit floats; input_tokens and output_tokens 64-bit integers. What is unknown is null.
-- Order: run_id, attempt, item_id.
with current_runs as (
  select run_id, publish_id
  from (
    select
      run_id, publish_id, deleted,
      row_number() over (partition by run_id order by sequence desc) as place
    from runs
  ) as revisions
  where place = 1 and not deleted -- and run_id in ('…')
)
select
  current_runs.run_id as run_id,
  kind, evaluator, item,
  cast(attempt as integer) as attempt,
  outcomes.cluster as cluster, category, status, score, duration_seconds, cost_usd, input_tokens, output_tokens
from outcomes join current_runs
  on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
where standing
order by current_runs.run_id, attempt, item_id
