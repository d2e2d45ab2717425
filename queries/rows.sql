-- The rows of the outcome matrix: one per run and attempt, with the number of its cells.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Columns: run_id text; attempt 32-bit integer, from 1; then 64-bit integers: cells, the number of outcomes; items_sum and items_squares,
-- equal for equal sets of items; clusters_sum, then equal for equal clusters of these items; cells_sum, the cells of cells.sql, each times
-- its item's number: whoever reads cells.sql can check with it that nothing is missing, changed or out of order.
-- Order: run_id, attempt.
with current_runs as (
  select run_id, publish_id
  from (
    select
      run_id, publish_id, deleted,
      row_number() over (partition by run_id order by sequence desc) as place
    from runs
  ) as revisions
  where place = 1 and not deleted -- and run_id in ('…')
),
cells as (
  select
    current_runs.run_id as run_id,
    attempt,
    (item_id % 2147483629 + 2147483629) % 2147483629 as item_number,
    (item_id % 65521 + 65521) % 65521 as short_number,
    coalesce((cluster_id % 65521 + 65521) % 65521 + 1, 0) as cluster_number,
    case status
      when 'pass' then 1 when 'fail' then 2 when 'error' then 3 when 'limit' then 4
      when 'infra' then 5 when 'skipped' then 6 when 'not_evaluated' then 7 else 0
    end
    + case
      when score is null then 0
      when score = case status when 'pass' then 1.0 else 0.0 end then 8
      else 16
    end as cell
  from outcomes join current_runs
    on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
  where standing
)
select
  run_id,
  cast(attempt as integer) as attempt,
  cast(count(*) as bigint) as cells,
  cast(sum(item_number) as bigint) as items_sum,
  cast(sum(short_number * short_number) as bigint) as items_squares,
  cast(sum(short_number * cluster_number) as bigint) as clusters_sum,
  cast(sum(item_number * cell) as bigint) as cells_sum
from cells
group by run_id, attempt
order by run_id, attempt
