//! Rules of waves that neither the compiled shaders nor the model of single operations depends on, each by a few instructions.

#![allow(clippy::cast_possible_truncation, reason = "registers are dwords, and addresses of the tests are small")]

mod atomics;
mod halves;
mod images;
mod machine;
mod memory;
mod scalar;
mod scratch;
mod waves;
