//! Many holes: a B+ tree by address that knows what every part of it offers.
//!
//! Leaves hold up to 32 holes; an inner node has up to 64 children and knows of each what the best hole below it
//! offers. First fit walks from the root to the first child that offers enough, level by level, and lands on the
//! answer: no hole that is too small is ever looked at one by one.
//!
//! "Offers" depends on the alignment: a hole of 16 cells that starts one cell after a multiple of 16 offers 16 cells
//! to those who take any start, and 1 cell to those who want multiples of 16. One number per child would let an
//! adversary put `n` misaligned holes in the way. So a node keeps one number per *alignment class* (a power of two),
//! four classes side by side in one vector register:
//!
//! ```text
//!  inner node    key    [ 0        | 1024    | 5120      | ...        64 first cells
//!                child  [ 7        | 3       | 12        | ...        64 node numbers
//!                offers [ 90 82 0 -| 40 0 0 -| 600 596 88| ...        64 x 4 classes: any, 16, 512, none yet
//!                         |
//!  leaf 7        start  [ 8 | 114 | 200 | ...                         32 first cells
//!                len    [ 90| 64  | 9   | ...                         32 lengths
//! ```
//!
//! Classes are added when they pay: leaves visited in vain are counted per class, less one for every run taken; once
//! they exceed half of all leaves the class gets its lane, for the price of one pass over the tree. A window that is
//! only ever asked for page alignment keeps one class; there are at most 31. An alignment that is no power of two is
//! searched in the class of its largest power of two, and looks at those holes that are large enough there.
//!
//! # Regions
//!
//! Positions inside the tree are 32-bit, half the memory and twice the vector width of 64. A window is cut into regions
//! of 2^30 cells (4 TiB of pages), each with a tree of its own; a hole belongs to the region it starts in and may
//! reach into later ones. Region roots sit in table nodes, laid out as inner nodes are, so that a change climbs from a
//! leaf into the table without noticing. A hole of 2^31 - 1 cells or more is *giant*: its recorded length saturates,
//! and its region, which has room for no second one, keeps its true end.

mod edit;
mod nodes;
mod offering;
mod processor;
mod search;
mod shape;
mod trail;
mod tree;
mod units;
mod walk;
mod width;

#[cfg(test)]
mod check;

pub(super) use tree::Tree;
