//! Requests about buffer objects.

pub(crate) mod bo_list;
mod create_flags;
pub(crate) mod gem;
pub(crate) mod list;
pub(crate) mod names;
pub(crate) mod prime;
pub(crate) mod va;
