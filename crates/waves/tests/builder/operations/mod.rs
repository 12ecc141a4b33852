//! Operations of the tables: those that the model of one lane does not have, and those that are refused.

mod matrix;
mod refused;
mod selection;
mod small;
mod special;
mod transfers;
