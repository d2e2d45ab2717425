//! Checks a store against its seals: every digest is recomputed and compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::domain::{Problem, Run, RunId, ScoreRecord, escape_invisible, latest_outcome_revision};
use crate::files;

use super::chain::{self, ChainState};
use super::commits::{self, CommitLine};
use super::seal::{
    self, FolderDigest, ITEMS_FILE, OUTPUT_FOLDER, RunningDigest, SCORES_FILE, Seal, SealState,
    TRANSCRIPT_FILE,
};
use super::{
    Batch, HeaderFile, ItemLine, ScoreLine, SealedPair, SealedReader, Store, StoreContents,
    for_each_line, header, scan_store,
};

const CHANGE_HINT: &str =
    "put the file back from a copy, or retract the run: what is stored is not what was measured";

/// The result of the check.
#[derive(Clone, Debug, Default)]
pub struct StoreVerification {
    /// Runs whose records have a seal.
    pub sealed: usize,
    /// Runs without a seal: written by hand or by an early release.
    pub unsealed: usize,
    /// Files that differ from their seal, in store order, and records that the chain misses.
    pub changes: Vec<Problem>,
    pub chain: ChainState,
}

/// A difference from a seal.
#[derive(Debug)]
pub(super) struct SealMismatch {
    /// File in the run's folder.
    file: &'static str,
    line: Option<usize>,
    pub message: String,
}

/// The state of a found record.
enum RecordSealState {
    Unsealed,
    Changed,
    /// The digest of an unchanged, sealed record.
    Sealed(String),
}

/// Checks all sealed files of a store, and its chain, in which the entry `since` must be. Unreadable files are reported by
/// [`super::examine_store`].
pub fn verify_store(store: &Store, since: Option<&str>) -> StoreVerification {
    // Read the lists before the headers, so that every line of a running command already has its header.
    let lists: Vec<_> = plans_with_commits(store)
        .into_iter()
        .map(|plan| (files::read(commits::commits_path(&plan)), plan))
        .collect();
    let contents = scan_store(store);
    let mut proof = StoreVerification::default();
    let (mut found, mut batches) = (BTreeMap::new(), BTreeMap::new());
    let headers: Vec<_> = contents
        .headers
        .par_iter()
        .filter_map(verify_header)
        .collect();
    for (run, one, changes) in headers {
        proof.count_record(&one);
        proof.changes.extend(changes);
        batches.extend(
            run.batch_id
                .map(|batch| (run.id.as_str().to_owned(), batch)),
        );
        found.insert(run.id, one);
    }
    let pairs: Vec<_> = contents.sealed.par_iter().map(verify_pair).collect();
    let mut imported = BTreeMap::new();
    for (runs, changes) in pairs {
        for (run, one) in runs {
            proof.count_record(&one);
            imported.entry(run.id.clone()).or_insert((run, one));
        }
        proof.changes.extend(changes);
    }
    for judged in &contents.headless {
        if let Some((run, one)) = RunId::parse(judged.run_id())
            .ok()
            .and_then(|id| imported.get(&id))
        {
            // At import, the folder beside a sealed pair was empty. Everything since is by judges and has its own seals.
            let nothing = Seal::default();
            let seal = match one {
                RecordSealState::Unsealed => None,
                RecordSealState::Changed | RecordSealState::Sealed(_) => Some(&nothing),
            };
            proof
                .changes
                .extend(verify_folder(run, seal, &judged.folder));
        }
    }
    for (list, plan) in lists {
        match list {
            Ok(list) => verify_batch(store, &plan, &list, &found, &mut proof.changes),
            Err(error) => proof.changes.push(Problem::unread_file(
                display_path(&commits::commits_path(&plan)),
                &error,
            )),
        }
    }
    verify_chain(store, since, (&contents, &batches), &mut proof);
    proof
}

/// Adds what the chain misses, and counts the records that it does not name.
fn verify_chain(
    store: &Store,
    since: Option<&str>,
    (contents, batches): (&StoreContents, &BTreeMap<String, String>),
    proof: &mut StoreVerification,
) {
    let known: BTreeSet<String> = proof
        .changes
        .iter()
        .map(|change| change.file.clone())
        .collect();
    let (state, chained, problems) = chain::verify_chain(store, since, &known);
    proof.chain = state;
    proof.changes.extend(problems);
    // A plan names the newest entries of its time, so the whole chain cannot be removed.
    for path in &contents.batches {
        let Ok(plan) = Batch::load(path) else {
            continue;
        };
        if proof.chain.entries == 0 && !plan.previous.is_empty() {
            let message = "names an entry of the store's chain, which is gone";
            proof.changes.push(
                Problem::in_file(display_path(path), message)
                    .with_hint("put the folder `chain` back from a copy"),
            );
        }
    }
    let name = |path: &Path| {
        path.strip_prefix(store.root())
            .map(|path| path.to_string_lossy().replace('\\', "/"))
            .unwrap_or_default()
    };
    let lists: BTreeSet<String> = contents
        .batches
        .iter()
        .filter(|plan| chained.contains(&name(plan)))
        .map(|plan| name(plan))
        .collect();
    // The list of a plan's commits has the digests of its headers.
    let is_of_chained_plan = |header: &HeaderFile| {
        let batch = header
            .path
            .file_stem()
            .and_then(|stem| batches.get(stem.to_str()?));
        batch.is_some_and(|batch| lists.contains(&format!("batches/{batch}.json")))
    };
    proof.chain.unchained = contents
        .batches
        .iter()
        .filter(|plan| !chained.contains(&name(plan)))
        .count()
        + contents
            .sealed
            .iter()
            .filter(|pair| !chained.contains(&name(&pair.runs)))
            .count()
        + contents
            .headers
            .iter()
            .filter(|header| !chained.contains(&name(&header.path)) && !is_of_chained_plan(header))
            .count();
}

impl StoreVerification {
    fn count_record(&mut self, one: &RecordSealState) {
        match one {
            RecordSealState::Unsealed => self.unsealed += 1,
            RecordSealState::Changed | RecordSealState::Sealed(_) => self.sealed += 1,
        }
    }
}

fn verify_header(file: &HeaderFile) -> Option<(Run, RecordSealState, Vec<Problem>)> {
    let name = display_path(&file.path);
    let bytes = header::read_header_bytes(&file.path).ok()?;
    let run = header::parse_header(
        &bytes,
        &name,
        None,
        file.path.file_stem().and_then(|stem| stem.to_str()),
    )
    .ok()?;
    let mut changes = Vec::new();
    let (found, seal) = match SealState::parse(&String::from_utf8_lossy(&bytes)) {
        SealState::None => (RecordSealState::Unsealed, None),
        SealState::Whole(sealed) => (RecordSealState::Sealed(sealed.digest()), Some(sealed.seal)),
        SealState::Changed => {
            let message = format!(
                "the header of run `{}` was changed after it was sealed",
                run.id
            );
            changes.push(Problem::in_file(&name, message).with_hint(CHANGE_HINT));
            (RecordSealState::Changed, None)
        }
    };
    changes.extend(verify_folder(
        &run,
        seal.as_ref(),
        &file.path.with_extension(""),
    ));
    Some((run, found, changes))
}

/// Compares a run's folder with the seal of its header, if it has one, and with the seals of its judgements.
fn verify_folder(run: &Run, seal: Option<&Seal>, folder: &Path) -> Vec<Problem> {
    let without = run
        .carried
        .as_ref()
        .map_or(&[][..], |carried| &carried.without);
    let told = |change: SealMismatch| {
        let file = display_path(&folder.join(change.file));
        let message = format!("run `{}`: {}", run.id, change.message);
        Problem {
            line: change.line,
            ..Problem::in_file(file, message).with_hint(CHANGE_HINT)
        }
    };
    match find_changes(seal, &run.scores, without, folder) {
        Ok(found) => found.into_iter().map(told).collect(),
        Err(error) => vec![Problem::unread_file(display_path(folder), &error)],
    }
}

/// Compares a run's folder with the seal of its header, if it has one, and with the seals of its judgements. `without` lists parts that the
/// folder never had here.
pub(super) fn find_changes(
    seal: Option<&Seal>,
    scores: &[ScoreRecord],
    without: &[String],
    folder: &Path,
) -> io::Result<Vec<SealMismatch>> {
    let mut changes = Vec::new();
    let mut seals: Vec<(Option<usize>, &Seal)> =
        seal.map(|seal| (None, seal)).into_iter().collect();
    let scores = verify_scores(seal, scores, folder, &mut changes)?;
    seals.extend(scores.judged.iter().map(|(line, seal)| (Some(*line), seal)));
    verify_items(&seals, &scores.all, folder, &mut changes)?;
    let Some(seal) = seal else { return Ok(changes) };
    let is_absent = |part: &str| without.iter().any(|one| one == part);

    let places = seal.transcript.iter().map(|prefix| prefix.bytes).collect();
    let (whole, at) = match files::missing_as_none(files::open(folder.join(TRANSCRIPT_FILE)))? {
        Some(file) => seal::digest_prefixes(file, &places)?,
        None => Default::default(),
    };
    let is_there = whole.to_prefix().is_some();
    let sealed = seal.transcript.as_ref();
    let message = match sealed {
        Some(_) if !is_there && is_absent("transcript") => None,
        Some(sealed)
            if at
                .get(&sealed.bytes)
                .and_then(RunningDigest::to_prefix)
                .as_ref()
                != Some(sealed) =>
        {
            Some("was changed after the run was sealed")
        }
        _ if whole.to_prefix().map(|prefix| prefix.bytes) != sealed.map(|prefix| prefix.bytes) => {
            Some("has lines that were added after the run was sealed")
        }
        _ => None,
    };
    changes.extend(message.map(|message| SealMismatch {
        file: TRANSCRIPT_FILE,
        line: None,
        message: format!("its transcript {message}"),
    }));

    let tree = FolderDigest::from_folder(&folder.join(OUTPUT_FOLDER))?;
    let files = |tree: &Option<FolderDigest>| tree.as_ref().map_or(0, |tree| tree.files);
    if tree != seal.output && !(is_absent("output") && files(&tree) < files(&seal.output)) {
        let message = if files(&tree) == files(&seal.output) {
            "what it made was changed after the run was sealed".to_owned()
        } else {
            format!(
                "what it made has {} of {} that were sealed",
                files(&tree),
                files(&seal.output)
            )
        };
        changes.push(SealMismatch {
            file: OUTPUT_FOLDER,
            line: None,
            message,
        });
    }
    Ok(changes)
}

/// Returns the sealed parts of a run that are missing in its folder, perhaps omitted by their source.
pub(super) fn missing_parts(seal: &Seal, folder: &Path) -> io::Result<Vec<String>> {
    let mut without = Vec::new();
    if seal.transcript.is_some()
        && seal::FilePrefix::from_file(&folder.join(TRANSCRIPT_FILE))?.is_none()
    {
        without.push("transcript".to_owned());
    }
    let files =
        FolderDigest::from_folder(&folder.join(OUTPUT_FOLDER))?.map_or(0, |tree| tree.files);
    if seal
        .output
        .as_ref()
        .is_some_and(|sealed| files < sealed.files)
    {
        without.push("output".to_owned());
    }
    Ok(without)
}

/// The scores of a run.
struct SealedScores {
    /// The seals of later judgements, with their line numbers.
    judged: Vec<(usize, Seal)>,
    all: Vec<ScoreRecord>,
}

/// Reads the scores, and compares them with the header's seal and their own.
fn verify_scores(
    seal: Option<&Seal>,
    scores: &[ScoreRecord],
    folder: &Path,
    changes: &mut Vec<SealMismatch>,
) -> io::Result<SealedScores> {
    let bytes = files::missing_as_none(files::read(folder.join(SCORES_FILE)))?.unwrap_or_default();
    let mut change = |line: Option<usize>, message: &str| {
        changes.push(SealMismatch {
            file: SCORES_FILE,
            line,
            message: message.to_owned(),
        });
    };
    let is_of = |prefix: &seal::FilePrefix| {
        usize::try_from(prefix.bytes)
            .ok()
            .and_then(|length| bytes.get(..length))
            .is_some_and(|part| seal::sha256_hex(part) == prefix.sha256)
    };
    let at_commit = seal.and_then(|seal| seal.scores.as_ref());
    if at_commit.is_some_and(|prefix| !is_of(prefix)) {
        change(None, "its scores were changed after the run was sealed");
    }
    let mut judged = Vec::new();
    let mut all = scores.to_vec();
    let mut place = 0;
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let begins = place;
        place += line.len() as u64;
        all.extend(
            serde_json::from_slice::<ScoreLine>(line)
                .ok()
                .map(|line| line.score),
        );
        // A killed command may leave a half line, which does not count.
        let is_half = !line.ends_with(b"\n") && serde_json::from_slice::<ScoreLine>(line).is_err();
        if begins < at_commit.map_or(0, |prefix| prefix.bytes) || is_half {
            continue;
        }
        match SealState::parse(&String::from_utf8_lossy(line)) {
            SealState::None if seal.is_some() || !judged.is_empty() => {
                change(
                    Some(number),
                    "this score was added after the run was sealed, and has no seal of its own",
                );
            }
            SealState::None => {}
            SealState::Changed => {
                change(Some(number), "this score was changed after it was sealed");
            }
            SealState::Whole(sealed) => {
                let before = sealed.seal.scores.as_ref();
                if before.map_or(0, |prefix| prefix.bytes) != begins
                    || before.is_some_and(|prefix| !is_of(prefix))
                {
                    change(
                        Some(number),
                        "the scores before this one are not those that it was sealed with",
                    );
                }
                judged.push((number, sealed.seal));
            }
        }
    }
    Ok(SealedScores { judged, all })
}

/// Compares the outcomes with all seals; a judgement's seal is named by its score line.
fn verify_items(
    seals: &[(Option<usize>, &Seal)],
    scores: &[ScoreRecord],
    folder: &Path,
    changes: &mut Vec<SealMismatch>,
) -> io::Result<()> {
    if seals.is_empty() {
        return Ok(());
    }
    let sealed = || {
        seals
            .iter()
            .filter_map(|(line, seal)| Some((line, seal.items.as_ref()?)))
    };
    let path = folder.join(ITEMS_FILE);
    let places: BTreeSet<u64> = sealed().map(|(_, prefix)| prefix.bytes).collect();
    let (whole, at) = match files::missing_as_none(files::open(&path))? {
        Some(file) => seal::digest_prefixes(file, &places)?,
        None => Default::default(),
    };
    let bytes = whole.to_prefix().map_or(0, |prefix| prefix.bytes);
    // A difference at the first seal is a difference at all later ones.
    if let Some((line, prefix)) = sealed().find(|(_, prefix)| {
        at.get(&prefix.bytes)
            .and_then(RunningDigest::to_prefix)
            .as_ref()
            != Some(*prefix)
    }) {
        let what = if bytes < prefix.bytes {
            "some of its outcomes were taken away"
        } else {
            "its outcomes were changed"
        };
        let when = line.map_or("the run was sealed".to_owned(), |line| {
            format!("its judgement was sealed ({SCORES_FILE}:{line})")
        });
        changes.push(SealMismatch {
            file: ITEMS_FILE,
            line: None,
            message: format!("{what} after {when}"),
        });
        return Ok(());
    }
    let covered = places.last().copied().unwrap_or(0);
    if bytes <= covered {
        return Ok(());
    }
    // Only a killed judgement leaves lines after the last seal. They do not count.
    let is_unfinished = |line: &[u8]| {
        ItemLine::parse(line).is_ok_and(|item| {
            latest_outcome_revision(&item.evaluator, scores)
                .is_some_and(|standing| item.revision > standing)
        })
    };
    let mut place = 0;
    for (number, line) in (1..).zip(files::read(&path)?.split_inclusive(|byte| *byte == b'\n')) {
        let is_half = !line.ends_with(b"\n") && ItemLine::parse(line).is_err();
        if place >= covered && !is_half && !line.trim_ascii().is_empty() && !is_unfinished(line) {
            let message = "this outcome was added after the run was sealed".to_owned();
            changes.push(SealMismatch {
                file: ITEMS_FILE,
                line: Some(number),
                message,
            });
        }
        place += line.len() as u64;
    }
    Ok(())
}

fn verify_pair(pair: &SealedPair) -> (Vec<(Run, RecordSealState)>, Vec<Problem>) {
    let name = display_path(&pair.runs);
    let (mut runs, mut changes) = (Vec::new(), Vec::new());
    let mut sealed = HashMap::<String, (usize, Option<seal::FilePrefix>, RunningDigest)>::new();
    let read = files::open(&pair.runs).and_then(|file| {
        for_each_line(BufReader::new(file), |number, line| {
            let Some((line, run)) = line.ok().and_then(|line| {
                Some((
                    line,
                    header::parse_header(line, &name, Some(number), None).ok()?,
                ))
            }) else {
                return;
            };
            let found = match SealState::parse(&String::from_utf8_lossy(line)) {
                SealState::None => RecordSealState::Unsealed,
                SealState::Changed => {
                    let message = format!(
                        "the header of run `{}` was changed after it was sealed",
                        run.id
                    );
                    changes.push(Problem::at_line(&name, number, message).with_hint(CHANGE_HINT));
                    RecordSealState::Changed
                }
                SealState::Whole(whole) => {
                    let found = RecordSealState::Sealed(whole.digest());
                    sealed.insert(
                        run.id.as_str().to_owned(),
                        (number, whole.seal.items, RunningDigest::default()),
                    );
                    found
                }
            };
            runs.push((run, found));
        })
    });
    let items = pair.items.as_ref().filter(|_| !sealed.is_empty());
    let summed = items.map_or(Ok(()), |items| {
        for_each_line(
            BufReader::with_capacity(1 << 20, SealedReader::open_items(items)?),
            |_, line| {
                let Ok(line) = line else { return };
                let Ok(item) = ItemLine::parse(line) else {
                    return;
                };
                if let Some((.., sum)) = item.run.as_deref().and_then(|run| sealed.get_mut(run)) {
                    sum.add(line);
                    sum.add(b"\n");
                }
            },
        )
    });
    if read.is_err() || summed.is_err() {
        // The examination reports this.
        return (runs, changes);
    }
    let mut other: Vec<(usize, &String)> = sealed
        .iter()
        .filter(|(_, (_, items, sum))| sum.to_prefix() != *items)
        .map(|(run, (number, ..))| (*number, run))
        .collect();
    other.sort_unstable();
    let items = pair
        .items
        .as_ref()
        .map_or_else(|| name.clone(), |items| display_path(items));
    changes.extend(other.into_iter().map(|(_, run)| {
        let message = format!(
            "run `{}`: its outcomes were changed after the run was sealed",
            escape_invisible(run)
        );
        Problem::in_file(&items, message).with_hint(CHANGE_HINT)
    }));
    (runs, changes)
}

/// Returns the plans with a list of commits, even if the plan itself is missing.
fn plans_with_commits(store: &Store) -> Vec<PathBuf> {
    let entries = fs::read_dir(store.batches_dir())
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut plans: Vec<PathBuf> = names
        .filter_map(|name| {
            Some(store.batches_dir().join(format!(
                "{}.json",
                name.strip_suffix(commits::COMMITS_SUFFIX)?
            )))
        })
        .collect();
    plans.sort_unstable();
    plans
}

/// Compares a batch's headers with its list of commits, and the list with itself and the plan.
fn verify_batch(
    store: &Store,
    plan: &Path,
    list: &[u8],
    found: &BTreeMap<RunId, RecordSealState>,
    changes: &mut Vec<Problem>,
) {
    let name = display_path(&commits::commits_path(plan));
    let mut committed = BTreeMap::<RunId, CommitLine>::new();
    let mut previous = files::read(plan).ok().map(|plan| seal::sha256_hex(&plan));
    if previous.is_none() {
        changes.push(
            Problem::in_file(
                display_path(plan),
                "the plan of runs that were committed is gone",
            )
            .with_hint("put it back from a copy"),
        );
    }
    for (number, line) in (1..).zip(list.split_inclusive(|byte| *byte == b'\n')) {
        // A killed command may leave a half line, which the next one replaces.
        let Some(line) = line.strip_suffix(b"\n") else {
            continue;
        };
        let Ok(commit) = serde_json::from_slice::<CommitLine>(line) else {
            changes.push(
                Problem::at_line(&name, number, "is not a line of committed runs")
                    .with_hint("put the file back from a copy"),
            );
            previous = None;
            continue;
        };
        if previous.is_some_and(|previous| previous != commit.previous) {
            let (file, message) = match number {
                1 => (
                    display_path(plan),
                    "the plan was changed after its first run was committed".to_owned(),
                ),
                _ => (
                    name.clone(),
                    format!("lines before line {number} were changed or taken away"),
                ),
            };
            changes
                .push(Problem::in_file(file, message).with_hint("put the file back from a copy"));
        }
        previous = Some(seal::sha256_hex(line));
        if let Some(before) = committed.insert(commit.run.clone(), commit)
            && committed
                .get(&before.run)
                .is_some_and(|now| now.header != before.header)
        {
            let message = format!(
                "run `{}` was committed again, after its header had been taken away",
                before.run
            );
            changes.push(
                Problem::at_line(&name, number, message)
                    .with_hint("retract the run if nobody can say why"),
            );
        }
    }
    for (run, commit) in committed {
        let message = match found.get(&run) {
            Some(RecordSealState::Sealed(digest)) if *digest == commit.header => continue,
            // Already reported.
            Some(RecordSealState::Changed) => continue,
            Some(RecordSealState::Sealed(_)) => {
                format!("the header of run `{run}` is not the one that was committed")
            }
            Some(RecordSealState::Unsealed) => {
                format!("the header of run `{run}` had a seal when it was committed, and has none")
            }
            None => format!("the header of run `{run}`, which was committed, is gone"),
        };
        changes.push(
            Problem::in_file(display_path(&store.header_path(&run)), message)
                .with_hint(CHANGE_HINT),
        );
    }
}

fn display_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}
