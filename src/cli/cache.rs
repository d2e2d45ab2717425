//! `cache`: lists what is in the cache, and clears it.

use std::time::SystemTime;

use chrono::{DateTime, Utc};

use crate::domain::{date_of, visible};
use crate::render::cell::Cell;
use crate::render::format;
use crate::render::table::Table;
use crate::warehouse::{CacheKind, CachePart, cache_parts, clear_cache};

use super::arguments::{Cache, CacheAction, CacheClear, Format};
use super::failure::Failure;
use super::settings::Settings;
use super::shown::shown;
use super::{clock, exit_code, output};

#[derive(serde::Serialize)]
struct Answer {
    folder: String,
    /// Whether the parts were deleted.
    cleared: bool,
    parts: Vec<Part>,
    files: u64,
    bytes: u64,
}

#[derive(serde::Serialize)]
struct Part {
    kind: CacheKind,
    /// The stores, or the imported file. Empty if unknown.
    of: Vec<String>,
    files: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<DateTime<Utc>>,
}

pub(super) fn run(settings: &Settings, arguments: &Cache) -> Result<u8, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(format!(
            "cannot use the cache {}: {error}",
            shown(&settings.cache)
        ))
    };
    let answer = match &arguments.action {
        None => answer(
            settings,
            &cache_parts(&settings.cache).map_err(cannot)?,
            false,
        ),
        Some(CacheAction::Clear(CacheClear { older_than })) => {
            let now = SystemTime::from(clock::now());
            let before =
                older_than.map(|age| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
            let Some(cleared) = clear_cache(&settings.cache, before).map_err(cannot)? else {
                return Err(Failure::new(format!(
                    "another command uses the cache {}: nothing was deleted",
                    shown(&settings.cache)
                ))
                .with_hint("try again when it has ended"));
            };
            answer(settings, &cleared, true)
        }
    };
    let table = table(&answer);
    if answer.parts.is_empty() && matches!(settings.format, Format::Table | Format::Markdown) {
        output::print(&format!("{}\n", table.notes.join("\n")))?;
        return Ok(exit_code::DONE);
    }
    output::answer(settings, "cache", &[table], || answer)?;
    Ok(exit_code::DONE)
}

fn answer(settings: &Settings, parts: &[CachePart], cleared: bool) -> Answer {
    let part = |part: &CachePart| Part {
        kind: part.kind,
        of: part.of.clone(),
        files: part.files,
        bytes: part.bytes,
        last_used: part.used.map(date_of),
    };
    let parts: Vec<Part> = parts.iter().map(part).collect();
    let total = |of: fn(&Part) -> u64| parts.iter().map(of).sum();
    Answer {
        folder: shown(&settings.cache),
        cleared,
        files: total(|part| part.files),
        bytes: total(|part| part.bytes),
        parts,
    }
}

fn table(answer: &Answer) -> Table {
    let mut table = Table::of("cache");
    table.left("Part", 0);
    table.left("Of", 0);
    table.right("Files", 2);
    table.right("Bytes", 0);
    table.left("Last used", 1);
    table.fill(answer.parts.iter().map(|part| {
        let of: Vec<String> = part.of.iter().map(|one| visible(one)).collect();
        let of = if of.is_empty() {
            "unknown".to_owned()
        } else {
            of.join(", ")
        };
        [
            Cell::words(part.kind.name()),
            Cell::words(of),
            Cell::count(part.files),
            Cell::count(part.bytes),
            Cell::time(part.last_used),
        ]
    }));
    let verb = if answer.cleared { "Deleted from" } else { "In" };
    let size = format!(
        "{} with {}",
        format::count(answer.files, "file"),
        format::count(answer.bytes, "byte")
    );
    table
        .notes
        .push(format!("{verb} the cache {}: {size}.", answer.folder));
    if !answer.cleared && !answer.parts.is_empty() {
        table
            .notes
            .push("`evalreport cache clear` deletes all of it; no answer changes.".to_owned());
    }
    table
}
