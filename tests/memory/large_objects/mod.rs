//! Objects of more than 4 GiB: no length, offset or distance is cut to 32 bits.

mod bindings;
mod watching;
