//! Every vector and scalar operation of the instruction tables against a model that computes one lane at a time.
//!
//! The model is written from the ISA guides and shares no code with the interpreter: integers are exact in 128 bits and cut or
//! saturated to their type at the end, floats are those of `rustc_apfloat`.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::precedence,
    reason = "registers are bits that operations read as numbers of either sign"
)]

mod division;
mod float;
mod forms;
mod integer;
mod lanes;
mod machine;
mod packed_tests;
mod results;
mod scalar;
mod scalar_tests;
mod table;
mod values;
mod vector;
mod vector_tests;
