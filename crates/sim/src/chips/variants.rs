//! Cards and machines that differ from a captured one in sizes and names: rows of a table over the chips.

use std::{str::FromStr, sync::LazyLock};

use serde_json::Value;

use super::{changes::Changes, error::CaptureError, json::Node, known::capture, origin::Origin, profile::Profile};

/// The table: a row for each card or machine.
const TABLE: &str = include_str!("../../data/variants.json");
/// The most rows.
const MOST_ROWS: usize = 1024;

/// A card or machine with a chip that comes with the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The name, such as `rx7900xt`.
    pub name: String,
    /// The name of its chip.
    pub chip: String,
    /// The source of its sizes.
    pub source: String,
    profile: Profile,
}

impl Variant {
    /// Returns the profile of the card or machine.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// The rows. A test checks that each of them is valid.
static VARIANTS: LazyLock<Vec<Variant>> =
    LazyLock::new(|| rows(TABLE).unwrap_or_default().into_iter().filter_map(Result::ok).collect());

/// Returns the cards and machines that are part of the simulator, sorted by name.
pub fn variants() -> &'static [Variant] {
    &VARIANTS
}

/// Returns the names of all of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    variants().iter().map(|variant| variant.name.as_str())
}

/// Returns the card or machine with a name.
pub(super) fn variant(name: &str) -> Option<&'static Variant> {
    variants().iter().find(|variant| variant.name == name)
}

/// Reads the table.
fn rows(table: &str) -> Result<Vec<Result<Variant, CaptureError>>, CaptureError> {
    let document = serde_json::from_str(table).map_err(|error| CaptureError::Syntax { reason: error.to_string() })?;
    let rows = Node::root(&document).entries(MOST_ROWS)?;
    Ok(rows.into_iter().map(|(name, row)| read(name, &row)).collect())
}

/// Reads a row: the chip, what differs in its DEV_INFO, and the changes of its sizes.
fn read(name: &str, row: &Node<'_>) -> Result<Variant, CaptureError> {
    let chip_node = row.need("chip")?;
    let chip = chip_node.text()?;
    let text = capture(chip).ok_or_else(|| chip_node.bad_text(chip, "no chip of this name"))?;
    let mut document: Value =
        serde_json::from_str(text).map_err(|error| CaptureError::Syntax { reason: error.to_string() })?;
    for (key, value) in row.get("dev_info")?.map(|fields| fields.entries(MOST_ROWS)).transpose()?.unwrap_or_default() {
        document["dev_info"][key] = value.value().clone();
    }
    document["name"] = name.into();
    if let Some(marketing) = row.get("marketing_name")? {
        document["marketing_name"] = marketing.text()?.into();
    }
    let base = Profile::from_capture(document.to_string())?;
    let changes = match row.get("changes")? {
        Some(node) => {
            let text = node.text()?;
            Changes::from_str(text).map_err(|_| node.bad_text(text, "no changes"))?
        }
        None => Changes::default(),
    };
    let mut profile = base.changed(&changes).map_err(|_| row.bad_text(name, "the chip cannot have this"))?;
    profile.origin = Origin::Derived { from: chip.to_owned(), assumed: Vec::new() };
    let source = row.need("source")?.text()?.to_owned();
    Ok(Variant { name: name.to_owned(), chip: chip.to_owned(), source, profile })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::profile;

    #[test]
    fn every_row_of_the_table_is_a_chip() {
        let rows = rows(TABLE).unwrap();
        for row in &rows {
            let row = row.as_ref().unwrap();
            assert!(profile(&row.name).is_none(), "{} is also a chip", row.name);
            assert_eq!(row.profile.chip(), profile(&row.chip).unwrap().chip(), "{}", row.name);
            assert_eq!(Profile::from_capture(row.profile.to_capture()).as_ref(), Ok(&row.profile), "{}", row.name);
        }
        assert_eq!(rows.len(), variants().len());
        assert!(variants().is_sorted_by(|one, other| one.name < other.name));
    }

    #[test]
    fn a_row_with_a_mistake_is_an_error_that_names_it() {
        let failed = |table: &str| rows(table).unwrap().remove(0).unwrap_err().to_string();
        assert_eq!(failed(r#"{"x": {"chip": "navi99", "source": ""}}"#), "x.chip is \"navi99\": no chip of this name");
        let changes = r#"{"x": {"chip": "navi31", "source": "", "changes": "vram=1Q"}}"#;
        assert_eq!(failed(changes), "x.changes is \"vram=1Q\": no changes");
        assert_eq!(failed(r#"{"x": {"chip": "navi31"}}"#), "x.source is missing");
    }
}
