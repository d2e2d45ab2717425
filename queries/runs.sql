-- The runs, one row each, in their last revision.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it.
-- Columns: run_id text; publish_id text; sequence 64-bit integer; deleted yes or no; deleted_by text, what deletes it, and
-- deleted_reason text, both null if nothing does; record text, the whole run as JSON; totals text, sums over the run's outcomes as JSON,
-- null without outcomes; then 64-bit integers, by which whoever reads the other queries can check that nothing is missing or changed:
-- outcomes, the number of outcomes that count, outcomes_check, a sum over them, lines_check, a sum over them with their time and money,
-- commit_rows, the number of rows that were added together, all_runs, the number of runs since, and row_check, a digest of this row.
-- Order: run_id.
select
  run_id, publish_id, sequence, deleted, deleted_by, deleted_reason, record, totals,
  outcomes, outcomes_check, lines_check, commit_rows, all_runs, row_check
from (
  select
    run_id, publish_id, sequence, deleted, deleted_by, deleted_reason, record, totals,
    outcomes, outcomes_check, lines_check, commit_rows, all_runs, row_check,
    row_number() over (partition by run_id order by sequence desc) as place
  from runs
) as revisions
where place = 1 -- and run_id in ('…')
order by run_id
