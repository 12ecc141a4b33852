//! Buffer objects.

mod backing;
pub(crate) mod dma_buf;
mod export;
mod object;
mod offsets;
mod pools;
mod sharing;
#[expect(unsafe_code, reason = "memory of the client's own")]
mod user_pages;

pub(crate) use self::{
    backing::{lanes, page::PAGE},
    object::{Attributes, Bo, Identity, Imported, Metadata, New, WeakBo},
    offsets::Offsets,
    pools::{Pinned, Placement, Pools, Request, allowed, groups},
    user_pages::UserPages,
};
