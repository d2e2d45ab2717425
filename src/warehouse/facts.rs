//! Facts about items beside their outcomes, and which fact counts if runs disagree.
//!
//! Facts belong to the run that states them: items of one name in two suites are unrelated. A matrix uses only its own runs, in an order
//! derived from their contents. So its facts do not depend on other stored runs, the cache, or the order of the files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};

use super::intern::number;

/// Facts that one line states about its item; `T` is owned or borrowed text. Every possible fact has its own field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Facts<T> {
    pub cluster: Option<T>,
}

/// Returns one fact of an item.
pub(super) type Field = fn(&Facts<String>) -> Option<&str>;

/// All facts with their names, in the order of [`Facts::from_fields`].
pub(super) const FIELDS: [(&str, Field); 1] = [("cluster", |facts| facts.cluster.as_deref())];

impl Facts<String> {
    fn as_text(&self) -> Facts<&str> {
        Facts {
            cluster: self.cluster.as_deref(),
        }
    }

    fn from_fields([cluster]: [Option<&str>; FIELDS.len()]) -> Self {
        Self {
            cluster: cluster.map(str::to_owned),
        }
    }
}

impl Facts<&str> {
    fn to_owned(self) -> Facts<String> {
        Facts {
            cluster: self.cluster.map(str::to_owned),
        }
    }
}

/// The number of empty facts.
pub(super) const NOTHING: u32 = 0;

/// Numbers all distinct facts. Empty facts are [`NOTHING`].
pub(super) struct FactNumbers {
    pub known: Vec<Facts<String>>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for FactNumbers {
    fn default() -> Self {
        Self {
            known: vec![Facts::default()],
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl FactNumbers {
    /// Returns the number of facts from another numbering.
    pub fn of(&mut self, facts: &Facts<String>) -> u32 {
        self.number(facts.as_text())
    }

    fn number(&mut self, said: Facts<&str>) -> u32 {
        if said == Facts::default() {
            return NOTHING;
        }
        let Self {
            known,
            index,
            hasher,
            ..
        } = self;
        let hash = hasher.hash_one(said);
        let next = number(known.len());
        let rehash = |id: &u32| hasher.hash_one(known[*id as usize].as_text());
        let found = *index
            .entry(hash, |id| known[*id as usize].as_text() == said, rehash)
            .or_insert(next)
            .get();
        if found == next {
            known.push(said.to_owned());
        }
        found
    }
}

/// Numbers the distinct pairs of item and facts, so that an outcome needs one number for both.
#[derive(Default)]
pub(super) struct Told {
    pub facts: FactNumbers,
    /// The numbers of the item's key and of its facts.
    pub pairs: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
    /// By key: its last pair. A suite's runs mostly agree about an item, so this guess is nearly always right and saves hashing.
    last: Vec<u32>,
}

impl Told {
    pub fn number(&mut self, key: u32, said: Facts<&str>) -> u32 {
        let place = key as usize;
        if let Some(guess) = self.last.get(place).copied()
            && let Some((of, facts)) = self.pairs.get(guess as usize)
            && *of == key
            && self.facts.known[*facts as usize].as_text() == said
        {
            return guess;
        }
        let pair = (key, self.facts.number(said));
        let next = number(self.pairs.len());
        let found = *self.numbers.entry(pair).or_insert(next);
        if found == next {
            self.pairs.push(pair);
        }
        if self.last.len() <= place {
            self.last.resize(place + 1, NOTHING);
        }
        self.last[place] = found;
        found
    }
}

/// The index of an item, and the number of its facts.
type Saying = (u32, u32);

/// The facts that runs state about the items of a matrix.
pub(super) struct Voices<'a> {
    known: &'a [Facts<String>],
    /// By item: the facts of the first run that states any.
    first: Vec<u32>,
    /// Items about which a later run differs.
    contested: BTreeSet<u32>,
    /// Sets of runs that agree about the same items, with the facts by item.
    said: Vec<(BTreeSet<usize>, Vec<Saying>)>,
}

impl<'a> Voices<'a> {
    /// Creates an empty record for a number of items.
    pub fn silent(known: &'a [Facts<String>], items: usize) -> Self {
        Self {
            known,
            first: vec![NOTHING; items],
            contested: BTreeSet::new(),
            said: Vec::new(),
        }
    }

    /// Adds the facts that some runs state: item indices, and numbers of facts.
    pub fn hear(&mut self, runs: BTreeSet<usize>, said: impl Iterator<Item = (u32, u32)>) {
        let mut said: Vec<(u32, u32)> = said.filter(|(_, facts)| *facts != NOTHING).collect();
        said.sort_unstable();
        for (item, facts) in &said {
            let first = &mut self.first[*item as usize];
            if *first == NOTHING {
                *first = *facts;
            } else if first != facts {
                self.contested.insert(*item);
            }
        }
        self.said.push((runs, said));
    }

    /// Returns the facts that count for each item. Each run has one vote per stated fact; most votes win. On a tie, the clustering wins
    /// that sorts first as a list over the contested items, so that the clusterings of two runs are not mixed item by item.
    pub fn settle(&self) -> Vec<Facts<String>> {
        let mut settled: Vec<Facts<String>> = self
            .first
            .iter()
            .map(|facts| self.known[*facts as usize].clone())
            .collect();
        if self.contested.is_empty() {
            return settled;
        }
        let mut fields = [const { BTreeMap::new() }; FIELDS.len()];
        for ((_, field), winners) in FIELDS.iter().zip(&mut fields) {
            *winners = self.winners(*field);
        }
        for item in &self.contested {
            let of = |winners: &BTreeMap<u32, &'a str>| winners.get(item).copied();
            settled[*item as usize] = Facts::from_fields(fields.each_ref().map(of));
        }
        settled
    }

    /// Returns the winning value of one fact for each contested item.
    fn winners(&self, field: Field) -> BTreeMap<u32, &'a str> {
        let mut votes: BTreeMap<u32, BTreeMap<&'a str, BTreeSet<usize>>> = BTreeMap::new();
        let mut clusterings: Vec<Vec<(u32, &'a str)>> = Vec::with_capacity(self.said.len());
        for (runs, said) in &self.said {
            let said = said
                .iter()
                .filter(|(item, _)| self.contested.contains(item));
            let named: Vec<(u32, &str)> = said
                .filter_map(|(item, facts)| Some((*item, field(&self.known[*facts as usize])?)))
                .collect();
            for (item, text) in &named {
                votes
                    .entry(*item)
                    .or_default()
                    .entry(text)
                    .or_default()
                    .extend(runs);
            }
            clusterings.push(named);
        }
        clusterings.sort();
        clusterings.dedup();
        let first_of_all = |item: u32, tied: &[&'a str]| match tied {
            [only] => Some(*only),
            _ => clusterings.iter().find_map(|named| {
                tied.iter()
                    .find(|text| named.binary_search(&(item, **text)).is_ok())
                    .copied()
            }),
        };
        let winner = |(item, votes): (u32, BTreeMap<&'a str, BTreeSet<usize>>)| {
            let most = votes.values().map(BTreeSet::len).max()?;
            let tied: Vec<&str> = votes
                .into_iter()
                .filter(|(_, runs)| runs.len() == most)
                .map(|(text, _)| text)
                .collect();
            Some((item, first_of_all(item, &tied)?))
        };
        votes.into_iter().filter_map(winner).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the clusters that count if these runs state each item's cluster.
    fn settled(runs: &[Vec<Option<&str>>]) -> Vec<Option<String>> {
        let mut numbers = FactNumbers::default();
        let said: Vec<Vec<u32>> = runs
            .iter()
            .map(|run| {
                run.iter()
                    .map(|cluster| numbers.number(Facts { cluster: *cluster }))
                    .collect()
            })
            .collect();
        let mut voices = Voices::silent(&numbers.known, runs[0].len());
        for (run, said) in said.into_iter().enumerate() {
            voices.hear(BTreeSet::from([run]), (0..).zip(said));
        }
        voices
            .settle()
            .into_iter()
            .map(|facts| facts.cluster)
            .collect()
    }

    #[test]
    fn facts_and_what_they_are_about_keep_their_numbers() {
        let mut told = Told::default();
        let (x, y) = (Facts { cluster: Some("x") }, Facts { cluster: Some("y") });
        let numbers: Vec<u32> = [
            (7, Facts::default()),
            (7, x),
            (7, y),
            (3, x),
            (7, x),
            (3, x),
            (7, Facts::default()),
            (0, x),
        ]
        .into_iter()
        .map(|(key, said)| told.number(key, said))
        .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 1, 3, 0, 4]);
        assert_eq!(told.pairs, [(7, NOTHING), (7, 1), (7, 2), (3, 1), (0, 1)]);
        assert_eq!(told.facts.of(&y.to_owned()), 2);
        assert_eq!(told.facts.known.len(), 3);
    }

    #[test]
    fn who_says_nothing_has_no_vote_and_most_votes_win() {
        assert_eq!(
            settled(&[vec![None, None], vec![Some("a"), None]]),
            [Some("a".to_owned()), None]
        );
        let runs = [
            vec![Some("a")],
            vec![Some("b")],
            vec![Some("b")],
            vec![None],
            vec![None],
            vec![None],
        ];
        assert_eq!(settled(&runs), [Some("b".to_owned())]);
    }

    #[test]
    fn two_clusterings_with_equal_votes_are_not_mixed() {
        let one = vec![Some("p1"), Some("p2"), Some("p2"), Some("p1")];
        let other = vec![Some("q9"), Some("a1"), Some("a1"), Some("a1")];
        assert_eq!(
            settled(&[other.clone(), one.clone()]),
            settled(&[one, other])
        );
        assert_eq!(
            settled(&[vec![Some("q9"), Some("a1")], vec![Some("p1"), Some("p2")]]),
            [Some("p1".to_owned()), Some("p2".to_owned())]
        );
    }

    proptest! {
        #[test]
        fn the_order_of_the_runs_is_nothing(
            runs in prop::collection::vec(prop::collection::vec(prop::option::of(prop::sample::select(vec!["a", "b", "c"])), 4), 1..6),
            by in any::<prop::sample::Index>(),
        ) {
            let mut other = runs.clone();
            other.rotate_left(by.index(runs.len()));
            prop_assert_eq!(settled(&runs), settled(&other));
            other.reverse();
            prop_assert_eq!(settled(&runs), settled(&other));
        }
    }
}
