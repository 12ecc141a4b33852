//! Multiplications of matrices.

use super::executor::{Executor, Row, rows};
use crate::{
    matrix::{Element, Product},
    number::small::SmallFloat,
};

/// Dense and sparse products; `iu8` and `iu4` get their signs from modifiers.
pub(super) const TABLE: &[Row] = rows! {
    VSwmmacBf1616x16x32Bf16
        => Executor::Matrix(Product { result: Element::Brain, depth: 32, factors: [Element::Brain, Element::Brain], is_sparse: true });
    VSwmmacF1616x16x32F16
        => Executor::Matrix(Product { result: Element::F16, depth: 32, factors: [Element::F16, Element::F16], is_sparse: true });
    VSwmmacF3216x16x32Bf16
        => Executor::Matrix(Product { result: Element::F32, depth: 32, factors: [Element::Brain, Element::Brain], is_sparse: true });
    VSwmmacF3216x16x32Bf8Bf8
        => Executor::Matrix(Product { result: Element::F32, depth: 32, factors: [Element::Small(SmallFloat::Bf8), Element::Small(SmallFloat::Bf8)], is_sparse: true });
    VSwmmacF3216x16x32Bf8Fp8
        => Executor::Matrix(Product { result: Element::F32, depth: 32, factors: [Element::Small(SmallFloat::Bf8), Element::Small(SmallFloat::Fp8)], is_sparse: true });
    VSwmmacF3216x16x32F16
        => Executor::Matrix(Product { result: Element::F32, depth: 32, factors: [Element::F16, Element::F16], is_sparse: true });
    VSwmmacF3216x16x32Fp8Bf8
        => Executor::Matrix(Product { result: Element::F32, depth: 32, factors: [Element::Small(SmallFloat::Fp8), Element::Small(SmallFloat::Bf8)], is_sparse: true });
    VSwmmacF3216x16x32Fp8Fp8
        => Executor::Matrix(Product { result: Element::F32, depth: 32, factors: [Element::Small(SmallFloat::Fp8), Element::Small(SmallFloat::Fp8)], is_sparse: true });
    VSwmmacI3216x16x32Iu4
        => Executor::Matrix(Product { result: Element::INT32, depth: 32, factors: [Element::Integer { bits: 4, signed: false }, Element::Integer { bits: 4, signed: false }], is_sparse: true });
    VSwmmacI3216x16x32Iu8
        => Executor::Matrix(Product { result: Element::INT32, depth: 32, factors: [Element::Integer { bits: 8, signed: false }, Element::Integer { bits: 8, signed: false }], is_sparse: true });
    VSwmmacI3216x16x64Iu4
        => Executor::Matrix(Product { result: Element::INT32, depth: 64, factors: [Element::Integer { bits: 4, signed: false }, Element::Integer { bits: 4, signed: false }], is_sparse: true });
    VWmmaBf1616x16x16Bf16
        => Executor::Matrix(Product { result: Element::Brain, depth: 16, factors: [Element::Brain, Element::Brain], is_sparse: false });
    VWmmaF1616x16x16F16
        => Executor::Matrix(Product { result: Element::F16, depth: 16, factors: [Element::F16, Element::F16], is_sparse: false });
    VWmmaF3216x16x16Bf16
        => Executor::Matrix(Product { result: Element::F32, depth: 16, factors: [Element::Brain, Element::Brain], is_sparse: false });
    VWmmaF3216x16x16Bf8Bf8
        => Executor::Matrix(Product { result: Element::F32, depth: 16, factors: [Element::Small(SmallFloat::Bf8), Element::Small(SmallFloat::Bf8)], is_sparse: false });
    VWmmaF3216x16x16Bf8Fp8
        => Executor::Matrix(Product { result: Element::F32, depth: 16, factors: [Element::Small(SmallFloat::Bf8), Element::Small(SmallFloat::Fp8)], is_sparse: false });
    VWmmaF3216x16x16F16
        => Executor::Matrix(Product { result: Element::F32, depth: 16, factors: [Element::F16, Element::F16], is_sparse: false });
    VWmmaF3216x16x16Fp8Bf8
        => Executor::Matrix(Product { result: Element::F32, depth: 16, factors: [Element::Small(SmallFloat::Fp8), Element::Small(SmallFloat::Bf8)], is_sparse: false });
    VWmmaF3216x16x16Fp8Fp8
        => Executor::Matrix(Product { result: Element::F32, depth: 16, factors: [Element::Small(SmallFloat::Fp8), Element::Small(SmallFloat::Fp8)], is_sparse: false });
    VWmmaI3216x16x16Iu4
        => Executor::Matrix(Product { result: Element::INT32, depth: 16, factors: [Element::Integer { bits: 4, signed: false }, Element::Integer { bits: 4, signed: false }], is_sparse: false });
    VWmmaI3216x16x16Iu8
        => Executor::Matrix(Product { result: Element::INT32, depth: 16, factors: [Element::Integer { bits: 8, signed: false }, Element::Integer { bits: 8, signed: false }], is_sparse: false });
    VWmmaI3216x16x32Iu4
        => Executor::Matrix(Product { result: Element::INT32, depth: 32, factors: [Element::Integer { bits: 4, signed: false }, Element::Integer { bits: 4, signed: false }], is_sparse: false });
};
