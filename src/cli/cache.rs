//! `cache`: lists what is in the cache, and clears it.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};

use crate::domain::{date_of, escape_invisible};
use crate::render::cell::TableCell;
use crate::render::format;
use crate::render::table::ReportTable;
use crate::warehouse::{CacheKind, CachePart, cache_parts, clear_cache};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Format;
use super::settings::Settings;
use super::{clock, exit_code, output};

/// Show or clear the cache, which makes commands faster
#[derive(Args)]
pub(super) struct CacheArguments {
    #[command(subcommand)]
    pub action: Option<CacheAction>,
}

impl Command for CacheArguments {
    const NAME: &'static str = "cache";
    const EXAMPLES: [Example; 2] = [
        ("evalreport cache", "its parts, with size and last use"),
        (
            "evalreport cache clear --older-than 720h",
            "delete parts that nobody used for 30 days",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::None, |settings| run_command(settings, self))
    }
}

#[derive(Subcommand)]
pub(super) enum CacheAction {
    /// Delete the cache; later commands make it again
    Clear(CacheClearArguments),
}

#[derive(Args)]
pub(super) struct CacheClearArguments {
    /// Delete only parts that no command used for this time, such as 720h
    #[arg(long, value_name = "TIME", value_parser = crate::config::parse_duration)]
    pub older_than: Option<std::time::Duration>,
}

#[derive(serde::Serialize)]
struct CacheAnswer {
    folder: String,
    /// Whether the parts were deleted.
    cleared: bool,
    parts: Vec<CacheEntry>,
    files: u64,
    bytes: u64,
}

#[derive(serde::Serialize)]
struct CacheEntry {
    kind: CacheKind,
    /// The stores, or the imported file. Empty if unknown.
    of: Vec<String>,
    files: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<DateTime<Utc>>,
}

fn run_command(settings: &Settings, arguments: &CacheArguments) -> Result<u8, CommandFailure> {
    let cannot = |error: std::io::Error| {
        CommandFailure::new(format!(
            "cannot use the cache {}: {error}",
            display_path(&settings.cache)
        ))
    };
    let answer = match &arguments.action {
        None => build_answer(
            settings,
            &cache_parts(&settings.cache).map_err(cannot)?,
            false,
        ),
        Some(CacheAction::Clear(CacheClearArguments { older_than })) => {
            let now = SystemTime::from(clock::now());
            let before =
                older_than.map(|age| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
            let Some(cleared) = clear_cache(&settings.cache, before).map_err(cannot)? else {
                return Err(CommandFailure::new(format!(
                    "another command uses the cache {}: nothing was deleted",
                    display_path(&settings.cache)
                ))
                .with_hint("try again when it has ended"));
            };
            build_answer(settings, &cleared, true)
        }
    };
    let table = build_table(&answer);
    if answer.parts.is_empty() && matches!(settings.format, Format::Table | Format::Markdown) {
        output::print_text(&format!("{}\n", table.notes.join("\n")))?;
        return Ok(exit_code::DONE);
    }
    output::print_answer(settings, "cache", &[table], || answer)?;
    Ok(exit_code::DONE)
}

fn build_answer(settings: &Settings, parts: &[CachePart], cleared: bool) -> CacheAnswer {
    let part = |part: &CachePart| CacheEntry {
        kind: part.kind,
        of: part.of.clone(),
        files: part.files,
        bytes: part.bytes,
        last_used: part.used.map(date_of),
    };
    let parts: Vec<CacheEntry> = parts.iter().map(part).collect();
    let total = |of: fn(&CacheEntry) -> u64| parts.iter().map(of).sum();
    CacheAnswer {
        folder: display_path(&settings.cache),
        cleared,
        files: total(|part| part.files),
        bytes: total(|part| part.bytes),
        parts,
    }
}

fn build_table(answer: &CacheAnswer) -> ReportTable {
    let mut table = ReportTable::for_rows("cache");
    table.add_text_column("Part", 0);
    table.add_text_column("Of", 0);
    table.add_number_column("Files", 2);
    table.add_number_column("Bytes", 0);
    table.add_text_column("Last used", 1);
    table.add_rows(answer.parts.iter().map(|part| {
        let of: Vec<String> = part.of.iter().map(|one| escape_invisible(one)).collect();
        let of = if of.is_empty() {
            "unknown".to_owned()
        } else {
            of.join(", ")
        };
        [
            TableCell::words(part.kind.name()),
            TableCell::words(of),
            TableCell::count(part.files),
            TableCell::count(part.bytes),
            TableCell::time_or_unknown(part.last_used),
        ]
    }));
    let verb = if answer.cleared { "Deleted from" } else { "In" };
    let size = format!(
        "{} with {}",
        format::format_count(answer.files, "file"),
        format::format_count(answer.bytes, "byte")
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
