-- The scores that say more than pass or fail: one number for each cell of cells.sql that is 16 or more.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Column: score, 64-bit float.
-- Order: run_id, attempt, item_id.
with current_runs as (
  select run_id, publish_id, row_number() over (order by run_id) as run_number
  from (
    select
      run_id, publish_id, deleted,
      row_number() over (partition by run_id order by sequence desc) as place
    from runs
  ) as revisions
  where place = 1 and not deleted -- and run_id in ('…')
)
select score
from outcomes join current_runs
  on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
where standing and score <> case status when 'pass' then 1.0 else 0.0 end
order by run_number, attempt, item_id
