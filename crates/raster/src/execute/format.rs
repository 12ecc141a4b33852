//! Formats of colour targets: conversion between channels in memory and components.

use crate::Colour;

/// The sizes of channels in bits, the lowest first, by format number.
const CHANNELS: [(u32, &[u32]); 19] = [
    (1, &[8]),
    (2, &[16]),
    (3, &[8, 8]),
    (4, &[32]),
    (5, &[16, 16]),
    (6, &[11, 11, 10]),
    (7, &[10, 11, 11]),
    (8, &[2, 10, 10, 10]),
    (9, &[10, 10, 10, 2]),
    (10, &[8, 8, 8, 8]),
    (11, &[32, 32]),
    (12, &[16, 16, 16, 16]),
    (14, &[32, 32, 32, 32]),
    (16, &[5, 6, 5]),
    (17, &[5, 5, 5, 1]),
    (18, &[1, 5, 5, 5]),
    (19, &[4, 4, 4, 4]),
    (20, &[24, 8]),
    (21, &[8, 24]),
];

/// Returns the channels of a format, if colours can be written to it.
fn channels(number: u32) -> Option<&'static [u32]> {
    CHANNELS.iter().find(|(known, _)| *known == number).map(|(_, channels)| *channels)
}

/// Returns `true` if colours can be written to the target.
pub(crate) fn is_known(colour: &Colour) -> bool {
    channels(colour.format).is_some() && matches!(colour.number, 0 | 1 | 4 | 5 | 6 | 7)
}
