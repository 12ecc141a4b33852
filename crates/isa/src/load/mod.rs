//! Splitting of loads into instructions that a generation has and the alignment permits.
//!
//! Splitting has two phases without side effects, as in Mesa's ACO (25.0.7):
//!
//! 1. [`accesses`] cuts and widens a request, so that sub-dword and badly aligned loads become dwords plus shifts.
//! 2. [`split`] cuts one access into instructions, by size, alignment and the limits of immediate offsets.
//!
//! [`plan`] performs both phases. The phases do not allocate: their results are lists of limited length. [`seed`] is the form of
//! Mesa 22.3, in which one step both cuts and shifts.

mod access;
mod address;
mod list;
mod pick;
mod plan;
mod request;
mod seed;
mod split;

pub use access::{Access, Accesses, Shift, accesses};
pub use address::Address;
pub use list::List;
pub use plan::{Piece, Plan, plan};
pub use request::{Alignment, Kind, LoadError, Place, Request};
pub use seed::{Traits, seed};
pub use split::{AddressStep, Load, Loads, split};
