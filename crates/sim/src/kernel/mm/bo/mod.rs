//! Buffer objects.

mod backing;
mod export;
mod memory_file;
mod object;
mod offsets;
mod page;
mod pools;
mod reservation;
mod sharing;
#[expect(unsafe_code, reason = "memory of the client's own")]
mod user_pages;

pub(crate) use self::{
    object::{Attributes, Bo, Identity, Imported, Metadata, New, WeakBo},
    offsets::Offsets,
    page::{PAGE, errno_of},
    pools::{Pinned, Place, Pools, Request, allowed},
    reservation::Reservation,
    user_pages::UserPages,
};
