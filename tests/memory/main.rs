//! Promises of device memory, its addresses and its sub-allocators, on the simulator.

#[path = "../support/pages.rs"]
#[expect(unsafe_code, reason = "host memory of the test's own")]
mod pages;
#[path = "../support/mod.rs"]
mod support;

mod address_reuse;
mod allocations;
mod device_memory;
mod dump;
mod images;
mod imports;
mod large_objects;
mod machines;
mod mappings;
mod memory_histories;
mod replay_addresses;
mod sparse;
mod suballocation_cache;
mod suballocation_model;
mod suballocation_slabs;
mod va_map;
