//! The sums by which the answers of several queries are held against each other, as `queries/rows.sql` defines them.

use crate::warehouse::cluster_id;

const LARGE_MODULUS: i64 = 2_147_483_629;
const SMALL_MODULUS: i64 = 65_521;

/// Returns an item's number, by which its cells are weighed.
pub(super) fn item_number(item_id: i64) -> i64 {
    item_id.rem_euclid(LARGE_MODULUS)
}

/// The sums of a set of items. Rows with equal sums have the same items with the same clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SetSums {
    pub cells: i64,
    pub items_sum: i64,
    pub items_squares: i64,
    pub clusters_sum: i64,
}

impl SetSums {
    pub fn add_item(&mut self, item_id: i64, cluster: Option<&str>) {
        let short = item_id.rem_euclid(SMALL_MODULUS);
        self.cells += 1;
        self.items_sum = self.items_sum.wrapping_add(item_number(item_id));
        self.items_squares = self.items_squares.wrapping_add(short * short);
        let cluster = cluster.map_or(0, |cluster| {
            cluster_id(cluster).rem_euclid(SMALL_MODULUS) + 1
        });
        self.clusters_sum = self.clusters_sum.wrapping_add(short * cluster);
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::ItemKind;
    use crate::warehouse::item_id;

    use super::*;

    /// Computed by Python's hashlib, and the sums by DuckDB over two rows with `queries/rows.sql`.
    #[test]
    fn ids_and_sums_are_those_of_other_implementations() {
        let ids = ["q000", "q001"].map(|item| item_id(ItemKind::Question, "answers", item));
        assert_eq!(
            (ids, cluster_id("c0")),
            (
                [2_426_611_660_736_073_911, 2_773_745_944_932_655_010],
                1_309_519_931_439_399_819
            )
        );
        let mut sums = SetSums::default();
        sums.add_item(ids[0], Some("c0"));
        sums.add_item(ids[1], None);
        assert_eq!(
            sums,
            SetSums {
                cells: 2,
                items_sum: 3_310_563_848,
                items_squares: 771_745_988,
                clusters_sum: 347_774_392
            }
        );
        // Statuses: a pass without a score, and a fail with a score of its own.
        assert_eq!(
            item_number(ids[0]) + item_number(ids[1]) * 18,
            32_870_721_244
        );
    }
}
