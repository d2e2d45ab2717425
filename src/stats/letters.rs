//! Letters that show differences: two entries share a letter exactly if they do not differ significantly.

use super::Undefined;

/// The compact letter display (Piepho 2004, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons"): insert and
/// absorb, then sweep.
///
/// `different[i][j]` is whether `i` and `j` differ. Entries come best first, so that `a` goes to the best. An entry may have several
/// letters. Undefined for a matrix that is not square, not symmetric, or in which an entry differs from itself.
pub fn letters(different: &[impl AsRef<[bool]>]) -> Result<Vec<String>, Undefined> {
    let n = different.len();
    let differ = |i: usize, j: usize| different[i].as_ref()[j];
    if different.iter().any(|row| row.as_ref().len() != n) {
        return Err(Undefined::Unequal);
    }
    if (0..n).any(|i| differ(i, i) || (0..i).any(|j| differ(i, j) != differ(j, i))) {
        return Err(Undefined::OutOfRange);
    }
    let mut groups = if n == 0 { Vec::new() } else { vec![Group::all(n)] };
    for i in 0..n {
        for j in (i + 1..n).filter(|&j| differ(i, j)) {
            insert(&mut groups, i, j);
        }
    }
    sweep(&mut groups, n);
    groups.sort_by_cached_key(|group| (0..n).filter(|&entry| group.has(entry)).collect::<Vec<_>>());
    let of = |entry: usize| (0..groups.len()).filter(|&place| groups[place].has(entry)).map(letter).collect();
    Ok((0..n).map(of).collect())
}

const BITS: usize = 64;

/// The entries that share one letter, as bits.
#[derive(Clone)]
struct Group(Vec<u64>);

impl Group {
    fn none(n: usize) -> Self {
        Self(vec![0; n.div_ceil(BITS)])
    }

    fn all(n: usize) -> Self {
        let mut group = Self::none(n);
        (0..n).for_each(|entry| group.0[entry / BITS] |= 1 << (entry % BITS));
        group
    }

    fn has(&self, entry: usize) -> bool {
        self.0[entry / BITS] >> (entry % BITS) & 1 == 1
    }

    fn remove(&mut self, entry: usize) {
        self.0[entry / BITS] &= !(1 << (entry % BITS));
    }

    fn without(&self, entry: usize) -> Self {
        let mut group = self.clone();
        group.remove(entry);
        group
    }

    fn within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(here, there)| here & !there == 0)
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(here, there)| *here |= there);
    }
}

/// Splits every group with both entries of a differing pair, and drops parts contained in another group.
fn insert(groups: &mut Vec<Group>, i: usize, j: usize) {
    let split: Vec<Group> = groups.extract_if(.., |group| group.has(i) && group.has(j)).collect();
    let mut parts: Vec<Group> = Vec::new();
    for (group, (without, with)) in split.iter().flat_map(|group| [(group, (i, j)), (group, (j, i))]) {
        let part = group.without(without);
        if !groups.iter().chain(&parts).any(|known| known.has(with) && part.within(known)) {
            // No group from before is contained in a part, because none is in the group that was split.
            parts.retain(|known| !known.within(&part));
            parts.push(part);
        }
    }
    groups.append(&mut parts);
}

/// Removes a letter from an entry if another letter joins each pair that it joins.
fn sweep(groups: &mut Vec<Group>, n: usize) {
    for place in 0..groups.len() {
        for entry in (0..n).rev().filter(|entry| groups[place].has(*entry)).collect::<Vec<usize>>() {
            let mut elsewhere = Group::none(n);
            groups.iter().enumerate().filter(|(at, group)| *at != place && group.has(entry)).for_each(|(_, group)| elsewhere.add(group));
            // The pair of an entry with itself keeps its last letter.
            if groups[place].within(&elsewhere) {
                groups[place].remove(entry);
            }
        }
    }
    groups.retain(|group| group.0.iter().any(|word| *word != 0));
}

/// `a` to `z`, `A` to `Z`, then numbers in brackets.
fn letter(place: usize) -> String {
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
        (0..n).map(|i| (0..n).map(|j| pairs.contains(&(i, j)) || pairs.contains(&(j, i))).collect()).collect()
    }

    #[test]
    fn displays_by_hand() {
        assert_eq!(letters(&matrix(3, &[])), Ok(vec!["a".into(), "a".into(), "a".into()]));
        assert_eq!(letters(&matrix(2, &[(0, 1)])), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(letters(&matrix(3, &[(0, 2)])), Ok(vec!["a".into(), "ab".into(), "b".into()]));
        // A chain in which only neighbours are alike.
        assert_eq!(letters(&matrix(4, &[(0, 2), (0, 3), (1, 3)])), Ok(vec!["a".into(), "ab".into(), "bc".into(), "c".into()]));
    }

    #[test]
    fn what_is_not_a_table_of_differences() {
        assert_eq!(letters(&[[false; 0]; 0]), Ok(Vec::new()));
        assert_eq!(letters(&[[true]]), Err(Undefined::OutOfRange));
        assert_eq!(letters(&[[false, true], [false, false]]), Err(Undefined::OutOfRange));
        assert_eq!(letters(&[vec![false, true], vec![true]]), Err(Undefined::Unequal));
    }

    #[test]
    fn more_letters_than_the_alphabet_has() {
        let all: Vec<Vec<bool>> = (0..60).map(|i| (0..60).map(|j| i != j).collect()).collect();
        let display = letters(&all).expect("symmetric");
        assert_eq!((display[25].as_str(), display[26].as_str(), display[52].as_str()), ("z", "A", "(53)"));
    }

    proptest::proptest! {
        #[test]
        fn a_letter_is_shared_exactly_when_nothing_differs(
            (n, pairs) in (1usize..9).prop_flat_map(|n| (proptest::strategy::Just(n), proptest::collection::vec((0..n, 0..n), 0..20)))
        ) {
            let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|(i, j)| i != j).collect();
            let different = matrix(n, &pairs);
            let display = letters(&different).expect("symmetric");
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
