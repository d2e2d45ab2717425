-- The publications whose outcomes the lake has, with the number of their rows: outcomes are published before the runs that name them, so
-- whoever reads runs.sql can check with it that `runs` is not older than `outcomes`.
--
-- Tables: `outcomes` of a lake; docs/engines.md says how engines get it. All revisions count.
-- Columns: publish_id text, in the order of time; outcomes 64-bit integer.
-- Order: publish_id.
select publish_id, cast(count(*) as bigint) as outcomes
from outcomes
where line > 0 -- and run_id in ('…')
group by publish_id
order by publish_id
