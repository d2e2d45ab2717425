-- The rows of `runs` that were added together: whoever reads runs.sql can check with it that no row is missing or there twice.
--
-- Tables: `runs` of a lake; docs/engines.md says how engines get it. All revisions count.
-- Columns, 64-bit integers: sequence, the number of the commit, from 1 without a gap; found, its rows; runs, its different runs; least and
-- most, the number of rows that its rows state.
-- Order: sequence.
select
  sequence,
  cast(count(*) as bigint) as found,
  cast(count(distinct run_id) as bigint) as runs,
  cast(min(commit_rows) as bigint) as least,
  cast(max(commit_rows) as bigint) as most
from runs
where sequence > 0 -- and run_id in ('…')
group by sequence
order by sequence
