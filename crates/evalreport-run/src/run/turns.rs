//! The order in which the questions of several runs are asked.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::purse::{Admission, BatchBudget};

/// How often a waiting worker looks whether everything is over.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// One question of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionTurn {
    /// The place of the run among those asked together.
    pub run: usize,
    /// The place of the question in its suite.
    pub place: usize,
}

/// The questions of several runs, question by question over the runs. Each question begins with another run, so that none always comes first.
///
/// Workers take turns in this order only: if a run has no room for another question, they wait for it. So no run gets ahead of the others.
pub struct Turns {
    /// In the order of asking.
    all: Vec<QuestionTurn>,
    state: Mutex<TurnState>,
    freed: Condvar,
    /// By run: maximum number of concurrent questions.
    most: Vec<usize>,
}

struct TurnState {
    next: usize,
    /// By run: number of questions being asked.
    busy: Vec<usize>,
}

impl Turns {
    /// `places` are in the order of asking, `open` are those that each run still needs. `first` shifts which run begins.
    pub fn new(places: &[usize], open: &[BTreeSet<usize>], first: usize, most: Vec<usize>) -> Self {
        let count = open.len();
        let of_place = |place: usize| {
            let shift = place + first;
            (0..count).map(move |turn| QuestionTurn {
                run: (turn + shift) % count.max(1),
                place,
            })
        };
        let turns = places
            .iter()
            .copied()
            .flat_map(of_place)
            .filter(|turn| open[turn.run].contains(&turn.place))
            .collect();
        Self {
            all: turns,
            state: Mutex::new(TurnState {
                next: 0,
                busy: vec![0; count],
            }),
            freed: Condvar::new(),
            most,
        }
    }

    /// A single turn, which waits only for the purse.
    pub fn single() -> Self {
        Self::new(&[0], &[BTreeSet::from([0])], 0, vec![1])
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the next turn once its run has room and the purse admits it, or `None` if there is none, everything is over, or the purse is empty.
    pub fn next_turn(
        &self,
        is_over: &impl Fn() -> bool,
        purse: Option<&BatchBudget>,
    ) -> Option<QuestionTurn> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if is_over() {
                return None;
            }
            let turn = *self.all.get(state.next)?;
            if state.busy[turn.run] < self.most[turn.run] {
                match purse.map_or(Admission::Yes, BatchBudget::admit_attempt) {
                    Admission::Yes => {
                        state.next += 1;
                        state.busy[turn.run] += 1;
                        return Some(turn);
                    }
                    Admission::No => return None,
                    Admission::Wait => {}
                }
            }
            state = self
                .freed
                .wait_timeout(state, LOOK_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Gives back the room of a turn.
    pub fn finish_turn(&self, turn: QuestionTurn) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.busy[turn.run] -= 1;
        self.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(places: &[usize], open: &[&[usize]], first: usize) -> Vec<(usize, usize)> {
        let open: Vec<BTreeSet<usize>> = open
            .iter()
            .map(|places| places.iter().copied().collect())
            .collect();
        Turns::new(places, &open, first, vec![1; open.len()])
            .all
            .iter()
            .map(|turn| (turn.place, turn.run))
            .collect()
    }

    #[test]
    fn turns_go_question_by_question_and_no_run_always_begins() {
        let all: [&[usize]; 2] = [&[0, 1, 2]; 2];
        assert_eq!(
            order(&[0, 1, 2], &all, 0),
            [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]
        );
        assert_eq!(
            order(&[0, 1, 2], &all, 1),
            [(0, 1), (0, 0), (1, 0), (1, 1), (2, 1), (2, 0)]
        );
        assert_eq!(
            order(&[0, 1, 2], &[&[1, 2], &[2]], 0),
            [(1, 0), (2, 0), (2, 1)],
            "what is decided is not asked again"
        );
        assert_eq!(
            order(&[5, 3], &[&[3, 5]], 0),
            [(5, 0), (3, 0)],
            "chosen questions keep their order"
        );
        assert_eq!(order(&[0], &[], 0), []);
    }

    #[test]
    fn take_waits_for_a_run_without_room_and_ends_when_all_is_over() {
        let turns = Turns::new(
            &[0, 1],
            &[BTreeSet::from([0, 1]), BTreeSet::from([0, 1])],
            0,
            vec![1, 2],
        );
        let never = || false;
        let first = turns.next_turn(&never, None).expect("a turn");
        let second = turns.next_turn(&never, None).expect("another run has room");
        assert_eq!((first.run, second.run), (0, 1));
        assert_eq!(
            turns.next_turn(&never, None).map(|turn| turn.run),
            Some(1),
            "run 1 begins with question 1"
        );
        let looks = std::cell::Cell::new(0);
        let soon = || looks.replace(looks.get() + 1) > 2;
        assert_eq!(turns.next_turn(&soon, None), None, "run 0 has no room");
        turns.finish_turn(first);
        assert_eq!(
            turns.next_turn(&never, None),
            Some(QuestionTurn { run: 0, place: 1 })
        );
        assert_eq!(turns.next_turn(&never, None), None);
    }
}
