//! The chunks of a submission, among what it made the kernel read.

use amdgpu_uapi::chunk_id;

use super::calls::{u32_at, u64_at};

/// A chunk of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'r> {
    pub(crate) kind: u32,
    pub(crate) content: &'r [u8],
    /// The entries of a list of BOs.
    pub(crate) entries: &'r [u8],
}

/// Takes the pieces apart: the table of chunks comes first, and then the header and the content of each, and the entries of
/// a list.
pub(crate) fn of(read: &[impl AsRef<[u8]>]) -> impl Iterator<Item = Chunk<'_>> {
    let mut pieces = read.iter().map(AsRef::as_ref).skip(1);
    std::iter::from_fn(move || {
        let header = pieces.next()?;
        let (kind, dwords, address) = (u32_at(header, 0)?, u32_at(header, 4)?, u64_at(header, 8)?);
        let content = if dwords == 0 || address == 0 { &[] } else { pieces.next()? };
        let is_list = kind == chunk_id::BO_HANDLES && u64_at(content, 16).is_some_and(|entries| entries != 0);
        let has_entries = is_list && u32_at(content, 8)? > 0 && u32_at(content, 12)? > 0;
        let entries = if has_entries { pieces.next().unwrap_or_default() } else { &[] };
        Some(Chunk { kind, content, entries })
    })
}
