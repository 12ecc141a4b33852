//! The chunks of a CS ioctl, within the memory that the kernel read for it.

use amdgpu_uapi::chunk_id;

use super::calls::{u32_at, u64_at};

/// A chunk of a CS ioctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'r> {
    pub(crate) kind: u32,
    pub(crate) content: &'r [u8],
    /// The entries if the chunk is a BO list.
    pub(crate) entries: &'r [u8],
}

/// Splits the pieces of a CS ioctl into chunks. The first piece is the table of chunks. Then follow for each chunk the header, the
/// content, and the entries if it is a BO list.
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
