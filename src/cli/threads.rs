//! The threads that work is shared among.

use std::env;
use std::num::NonZero;
use std::thread;

use rayon::ThreadPoolBuilder;

use crate::warehouse::threads_are_given;

/// Starts them before anything needs them: a system that gives no more threads would end the program there. It works on one alone then.
pub(super) fn start() {
    let asked = env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    let wanted = asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    let pool = ThreadPoolBuilder::new();
    let pool = if threads_are_given(wanted) { pool.num_threads(wanted) } else { pool.num_threads(1).use_current_thread() };
    // There is one already where several commands run in one process.
    let _ = pool.build_global();
}
