//! The report of an import, in the form for programs.

use crate::import::{
    FieldCoverage, FigureDisagreement, ForeignReport, ImportReport, PublishedFigureLine,
    RefusalReason, SourceOutcome, SourceReport, SourceRun, UnrecognisedSource,
};
use crate::views::{
    CheckedFigure, ForeignSource, HeldField, ImportAnswer, ImportedSource, Quirk, RefusedRows,
    StatedOtherwise, UnrecognisedFile,
};

pub(super) fn build_answer(report: &ImportReport) -> ImportAnswer {
    let unrecognised = |file: &UnrecognisedSource| UnrecognisedFile {
        file: file.file.clone(),
        tool: file.tool.map(str::to_owned),
    };
    ImportAnswer {
        dry_run: report.dry_run,
        sources: report.sources.iter().map(source_answer).collect(),
        unrecognised: report.unrecognised.iter().map(unrecognised).collect(),
        links: report.links.clone(),
        passed_over: report.passed_over,
    }
}

fn source_answer(source: &SourceReport) -> ImportedSource {
    let ids = |runs: &[SourceRun]| runs.iter().map(|run| run.id.to_string()).collect();
    let disagreement = |one: &FigureDisagreement| StatedOtherwise {
        run: one.run.id.to_string(),
        file: one.run.file.clone(),
        identity: one.run.identity.clone(),
        figure: one.figure.clone(),
        stated: one.stated,
        recomputed: one.recomputed,
    };
    let refusal = |refusal: &RefusalReason| RefusedRows {
        reason: refusal.reason.clone(),
        rows: refusal.rows,
        examples: refusal.examples.iter().map(ToString::to_string).collect(),
    };
    ImportedSource {
        file: source.file.clone(),
        sha256: source.sha256.clone(),
        outcome: outcome_name(source.outcome).to_owned(),
        problems: source.problems.iter().map(ToString::to_string).collect(),
        rows_read: source.rows_read,
        rows_accepted: source.rows_accepted,
        rows_refused: source.count_refused_rows(),
        refusals: source.refusals.iter().map(refusal).collect(),
        runs_new: ids(&source.runs_new),
        runs_repeated: ids(&source.runs_repeated),
        runs_replaced: source
            .runs_replaced
            .iter()
            .map(|replaced| (replaced.run.to_string(), replaced.by.to_string()))
            .collect(),
        notes: source.notes.clone(),
        items: source.items,
        columns_unused: source.columns_unused.clone(),
        columns_lacking: source
            .columns_lacking
            .iter()
            .map(|lacking| lacking.column.clone())
            .collect(),
        stated_checked: source.stated.checked,
        stated_agree: source.stated.agree,
        disagreements: source
            .stated
            .disagreements
            .iter()
            .map(disagreement)
            .collect(),
        foreign: source.foreign.as_ref().map(foreign_answer),
    }
}

fn outcome_name(outcome: SourceOutcome) -> &'static str {
    match outcome {
        SourceOutcome::Imported => "imported",
        SourceOutcome::AlreadyImported => "already_imported",
        SourceOutcome::NothingNew => "nothing_new",
        SourceOutcome::NothingAccepted => "nothing_accepted",
        SourceOutcome::Unreadable => "unreadable",
    }
}

fn foreign_answer(foreign: &ForeignReport) -> ForeignSource {
    let field = |field: &FieldCoverage| HeldField {
        field: field.field.to_owned(),
        held: field.held,
        of: field.of,
    };
    let stated = |one: &PublishedFigureLine| CheckedFigure {
        run: one.run.to_string(),
        figure: one.figure.name.clone(),
        unit: one.figure.unit,
        stated: one.figure.value,
        recomputed: one.figure.recomputed,
        agrees: one.figure.disagrees().map(|disagrees| !disagrees),
    };
    ForeignSource {
        format: foreign.format.to_owned(),
        version: foreign.version.clone(),
        files: foreign.files,
        fields: foreign.fields.iter().map(field).collect(),
        quirks: foreign
            .quirks
            .iter()
            .map(|(quirk, times)| Quirk {
                quirk: quirk.clone(),
                times: *times,
            })
            .collect(),
        stated: foreign.stated.iter().map(stated).collect(),
    }
}
