//! Objects of the kernel: sync objects, contexts and lists of BOs, and what is logged when one is not taken back.

mod reports;
mod sync;
