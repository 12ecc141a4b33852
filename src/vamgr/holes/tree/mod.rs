//! A tree of holes, for many holes: a B+ tree by address that records the best offer of every subtree.
//!
//! Leaves contain up to 32 holes. An inner node has up to 64 children, and records for each the offer of the best hole below
//! it. First fit descends from the root to the first child that offers enough, level by level, and ends at the lowest hole that
//! fits. It never examines smaller holes one by one.
//!
//! An offer depends on the alignment: a hole of 16 cells that starts one cell after a multiple of 16 offers 16 cells to a
//! request with any start, and 1 cell to a request for multiples of 16. With one number per child, `n` misaligned holes could
//! each cost a visit. A node therefore has one number per *alignment class* (a power of two), with four classes side by side in
//! one vector register:
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
//! A class is added when it saves work: leaves that were visited without success are counted per class, minus one for every run
//! taken. When the count exceeds half of all leaves, the class gets a lane, at the cost of one pass over the tree. A window
//! with requests for page alignment only has one class; there are at most 31. A request whose alignment is not a power of two
//! uses the class of its largest power of two, and examines the holes that are large enough for that class.
//!
//! # Regions
//!
//! Positions in the tree have 32 bits, which takes half the memory of 64 bits and doubles the number of lanes in a vector. A
//! window is divided into regions of 2^30 cells (4 TiB of pages), each with a tree of its own. A hole belongs to the region in
//! which it starts, and may extend into later ones. The roots of regions are children of table nodes with the layout of inner
//! nodes, so that updates proceed from a leaf into the table in a uniform way. A hole of 2^31 - 1 cells or more is *giant*: its
//! recorded length saturates, and its region, which has room for only one giant, records the true end.

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
