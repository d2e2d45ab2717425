-- Passed and counted outcomes of each run at each item: what `evalreport leaderboard --from-counts FILE` makes a board of.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Runs that were cancelled, hit by an outage or done in part do not count.
-- Columns: run_id, suite, suite_version (null if unknown), approach, model, kind, evaluator, item, cluster (null if none is stated) text;
-- then 64-bit integers: passed; counted, with passes, failures, errors and limits; missing, lost to outages or not evaluated; skipped.
-- Order: run_id, kind, evaluator, item.
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
  current_runs.run_id as run_id, current_runs.suite as suite, current_runs.suite_version as suite_version,
  current_runs.approach as approach, current_runs.model as model, kind, evaluator, item,
  max(outcomes.cluster) as cluster,
  cast(sum(case when outcomes.status = 'pass' then 1 else 0 end) as bigint) as passed,
  cast(sum(case when outcomes.status in ('pass', 'fail', 'error', 'limit') then 1 else 0 end) as bigint) as counted,
  cast(sum(case when outcomes.status in ('infra', 'not_evaluated') then 1 else 0 end) as bigint) as missing,
  cast(sum(case when outcomes.status = 'skipped' then 1 else 0 end) as bigint) as skipped
from outcomes join current_runs
  on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
where standing
group by
  current_runs.run_id, current_runs.suite, current_runs.suite_version, current_runs.approach, current_runs.model, kind, evaluator, item
order by run_id, kind, evaluator, item
