//! Rules about handles, BOs and what they are bound to.

mod bindings;
mod eviction;
mod gem;
mod gem_accounting;
mod handles;
mod memory_law;
mod sharing;
mod userptr;
