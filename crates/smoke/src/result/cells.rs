//! Counts of the bytes of memory that did not hold their pattern, by bit, channel and row.

use std::{collections::BTreeMap, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// Counts of bytes that did not hold their pattern. Its size does not depend on how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cells {
    /// The number of bytes.
    pub bytes: u64,
    /// The number of times that each bit of a dword was wrong, by its number from 0.
    #[serde(deserialize_with = "numbered")]
    pub bits: BTreeMap<u8, u64>,
    /// The bytes in each channel of the memory, from 0; empty where an address does not tell its channel.
    #[serde(deserialize_with = "numbered")]
    pub channels: BTreeMap<u64, u64>,
    /// The bytes in each row of a channel, from 0 at the start of each huge page (2 MiB). The kernel does not tell which huge page
    /// it is, so that equal numbers are rows with equal low bits of the address. Empty where an address does not tell its channel.
    #[serde(deserialize_with = "numbered")]
    pub rows: BTreeMap<u64, u64>,
}

/// Reads counts by number. The names of JSON are text, which serde takes for numbers in some places and not in tagged enums.
fn numbered<'d, K: FromStr + Ord, D: Deserializer<'d>>(from: D) -> Result<BTreeMap<K, u64>, D::Error> {
    let number = |(name, count): (String, u64)| {
        let key = name.parse().map_err(|_| D::Error::custom(format!("{name} is not a number")))?;
        Ok((key, count))
    };
    BTreeMap::<String, u64>::deserialize(from)?.into_iter().map(number).collect()
}

impl Cells {
    /// Adds a byte: its offset in memory whose start is that of a dword, the bits that differ, and its channel and row.
    pub(crate) fn add(&mut self, offset: u64, differing: u8, place: Option<(u64, u64)>) {
        self.bytes += 1;
        for bit in (0..8).filter(|bit| differing >> bit & 1 == 1) {
            let lane = u8::try_from(offset % 4 * 8).unwrap_or_default();
            *self.bits.entry(lane + bit).or_default() += 1;
        }
        if let Some((channel, row)) = place {
            *self.channels.entry(channel).or_default() += 1;
            *self.rows.entry(row).or_default() += 1;
        }
    }

    /// Adds the counts of another test.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        merge(&mut self.bits, &other.bits);
        merge(&mut self.channels, &other.channels);
        merge(&mut self.rows, &other.rows);
    }

    /// Returns histograms as lines of text, the most frequent first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Wrong bytes of memory: {}", self.bytes)];
        lines.extend(histogram("bit", &self.bits));
        lines.extend(histogram("channel", &self.channels));
        lines.extend(histogram("row", &self.rows));
        lines
    }
}

fn merge<K: Copy + Ord>(sums: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (key, count) in more {
        let sum = sums.entry(*key).or_default();
        *sum = sum.saturating_add(*count);
    }
}

/// Returns a line for each of the most frequent keys, with a bar.
fn histogram<K: Copy + Into<u64>>(name: &str, counts: &BTreeMap<K, u64>) -> Vec<String> {
    const MOST: usize = 16;
    const WIDTH: u64 = 32;
    let mut rows: Vec<(u64, u64)> = counts.iter().map(|(key, count)| ((*key).into(), *count)).collect();
    rows.sort_by_key(|(key, count)| (std::cmp::Reverse(*count), *key));
    let most = rows.first().map_or(1, |(_, count)| (*count).max(1));
    let bar = |count: u64| u64::try_from(u128::from(count) * u128::from(WIDTH) / u128::from(most)).unwrap_or(WIDTH);
    let line = |(key, count): &(u64, u64)| {
        format!("  {name:>7} {key:>4}  {count:>12}  {}", "#".repeat(bar(*count).max(1) as usize))
    };
    let mut lines: Vec<_> = rows.iter().take(MOST).map(line).collect();
    if rows.len() > MOST {
        let rest: u64 = rows[MOST..].iter().fold(0, |sum, (_, count)| sum.saturating_add(*count));
        lines.push(format!("  {name:>7} and {} others, {rest} together", rows.len() - MOST));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_a_dword_and_counts_add_up() {
        let mut cells = Cells::default();
        cells.add(5, 0x41, Some((3, 9)));
        cells.add(4, 0x01, None);
        assert_eq!(cells.bits, BTreeMap::from([(0, 1), (8, 1), (14, 1)]));
        let other = cells.clone();
        cells.merge(&other);
        assert_eq!((cells.bytes, cells.bits[&14], cells.channels[&3], cells.rows[&9]), (4, 2, 2, 2));
    }

    #[test]
    fn counts_come_back_from_the_messages_of_children() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        enum Tagged {
            Counted { cells: Cells },
        }
        let mut cells = Cells::default();
        cells.add(5, 0x41, Some((3, 9)));
        let counted = Tagged::Counted { cells };
        let text = serde_json::to_string(&counted).unwrap();
        assert_eq!(serde_json::from_str::<Tagged>(&text).unwrap(), counted);
        assert!(serde_json::from_str::<Tagged>(&text.replace("\"9\"", "\"x\"")).is_err());
    }

    #[test]
    fn the_most_frequent_come_first_and_the_rest_is_one_line() {
        let mut cells = Cells::default();
        (0..20).for_each(|row| cells.add(0, 1, Some((0, row))));
        cells.add(0, 1, Some((0, 7)));
        let lines = cells.lines();
        assert_eq!(lines[0], "Wrong bytes of memory: 21");
        assert_eq!(lines[1], format!("      bit    0            21  {}", "#".repeat(32)));
        assert_eq!(lines[3], format!("      row    7             2  {}", "#".repeat(32)));
        assert_eq!(lines.last().unwrap(), "      row and 4 others, 4 together");
    }
}
