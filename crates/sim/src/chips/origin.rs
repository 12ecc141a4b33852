//! The sources of a chip's values.

use std::fmt;

use super::{error::CaptureError, json::Node};

/// The most values that a capture says to be assumed.
const MOST_ASSUMED: usize = 256;

/// The origin of a chip's values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A kernel's answers about a real GPU.
    #[default]
    Captured,
    /// The capture of a related chip, changed by public facts and assumptions.
    Derived {
        /// The name of the related chip.
        from: String,
        /// The paths of the values that no source tells, such as `dev_info.cu_bitmap`.
        assumed: Vec<String>,
    },
}

impl Origin {
    /// Reads the origin from a capture. Without the key `derived` it was captured.
    pub(super) fn read(root: &Node<'_>) -> Result<Self, CaptureError> {
        match root.get("derived")? {
            Some(derived) if derived.boolean()? => {}
            _ => return Ok(Self::Captured),
        }
        let from = root.need("derived_from")?.text()?.to_owned();
        let assumed = match root.get("assumed")? {
            Some(list) => list.list(0, MOST_ASSUMED)?.iter().map(|entry| entry.text().map(str::to_owned)).collect(),
            None => Ok(Vec::new()),
        };
        Ok(Self::Derived { from, assumed: assumed? })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Captured => f.write_str("captured"),
            Self::Derived { from, assumed } if assumed.is_empty() => write!(f, "derived from {from}"),
            Self::Derived { from, assumed } => write!(f, "derived from {from}, {} values assumed", assumed.len()),
        }
    }
}
