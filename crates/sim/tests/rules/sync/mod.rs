//! Rules about what is waited for.

mod sync_files;
mod synchronisation;
mod syncobj;
mod user_fence;
mod waiting;
