//! The rules of the real driver that clients rely on, each tried on the simulated one.
//!
//! A test is named after the rule it checks: `r50_...` is rule 50 of the list in the crate's README, which tells too which
//! rules are not checked and why. Everything goes through raw structures and request numbers, as a foreign client's would.

mod bindings;
mod checklist;
mod contexts;
mod core;
mod dispatch;
mod eviction;
mod failure;
mod fdinfo;
mod gem;
mod gem_accounting;
mod handles;
mod info;
mod memory_law;
mod primary;
mod recovery;
mod resets;
mod shaders;
mod sharing;
mod submission;
mod support;
mod sync_files;
mod synchronisation;
mod syncobj;
mod user_fence;
mod userptr;
mod waiting;
mod work;
