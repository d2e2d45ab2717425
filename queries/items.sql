-- The items of the outcome matrix. Rows of rows.sql with equal sums have the same items; only the first of them is listed here.
--
-- Tables: `runs` and `outcomes` of a lake; docs/engines.md says how engines get them. A run counts in its last revision, unless that
-- deletes it; an outcome counts if it belongs to that revision and no later judgement replaces it.
-- Columns: run_id text and attempt 32-bit integer, the first row of rows.sql with these items; item_id 64-bit integer; kind, evaluator and
-- item text, the item's name; cluster text, null if none is stated.
-- Order: run_id, attempt, item_id, which is also the order of the cells in cells.sql.
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
    current_runs.publish_id as publish_id,
    attempt,
    (item_id % 2147483629 + 2147483629) % 2147483629 as item_number,
    (item_id % 65521 + 65521) % 65521 as short_number,
    coalesce((cluster_id % 65521 + 65521) % 65521 + 1, 0) as cluster_number
  from outcomes join current_runs
    on outcomes.run_id = current_runs.run_id and outcomes.publish_id = current_runs.publish_id
  where standing
),
sets as (
  select
    run_id, publish_id, attempt,
    count(*) as cells,
    sum(item_number) as items_sum,
    sum(short_number * short_number) as items_squares,
    sum(short_number * cluster_number) as clusters_sum
  from cells
  group by run_id, publish_id, attempt
),
firsts as (
  select run_id, publish_id, attempt
  from (
    select
      run_id, publish_id, attempt,
      row_number() over (partition by cells, items_sum, items_squares, clusters_sum order by run_id, attempt) as place
    from sets
  ) as numbered
  where place = 1
)
select
  firsts.run_id as run_id,
  cast(firsts.attempt as integer) as attempt,
  item_id, kind, evaluator, item, outcomes.cluster as cluster
from outcomes join firsts
  on outcomes.run_id = firsts.run_id and outcomes.publish_id = firsts.publish_id and outcomes.attempt = firsts.attempt
where standing
order by run_id, attempt, item_id
