//! Samples of pixels.

use amdgpu_registers::constants as r;

use crate::Registers;

/// The samples of pixels, and how often the pixel shader runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// The places of the samples of each of the four pixels of a quad, in sixteenths of a pixel from its centre.
    pub places: [[[i8; 2]; 16]; 4],
    /// The samples from the nearest to the centre to the farthest.
    pub by_distance: [u8; 16],
    /// The number of times that the pixel shader runs for a pixel.
    pub iterations: u32,
}

impl Samples {
    pub(super) fn new(registers: &Registers<'_>, count: u32) -> Self {
        let first = [
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X0Y0_0,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X1Y0_0,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X0Y1_0,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X1Y1_0,
        ];
        let signed = |nibble: u32| ((nibble << 4) as u8).cast_signed() >> 4;
        let places = first.map(|register| {
            std::array::from_fn(|sample| {
                let byte = registers.at(register, sample as u32 & !3) >> (8 * (sample & 3)) & 0xff;
                if count == 1 { [0; 2] } else { [signed(byte & 15), signed(byte >> 4)] }
            })
        });
        let order =
            [r::PA_SC_CENTROID_PRIORITY_0, r::PA_SC_CENTROID_PRIORITY_1].map(|register| registers.raw(register));
        let by_distance = std::array::from_fn(|place| (order[place / 8] >> (4 * (place % 8)) & 15) as u8);
        let iterates = registers.is_set(r::PA_SC_MODE_CNTL_1, "ps_iter_sample");
        // The newest generation has moved the number.
        let log2 =
            registers.field(r::DB_EQAA, "ps_iter_samples") | registers.field(r::PA_SC_AA_CONFIG, "ps_iter_samples");
        let iterations = if iterates && count > 1 { (1 << log2.min(4)).min(count) } else { 1 };
        Self { places, by_distance, iterations }
    }
}
