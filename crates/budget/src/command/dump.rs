//! Dumps of the library's memory manager (`MemoryManager::dump_json`), which contain details of a process's memory that only the
//! process itself knows.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use amdgpu_winsys::heaps::DUMP_SCHEMA;
use serde::Deserialize;

use crate::session::Stop;

/// Options for reading a dump.
#[derive(Debug, Deserialize)]
pub(super) struct Dump {
    schema: u64,
    pub(super) device: Device,
    pub(super) heaps: Vec<Heap>,
    pub(super) types: Vec<Type>,
    pub(super) windows: Vec<Window>,
    pub(super) bos: Vec<Bo>,
    pub(super) bound: Vec<Place>,
    pub(super) freed: Vec<Place>,
}

/// The GPU.
#[derive(Debug, Deserialize)]
pub(super) struct Device {
    pub(super) name: String,
}

/// A heap, bytes.
#[derive(Debug, Deserialize)]
pub(super) struct Heap {
    pub(super) flags: Vec<String>,
    pub(super) size: u64,
    pub(super) usage: u64,
    pub(super) budget: u64,
}

/// A memory type.
#[derive(Debug, Deserialize)]
pub(super) struct Type {
    pub(super) heap: usize,
    pub(super) flags: Vec<String>,
}

/// One address window, bytes.
#[derive(Debug, Deserialize)]
pub(super) struct Window {
    #[serde(rename = "window")]
    pub(super) name: String,
    pub(super) start: String,
    pub(super) leases: u64,
    pub(super) leased: u64,
    pub(super) free: u64,
    pub(super) holes: u64,
    pub(super) largest_hole: u64,
    pub(super) fragmentation_permille: u64,
}

/// A BO.
#[derive(Debug, Deserialize)]
pub(super) struct Bo {
    pub(super) name: Option<String>,
    pub(super) size: u64,
    pub(super) memory_type: Option<usize>,
}

/// An address range that is or was a BO's.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) len: u64,
}

/// The largest dump that is read, bytes.
const MOST_BYTES: u64 = 256 << 20;

impl Dump {
    /// Reads a dump; `-` is standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Stop> {
        let failed = |error: &dyn std::fmt::Display| Stop::failed(format_args!("{}: {error}", path.display()));
        let input: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).map_err(|error| failed(&error))?)
        };
        let input = io::BufReader::new(input.take(MOST_BYTES));
        let dump: Self = serde_json::from_reader(input).map_err(|error| failed(&error))?;
        if dump.schema != DUMP_SCHEMA {
            return Err(failed(&format_args!("the schema is {}, not {DUMP_SCHEMA}", dump.schema)));
        }
        Ok(dump)
    }
}
