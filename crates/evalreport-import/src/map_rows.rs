//! The rows of a source, as a map shapes them.

use std::cell::RefCell;

use crate::results::StoreError;

use super::columns::SourceColumns;
use super::map::TableMap;
use super::rows::{ReadStop, RowSink, SourceRow};
use super::source::{SourceFile, SourcePart};
use super::table_runs::RowSource;

/// Returns the columns that the map reads. Columns that it derives count as seen.
pub(super) fn map_columns(map: &TableMap) -> SourceColumns {
    let mut columns = SourceColumns::new(
        map.columns
            .iter()
            .map(|column| column.name.clone())
            .collect(),
    );
    for slot in map.shape.derived_slots() {
        columns.mark_seen(slot);
    }
    columns
}

/// Callback that takes a row as the map shapes it, or `None` for one that the map skips, and where it comes from.
type OnMapRow<'c> =
    dyn FnMut(Option<&SourceRow<'_>>, &RowSource<'_>) -> Result<(), StoreError> + 'c;

/// Reads up to `most` rows of each part of the source, as the map shapes them. If `most` ended the reading, the error has no problems.
pub(super) fn for_each_map_row(
    source: &SourceFile,
    map: &TableMap,
    most: u64,
    columns: &mut SourceColumns,
    progress: &mut dyn FnMut(u64),
    on_map_row: &mut OnMapRow<'_>,
) -> Result<(), ReadStop> {
    let on_map_row = RefCell::new(on_map_row);
    source.for_each_part(map.layout.encoding, progress, |part: SourcePart<'_>| {
        let place = RowSource {
            label: &part.label,
            file: &part.file,
            member: part.member.as_deref(),
        };
        let mut shaped = map.shape.begin_part(&part.path);
        let mut on_row = |row: &SourceRow<'_>| {
            let on_map_row = &mut *on_map_row.borrow_mut();
            if map.shape.is_skipped(row) {
                return on_map_row(None, &place);
            }
            shaped.for_each_row(row, &mut |row| on_map_row(Some(row), &place))
        };
        let mut rows = RowSink::new(&part.label, columns, &mut on_row).up_to(most);
        let ready = |rows: &RowSink<'_>| {
            rows.columns
                .essential_columns_problem(|name| map.is_essential(name), rows.label)
        };
        map.layout
            .read_rows(part.format, part.input, &mut rows, ready)
    })
}
