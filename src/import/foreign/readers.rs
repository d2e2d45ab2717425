//! Which module reads which format.

use std::path::Path;

use super::super::rows::Stop;
use super::claim::Claim;
use super::format::ForeignFormat;
use super::peek::Peek;
use super::sink::Sink;
use super::source::ForeignSource;
use super::{
    aider, cogni, ctrf, evalperf, every_eval_ever, harbor, helm, inspect, junit, kotef, lm_eval, promptfoo, ralph, swe_bench,
    terminal_bench, zelda,
};

/// Asks a format whether a file is of it.
pub(super) fn claim(format: ForeignFormat, peek: &Peek) -> Option<Claim> {
    match format {
        ForeignFormat::Inspect => inspect::claim(peek),
        ForeignFormat::Harbor => harbor::claim(peek),
        ForeignFormat::TerminalBench => terminal_bench::claim(peek),
        ForeignFormat::Promptfoo => promptfoo::claim(peek),
        ForeignFormat::LmEval => lm_eval::claim(peek),
        ForeignFormat::Helm => helm::claim(peek),
        ForeignFormat::SweBench => swe_bench::claim(peek),
        ForeignFormat::Aider => aider::claim(peek),
        ForeignFormat::Evalperf => evalperf::claim(peek),
        ForeignFormat::EveryEvalEver => every_eval_ever::claim(peek),
        ForeignFormat::Zelda => zelda::claim(peek),
        ForeignFormat::Cogni => cogni::claim(peek),
        ForeignFormat::Kotef => kotef::claim(peek),
        ForeignFormat::Ralph => ralph::claim(peek),
        ForeignFormat::Ctrf => ctrf::claim(peek),
        ForeignFormat::Junit => junit::claim(peek),
    }
}

/// Lets a format tell what a source holds.
pub(super) fn read(format: ForeignFormat, source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    match format {
        ForeignFormat::Inspect => inspect::read(source, sink),
        ForeignFormat::Harbor => harbor::read(source, sink),
        ForeignFormat::TerminalBench => terminal_bench::read(source, sink),
        ForeignFormat::Promptfoo => promptfoo::read(source, sink),
        ForeignFormat::LmEval => lm_eval::read(source, sink),
        ForeignFormat::Helm => helm::read(source, sink),
        ForeignFormat::SweBench => swe_bench::read(source, sink),
        ForeignFormat::Aider => aider::read(source, sink),
        ForeignFormat::Evalperf => evalperf::read(source, sink),
        ForeignFormat::EveryEvalEver => every_eval_ever::read(source, sink),
        ForeignFormat::Zelda => zelda::read(source, sink),
        ForeignFormat::Cogni => cogni::read(source, sink),
        ForeignFormat::Kotef => kotef::read(source, sink),
        ForeignFormat::Ralph => ralph::read(source, sink),
        ForeignFormat::Ctrf => ctrf::read(source, sink),
        ForeignFormat::Junit => junit::read(source, sink),
    }
}

/// Says whether a file that nobody reads, by its path below a source's folder, is one that the tool leaves there.
pub(super) fn is_companion(format: ForeignFormat, below: &Path) -> bool {
    match format {
        ForeignFormat::Harbor => harbor::is_companion(below),
        ForeignFormat::TerminalBench => terminal_bench::is_companion(below),
        ForeignFormat::Inspect
        | ForeignFormat::Promptfoo
        | ForeignFormat::LmEval
        | ForeignFormat::Helm
        | ForeignFormat::SweBench
        | ForeignFormat::Aider
        | ForeignFormat::Evalperf
        | ForeignFormat::EveryEvalEver
        | ForeignFormat::Zelda
        | ForeignFormat::Cogni
        | ForeignFormat::Kotef
        | ForeignFormat::Ralph
        | ForeignFormat::Ctrf
        | ForeignFormat::Junit => false,
    }
}
