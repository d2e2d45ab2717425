-- The runs that count, one row each.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Columns: run_id text; publish_id text; sequence 64-bit integer; record text, the whole run as JSON; totals text, sums over the run's
-- outcomes as JSON, null without outcomes.
-- Order: run_id.
select run_id, publish_id, sequence, record, totals
from (
  select
    run_id, publish_id, sequence, record, totals, deleted,
    row_number() over (partition by run_id order by sequence desc) as place
  from runs
) as revisions
where place = 1 and not deleted -- and run_id in ('…')
order by run_id
