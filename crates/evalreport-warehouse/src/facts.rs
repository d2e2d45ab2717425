//! Facts about items beside their outcomes, and which fact counts if runs disagree.
//!
//! Facts belong to the run that states them: items of one name in two suites are unrelated. A matrix uses only its own runs, in an order
//! derived from their contents. So its facts do not depend on other stored runs, the cache, or the order of the files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};

use super::intern::id_from_len;

/// Facts that one line states about its item; `T` is owned or borrowed text. Every possible fact has its own field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ItemFacts<T> {
    pub cluster: Option<T>,
}

/// Returns one fact of an item.
pub(super) type FactField = fn(&ItemFacts<String>) -> Option<&str>;

/// All facts with their names, in the order of [`ItemFacts::from_fields`].
pub(super) const FACT_FIELDS: [(&str, FactField); 1] =
    [("cluster", |facts| facts.cluster.as_deref())];

impl ItemFacts<String> {
    fn as_text(&self) -> ItemFacts<&str> {
        ItemFacts {
            cluster: self.cluster.as_deref(),
        }
    }

    fn from_fields([cluster]: [Option<&str>; FACT_FIELDS.len()]) -> Self {
        Self {
            cluster: cluster.map(str::to_owned),
        }
    }
}

impl ItemFacts<&str> {
    fn to_owned(self) -> ItemFacts<String> {
        ItemFacts {
            cluster: self.cluster.map(str::to_owned),
        }
    }
}

/// The number of empty facts.
pub(super) const NO_FACTS: u32 = 0;

/// Numbers all distinct facts. Empty facts are [`NO_FACTS`].
pub(super) struct FactInterner {
    pub known: Vec<ItemFacts<String>>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for FactInterner {
    fn default() -> Self {
        Self {
            known: vec![ItemFacts::default()],
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl FactInterner {
    /// Returns the number of facts from another numbering.
    pub fn intern_owned(&mut self, facts: &ItemFacts<String>) -> u32 {
        self.intern(facts.as_text())
    }

    fn intern(&mut self, said: ItemFacts<&str>) -> u32 {
        if said == ItemFacts::default() {
            return NO_FACTS;
        }
        let Self {
            known,
            index,
            hasher,
            ..
        } = self;
        let hash = hasher.hash_one(said);
        let next = id_from_len(known.len());
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
pub(super) struct ItemFactIds {
    pub facts: FactInterner,
    /// The numbers of the item's key and of its facts.
    pub pairs: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
    /// By key: its last pair. A suite's runs mostly agree about an item, so this guess is nearly always right and saves hashing.
    last: Vec<u32>,
}

impl ItemFactIds {
    pub fn intern_pair(&mut self, key: u32, said: ItemFacts<&str>) -> u32 {
        let place = key as usize;
        if let Some(guess) = self.last.get(place).copied()
            && let Some((of, facts)) = self.pairs.get(guess as usize)
            && *of == key
            && self.facts.known[*facts as usize].as_text() == said
        {
            return guess;
        }
        let pair = (key, self.facts.intern(said));
        let next = id_from_len(self.pairs.len());
        let found = *self.numbers.entry(pair).or_insert(next);
        if found == next {
            self.pairs.push(pair);
        }
        if self.last.len() <= place {
            self.last.resize(place + 1, NO_FACTS);
        }
        self.last[place] = found;
        found
    }
}

/// The index of an item, and the number of its facts.
type ItemFactPair = (u32, u32);

/// The facts that runs state about the items of a matrix.
pub(super) struct FactVotes<'a> {
    known: &'a [ItemFacts<String>],
    /// By item: the facts of the first run that states any.
    first: Vec<u32>,
    /// Items about which a later run differs.
    contested: BTreeSet<u32>,
    /// Sets of runs that agree about the same items, with the facts by item.
    said: Vec<(BTreeSet<usize>, Vec<ItemFactPair>)>,
}

impl<'a> FactVotes<'a> {
    /// Creates an empty record for a number of items.
    pub fn new(known: &'a [ItemFacts<String>], items: usize) -> Self {
        Self {
            known,
            first: vec![NO_FACTS; items],
            contested: BTreeSet::new(),
            said: Vec::new(),
        }
    }

    /// Adds the facts that some runs state: item indices, and numbers of facts.
    pub fn add_runs(&mut self, runs: BTreeSet<usize>, said: impl Iterator<Item = (u32, u32)>) {
        let mut said: Vec<(u32, u32)> = said.filter(|(_, facts)| *facts != NO_FACTS).collect();
        said.sort_unstable();
        for (item, facts) in &said {
            let first = &mut self.first[*item as usize];
            if *first == NO_FACTS {
                *first = *facts;
            } else if first != facts {
                self.contested.insert(*item);
            }
        }
        self.said.push((runs, said));
    }

    /// Returns the facts that count for each item. Each run has one vote per stated fact; most votes win. On a tie, the clustering wins
    /// that sorts first as a list over the contested items, so that the clusterings of two runs are not mixed item by item.
    pub fn resolve_facts(&self) -> Vec<ItemFacts<String>> {
        let mut settled: Vec<ItemFacts<String>> = self
            .first
            .iter()
            .map(|facts| self.known[*facts as usize].clone())
            .collect();
        if self.contested.is_empty() {
            return settled;
        }
        let mut fields = [const { BTreeMap::new() }; FACT_FIELDS.len()];
        for ((_, field), winners) in FACT_FIELDS.iter().zip(&mut fields) {
            *winners = self.winning_values(*field);
        }
        for item in &self.contested {
            let of = |winners: &BTreeMap<u32, &'a str>| winners.get(item).copied();
            settled[*item as usize] = ItemFacts::from_fields(fields.each_ref().map(of));
        }
        settled
    }

    /// Returns the winning value of one fact for each contested item.
    fn winning_values(&self, field: FactField) -> BTreeMap<u32, &'a str> {
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
        let mut numbers = FactInterner::default();
        let said: Vec<Vec<u32>> = runs
            .iter()
            .map(|run| {
                run.iter()
                    .map(|cluster| numbers.intern(ItemFacts { cluster: *cluster }))
                    .collect()
            })
            .collect();
        let mut voices = FactVotes::new(&numbers.known, runs[0].len());
        for (run, said) in said.into_iter().enumerate() {
            voices.add_runs(BTreeSet::from([run]), (0..).zip(said));
        }
        voices
            .resolve_facts()
            .into_iter()
            .map(|facts| facts.cluster)
            .collect()
    }

    #[test]
    fn facts_and_what_they_are_about_keep_their_numbers() {
        let mut told = ItemFactIds::default();
        let (x, y) = (
            ItemFacts { cluster: Some("x") },
            ItemFacts { cluster: Some("y") },
        );
        let numbers: Vec<u32> = [
            (7, ItemFacts::default()),
            (7, x),
            (7, y),
            (3, x),
            (7, x),
            (3, x),
            (7, ItemFacts::default()),
            (0, x),
        ]
        .into_iter()
        .map(|(key, said)| told.intern_pair(key, said))
        .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 1, 3, 0, 4]);
        assert_eq!(told.pairs, [(7, NO_FACTS), (7, 1), (7, 2), (3, 1), (0, 1)]);
        assert_eq!(told.facts.intern_owned(&y.to_owned()), 2);
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
