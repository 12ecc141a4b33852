//! `amdgpu_winsys::heaps` as its users see it: against recordings of RADV, against small models, and by its laws.

mod captures;
mod golden;
mod laws;
mod profiles;
mod requests;
mod usage;
