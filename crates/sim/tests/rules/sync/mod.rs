//! Rules about what is waited for.

mod sw_sync;
mod sync_files;
mod synchronisation;
mod syncobj;
mod user_fence;
mod waiting;
