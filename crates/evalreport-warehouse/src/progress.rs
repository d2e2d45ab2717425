//! Progress reports of long reads.

/// Reports long work. All calls may come from several threads.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    pub begin: &'a (dyn Fn(&'static str, u64) + Sync),
    pub advance: &'a (dyn Fn(u64) + Sync),
    pub end: &'a (dyn Fn() + Sync),
}

impl Progress<'_> {
    pub const SILENT: Progress<'static> = Progress {
        begin: &|_, _| {},
        advance: &|_| {},
        end: &|| {},
    };

    pub(super) fn begin_phase(&self, what: &'static str, total: u64) {
        (self.begin)(what, total);
    }

    pub(super) fn advance(&self, by: u64) {
        (self.advance)(by);
    }

    pub(super) fn end_phase(&self) {
        (self.end)();
    }
}
