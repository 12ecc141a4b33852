//! The rows of `amdgpu-bench surface`: layouts, addresses and copies of images, from GFX6 to GFX12.

mod chips;
mod copies;
mod layouts;
mod times;

use std::hint::black_box;

use amdgpu_surface::{Chip, tiler::Subresource};
use times::{alone, seen};

use crate::{
    child::Wanted,
    row::{Goal, Row, Unit},
};

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let chips = match chips::all() {
        Ok(chips) => chips,
        Err(error) => return add(Row::missing("surface", "addrlib, recorded", error)),
    };
    layouts::all(&chips, wanted, add);
    copies::all(&chips, wanted, add);
    if wanted.has("tables") {
        for chips::Generation { name, chip, .. } in &chips {
            let registers = chip.registers();
            let time = alone(|_| seen(Chip::new(black_box(registers))));
            add(Row::alone(&format!("tables-{name}"), 0, time, Goal::Below(1e6)).noting("a chip made ready".to_owned()));
        }
        let chip = size_of::<Chip>() as f64;
        add(Row::figure("tables-chip", 0, chip, Unit::Bytes, Goal::None).noting("of a chip".to_owned()));
        let level = size_of::<Subresource>() as f64;
        add(Row::figure("tables-level", 0, level, Unit::Bytes, Goal::None).noting("of a prepared level".to_owned()));
    }
}
