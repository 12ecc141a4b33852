//! Memory access by the CPU and the GPU: mappings, bindings, reserved addresses, and sets of resident memory.

#[expect(unsafe_code, reason = "memory that the GPU writes")]
mod bare_mapping;
mod binding;
mod bound;
mod counted_set;
mod map_once;
#[expect(unsafe_code, reason = "memory that the GPU writes")]
mod mapping;
mod page_table_changes;
mod reservation;
mod residency_set;
mod resident;

pub(crate) use self::page_table_changes::PageTableChanges;
pub use self::{
    binding::Binding,
    bound::BoundRequest,
    map_once::{IsLent, MapOnce, Mapped},
    mapping::Mapping,
    reservation::Reservation,
    residency_set::{ResidencySet, Residents},
    resident::Resident,
};
