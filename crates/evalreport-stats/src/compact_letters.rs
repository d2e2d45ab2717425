//! Letters that show differences: two entries share a letter exactly if they do not differ significantly.

use super::Undefined;

/// The compact letter display (Piepho 2004, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons"): insert and
/// absorb, then sweep.
///
/// `different[i][j]` is whether `i` and `j` differ. Entries come best first, so that `a` goes to the best. An entry may have several
/// letters, and their number can double with each further entry, so this is for few. Undefined for a matrix that is not square, not symmetric, or in which an entry differs from itself.
pub fn compact_letters(different: &[impl AsRef<[bool]>]) -> Result<Vec<String>, Undefined> {
    let n = check_differences(different)?;
    let mut groups = insert_and_absorb(different);
    sweep_letters(&mut groups, n);
    Ok(name_letters(groups, n))
}

/// Returns the number of entries.
fn check_differences(different: &[impl AsRef<[bool]>]) -> Result<usize, Undefined> {
    let n = different.len();
    let differ = |i: usize, j: usize| different[i].as_ref()[j];
    if different.iter().any(|row| row.as_ref().len() != n) {
        return Err(Undefined::Unequal);
    }
    if (0..n).any(|i| differ(i, i) || (0..i).any(|j| differ(i, j) != differ(j, i))) {
        return Err(Undefined::OutOfRange);
    }
    Ok(n)
}

/// Splits one group of all entries by each pair that differs.
fn insert_and_absorb(different: &[impl AsRef<[bool]>]) -> Vec<LetterGroup> {
    let n = different.len();
    let mut groups = if n == 0 {
        Vec::new()
    } else {
        vec![LetterGroup::all(n)]
    };
    for (i, row) in different.iter().enumerate() {
        for j in (i + 1..n).filter(|&j| row.as_ref()[j]) {
            split_groups(&mut groups, i, j);
        }
    }
    groups
}

fn sort_groups(groups: &mut [LetterGroup], n: usize) {
    groups.sort_by_cached_key(|group| {
        (0..n)
            .filter(|&entry| group.contains(entry))
            .collect::<Vec<_>>()
    });
}

/// Names the groups in their order, and lists the letters of each entry.
fn name_letters(mut groups: Vec<LetterGroup>, n: usize) -> Vec<String> {
    sort_groups(&mut groups, n);
    let of = |entry: usize| {
        (0..groups.len())
            .filter(|&place| groups[place].contains(entry))
            .map(letter_name)
            .collect()
    };
    (0..n).map(of).collect()
}

const BITS: usize = 64;

/// The entries that share one letter, as bits.
#[derive(Clone)]
struct LetterGroup(Vec<u64>);

impl LetterGroup {
    fn none(n: usize) -> Self {
        Self(vec![0; n.div_ceil(BITS)])
    }

    fn all(n: usize) -> Self {
        let mut group = Self::none(n);
        (0..n).for_each(|entry| group.insert(entry));
        group
    }

    fn contains(&self, entry: usize) -> bool {
        self.0[entry / BITS] >> (entry % BITS) & 1 == 1
    }

    fn insert(&mut self, entry: usize) {
        self.0[entry / BITS] |= 1 << (entry % BITS);
    }

    fn remove(&mut self, entry: usize) {
        self.0[entry / BITS] &= !(1 << (entry % BITS));
    }

    fn without_entry(&self, entry: usize) -> Self {
        let mut group = self.clone();
        group.remove(entry);
        group
    }

    fn is_subset(&self, other: &Self) -> bool {
        self.0
            .iter()
            .zip(&other.0)
            .all(|(here, there)| here & !there == 0)
    }

    fn union_with(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(here, there)| *here |= there);
    }
}

/// Splits every group with both entries of a differing pair, and drops parts contained in another group.
fn split_groups(groups: &mut Vec<LetterGroup>, i: usize, j: usize) {
    let split: Vec<LetterGroup> = groups
        .extract_if(.., |group| group.contains(i) && group.contains(j))
        .collect();
    let mut parts: Vec<LetterGroup> = Vec::new();
    for (group, (without, with)) in split
        .iter()
        .flat_map(|group| [(group, (i, j)), (group, (j, i))])
    {
        let part = group.without_entry(without);
        if !groups
            .iter()
            .chain(&parts)
            .any(|known| known.contains(with) && part.is_subset(known))
        {
            // No group from before is contained in a part, because none is in the group that was split.
            parts.retain(|known| !known.is_subset(&part));
            parts.push(part);
        }
    }
    groups.append(&mut parts);
}

/// Removes a letter from an entry if another letter joins each pair that it joins.
fn sweep_letters(groups: &mut Vec<LetterGroup>, n: usize) {
    for place in 0..groups.len() {
        for entry in (0..n)
            .rev()
            .filter(|entry| groups[place].contains(*entry))
            .collect::<Vec<usize>>()
        {
            let mut elsewhere = LetterGroup::none(n);
            groups
                .iter()
                .enumerate()
                .filter(|(at, group)| *at != place && group.contains(entry))
                .for_each(|(_, group)| elsewhere.union_with(group));
            // The pair of an entry with itself keeps its last letter.
            if groups[place].is_subset(&elsewhere) {
                groups[place].remove(entry);
            }
        }
    }
    groups.retain(|group| group.0.iter().any(|word| *word != 0));
}

/// `a` to `z`, `A` to `Z`, then numbers in brackets.
fn letter_name(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'a' + place).to_string(),
        Ok(place @ 26..52) => char::from(b'A' + place - 26).to_string(),
        Ok(_) | Err(_) => format!("({})", place + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::*;

    fn matrix(n: usize, pairs: &[(usize, usize)]) -> Vec<Vec<bool>> {
        (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| pairs.contains(&(i, j)) || pairs.contains(&(j, i)))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn displays_by_hand() {
        assert_eq!(
            compact_letters(&matrix(3, &[])),
            Ok(vec!["a".into(), "a".into(), "a".into()])
        );
        assert_eq!(
            compact_letters(&matrix(2, &[(0, 1)])),
            Ok(vec!["a".into(), "b".into()])
        );
        assert_eq!(
            compact_letters(&matrix(3, &[(0, 2)])),
            Ok(vec!["a".into(), "ab".into(), "b".into()])
        );
        // A chain in which only neighbours are alike.
        assert_eq!(
            compact_letters(&matrix(4, &[(0, 2), (0, 3), (1, 3)])),
            Ok(vec!["a".into(), "ab".into(), "bc".into(), "c".into()])
        );
    }

    #[test]
    fn what_is_not_a_table_of_differences() {
        assert_eq!(compact_letters(&[[false; 0]; 0]), Ok(Vec::new()));
        assert_eq!(compact_letters(&[[true]]), Err(Undefined::OutOfRange));
        assert_eq!(
            compact_letters(&[[false, true], [false, false]]),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            compact_letters(&[vec![false, true], vec![true]]),
            Err(Undefined::Unequal)
        );
    }

    #[test]
    fn more_letters_than_the_alphabet_has() {
        let all: Vec<Vec<bool>> = (0..60).map(|i| (0..60).map(|j| i != j).collect()).collect();
        let display = compact_letters(&all).expect("symmetric");
        assert_eq!(
            (
                display[25].as_str(),
                display[26].as_str(),
                display[52].as_str()
            ),
            ("z", "A", "(53)")
        );
    }

    proptest::proptest! {
        #[test]
        fn a_letter_is_shared_exactly_when_nothing_differs(
            (n, pairs) in (1usize..9).prop_flat_map(|n| (proptest::strategy::Just(n), proptest::collection::vec((0..n, 0..n), 0..20)))
        ) {
            let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|(i, j)| i != j).collect();
            let different = matrix(n, &pairs);
            let display = compact_letters(&different).expect("symmetric");
            for i in 0..n {
                proptest::prop_assert!(!display[i].is_empty());
                for j in 0..n {
                    let shared = display[i].chars().any(|letter| display[j].contains(letter));
                    proptest::prop_assert_eq!(shared, !different[i][j], "{} and {} in {:?}", i, j, &display);
                }
            }
        }
    }
}
