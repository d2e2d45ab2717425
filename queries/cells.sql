-- The cells of the outcome matrix: one byte per outcome.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Column: cell, 8-bit integer: the status (1 pass, 2 fail, 3 error, 4 limit, 5 infra, 6 skipped, 7 not_evaluated; 0 is none of these),
-- plus 8 if the score repeats the status (1 for pass, else 0), or plus 16 if the score says more and is in scores.sql.
-- Order: run_id, attempt, item_id. rows.sql has the number of cells of each run and attempt, items.sql the items.
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
select
  cast(
    case status
      when 'pass' then 1 when 'fail' then 2 when 'error' then 3 when 'limit' then 4
      when 'infra' then 5 when 'skipped' then 6 when 'not_evaluated' then 7 else 0
    end
    + case
      when score is null then 0
      when score = case status when 'pass' then 1.0 else 0.0 end then 8
      else 16
    end
  as tinyint) as cell
from outcomes join current_runs
  on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
where standing
order by run_number, attempt, item_id
