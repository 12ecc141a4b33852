//! Multiplications of matrices against a model of one element: every form of the tables, in both wave sizes, with their modifiers.
//!
//! The model places elements as AMD's guides to RDNA3 and RDNA4 draw them. Its elements are such that sums of their products fit 64-bit
//! floats, so that one rounding of the exact sum is what any order of additions gives.

#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "elements are bits of numbers of either sign")]

use std::fmt::Write as _;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, builder::Builder, table};
use rustc_apfloat::{
    Float as _, FloatConvert, Round,
    ieee::{BFloat, Double, Half, Single},
};

use crate::machine::run_wave;

/// Registers of 64 lanes.
type Rows = Vec<[u32; 64]>;

/// A source of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// The type of an element, by the name that operations have for it.
#[derive(Clone, Copy, PartialEq)]
struct Kind(&'static str);

impl Kind {
    fn bits(self) -> u32 {
        match self.0 {
            "f32" | "i32" => 32,
            "f16" | "bf16" => 16,
            "iu4" => 4,
            _ => 8,
        }
    }

    /// Returns bits of mantissa and the exponent bias of a float.
    fn float(self) -> Option<(u32, u32)> {
        Some(match self.0 {
            "f32" => (23, 127),
            "f16" => (10, 15),
            "bf16" => (7, 127),
            "fp8" => (3, 7),
            "bf8" => (2, 15),
            _ => return None,
        })
    }

    /// Returns a number whose exponent is small.
    fn any(self, random: &mut Random) -> u32 {
        match self.float() {
            Some((mantissa, bias)) => {
                let exponent = bias - 3 + random.below(7);
                let sign = random.below(2) << (self.bits() - 1);
                sign | exponent << mantissa | random.below(1 << mantissa)
            }
            None if self.bits() == 32 => [random.below(1000), 0x7fff_fff0, 0x8000_0010][random.below(3) as usize],
            None => random.below(1 << self.bits()),
        }
    }

    fn value(self, bits: u32, is_signed: bool) -> f64 {
        if let Some((mantissa, bias)) = self.float() {
            let fraction = bits & ((1 << mantissa) - 1);
            let exponent = (bits & !(1 << (self.bits() - 1))) >> mantissa;
            let magnitude =
                f64::from(1 << mantissa | fraction) * 2.0_f64.powi(exponent as i32 - (bias + mantissa) as i32);
            return if bits >> (self.bits() - 1) != 0 { -magnitude } else { magnitude };
        }
        let raised = bits << (32 - self.bits());
        let down = 32 - self.bits();
        if is_signed { f64::from(raised.cast_signed() >> down) } else { f64::from(raised >> down) }
    }

    /// Returns the bits of an exact sum.
    fn rounded(self, sum: f64, clamps: bool) -> u32 {
        let exact = Double::from_bits(sum.to_bits().into());
        match self.0 {
            "f32" => {
                FloatConvert::<Single>::convert_r(exact, Round::NearestTiesToEven, &mut false).value.to_bits() as u32
            }
            "f16" => {
                FloatConvert::<Half>::convert_r(exact, Round::NearestTiesToEven, &mut false).value.to_bits() as u32
            }
            "bf16" => {
                FloatConvert::<BFloat>::convert_r(exact, Round::NearestTiesToEven, &mut false).value.to_bits() as u32
            }
            _ if clamps => sum.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32 as u32,
            _ => sum as i64 as u32,
        }
    }
}

/// A form of a multiplication.
#[derive(Clone, Copy)]
struct Form {
    level: GfxLevel,
    wave: WaveSize,
    name: &'static str,
    is_sparse: bool,
    depth: u32,
    result: Kind,
    a: Kind,
    b: Kind,
}

/// Returns the forms of a generation and wave size.
fn forms(level: GfxLevel, wave: WaveSize) -> Vec<Form> {
    let names = table(level).opcodes().iter().map(amdgpu_isa::Opcode::name);
    let form = |name: &'static str| {
        let rest = name.strip_prefix("v_wmma_").or_else(|| name.strip_prefix("v_swmmac_"))?;
        let parts: Vec<&'static str> = rest.split('_').collect();
        Some(Form {
            level,
            wave,
            name,
            is_sparse: name.starts_with("v_swmmac_"),
            depth: parts[1].strip_prefix("16x16x")?.parse().ok()?,
            result: Kind(parts[0]),
            a: Kind(parts[2]),
            b: Kind(parts[parts.len() - 1]),
        })
    };
    names.filter_map(form).collect()
}

/// A lane, and the number of the element in it.
type Place = (u32, u32);

impl Form {
    fn is_wide(&self) -> bool {
        self.wave == WaveSize::Wave64
    }

    /// Returns the places of an element of a factor that is not sparse: a row of A or a column of B.
    fn places(&self, row: u32, k: u32, bits: u32) -> Vec<Place> {
        let lanes = self.wave.lanes();
        if self.level < GfxLevel::Gfx12 {
            return (0..lanes / 16).map(|group| (row + 16 * group, k)).collect();
        }
        let place = match (self.is_wide(), bits, self.depth) {
            (false, 4, 32) => (row + 16 * (k / 8 % 2), 8 * (k / 16) + k % 8),
            (false, ..) | (true, 4, 16) => (row + 16 * (k / 8), k % 8),
            (true, 4, _) => (row + 16 * (k / 8 % 2 * 2 + k / 16), k % 8),
            _ => (row + 16 * (k / 4 % 2) + 32 * (k / 8), k % 4),
        };
        vec![place]
    }

    /// Returns the place of an element of a column of B that is multiplied with a sparse A.
    fn place_beside_sparse(&self, column: u32, k: u32, bits: u32) -> Place {
        match (self.is_wide(), bits, self.depth) {
            (false, 16, _) => (column + 16 * (k / 8 % 2), 8 * (k / 16) + k % 8),
            (false, 4, 64) => (column + 16 * (k / 16 % 2), 16 * (k / 32) + k % 16),
            (false, ..) => (column + 16 * (k / 16), k % 16),
            (true, 16, _) => (column + 16 * (k / 8), k % 8),
            (true, 4, 64) => (column + 16 * (k / 16 % 2 * 2 + k / 32), k % 16),
            (true, ..) => (column + 16 * (k / 8 % 2 * 2 + k / 16), k % 8),
        }
    }

    /// Returns the place of an element of a sparse row, which is also that of its index.
    fn sparse_place(&self, row: u32, element: u32, bits: u32) -> Place {
        match (self.is_wide(), bits, self.depth) {
            (false, 16, _) => (row + 16 * (element / 4 % 2), 4 * (element / 8) + element % 4),
            (false, 4, 64) => (row + 16 * (element / 8 % 2), 8 * (element / 16) + element % 8),
            (false, ..) | (true, 4, 32) => (row + 16 * (element / 8), element % 8),
            (true, 16, _) => (row + 16 * (element / 4), element % 4),
            (true, 4, _) => (row + 16 * (element / 8 % 2 * 2 + element / 16), element % 8),
            (true, ..) => (row + 16 * (element / 4 % 2 * 2 + element / 8), element % 4),
        }
    }

    /// Returns the place of an element of C or D.
    fn sum_place(&self, row: u32, column: u32) -> Place {
        match (self.level < GfxLevel::Gfx12, self.is_wide()) {
            (true, false) => (column + 16 * (row % 2), row / 2),
            (true, true) => (column + 16 * (row % 4), row / 4),
            (false, false) => (column + 16 * (row / 8), row % 8),
            (false, true) => (column + 16 * (row / 8) + 32 * (row / 4 % 2), row % 4),
        }
    }

    /// Returns the elements of a lane's index register: two bits each.
    fn index_elements(&self) -> u32 {
        let dwords = (self.depth * self.a.bits() / self.wave.lanes() / 4).max(1);
        32 * dwords / self.a.bits()
    }
}

/// Modifiers of an instruction.
struct Modifiers {
    lows: u32,
    highs: u32,
    clamps: bool,
    select: u32,
}

fn random_modifiers(form: &Form, random: &mut Random) -> Modifiers {
    let is_float = form.a.float().is_some();
    let signs = if form.a.bits() == 16 { 3 } else { 0 };
    let sums = if is_float && !form.is_sparse { 4 } else { 0 };
    let half = u32::from(form.level < GfxLevel::Gfx12 && form.result.bits() == 16) * 4 * random.below(2);
    let keys = if form.is_sparse { 16 / form.index_elements() } else { 1 };
    Modifiers {
        lows: random.below(8) & if is_float { signs | sums } else { 3 },
        highs: random.below(8) & if is_float { signs | sums } else { 0 },
        clamps: !is_float && random.flag(),
        select: half | random.below(keys),
    }
}

fn set(rows: &mut Rows, first: usize, (lane, index): Place, bits: u32, value: u32) {
    let bit = index * bits;
    let word = &mut rows[first + bit as usize / 32][lane as usize];
    let mask = ((1_u64 << bits) - 1) as u32;
    *word = *word & !(mask << (bit % 32)) | (value & mask) << (bit % 32);
}

/// Returns what an instruction leaves in its destination, whose registers hold C before.
fn execute(form: &Form, modifiers: &Modifiers, factors: [&Rows; 2], sums: &Rows, index: &Rows) -> (String, Rows) {
    let mut code = Builder::new(form.level, form.wave, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(1));
    let mut data = Vec::new();
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
    let mut loaded = |code: &mut Builder, rows: &Rows| {
        let registers = code.vector(rows.len() as u8);
        for (register, row) in rows.iter().enumerate() {
            code.buffer_load(registers.at(register as u8), at, buffer);
            code.add(at, at, 256);
            data.extend(row.iter().flat_map(|word| word.to_le_bytes()));
        }
        registers
    };
    let [a, b] = factors.map(|rows| loaded(&mut code, rows));
    let sum = loaded(&mut code, sums);
    let last = if form.is_sparse { loaded(&mut code, index) } else { sum };
    let bits = |mask: u32| format!("[{},{},{}]", mask & 1, mask >> 1 & 1, mask >> 2 & 1);
    let mut text = format!("{} {sum}, {a}, {b}, {last}", form.name);
    for (name, mask) in [("neg_lo", modifiers.lows), ("neg_hi", modifiers.highs), ("op_sel", modifiers.select)] {
        if mask != 0 {
            let _ = write!(text, " {name}:{}", bits(mask));
        }
    }
    if modifiers.clamps {
        text += " clamp";
    }
    // All lanes take part, whatever EXEC is.
    code.op("s_mov_b32 exec_lo, 0x00ff00f0");
    code.op(&text);
    code.op("s_mov_b32 exec_lo, -1");
    let start = data.len();
    for register in 0..sums.len() {
        code.buffer_store(sum.at(register as u8), at, buffer);
        code.add(at, at, 256);
        data.extend([0; 256]);
    }
    let left = run_wave(form.level, &code.finish().unwrap(), data);
    let rows = left[start..].as_chunks::<256>().0.iter();
    let word = |row: &[u8; 256], lane: usize| u32::from_le_bytes(row.as_chunks().0[lane]);
    (text, rows.map(|row| std::array::from_fn(|lane| word(row, lane))).collect())
}

/// Compares one product of random matrices.
fn compare(form: &Form, random: &mut Random) {
    let modifiers = random_modifiers(form, random);
    let (lanes, newer) = (form.wave.lanes(), form.level >= GfxLevel::Gfx12);
    let stored = if form.is_sparse { form.depth / 2 } else { form.depth };
    let dwords = |depth: u32, kind: Kind| {
        if newer { (depth * kind.bits() / lanes / 2).max(1) } else { depth * kind.bits() / 32 }
    };
    let mut a_rows = vec![[0x5555_5555; 64]; dwords(stored, form.a) as usize];
    let mut b_rows = vec![[0x5555_5555; 64]; dwords(form.depth, form.b) as usize];
    let packs = newer && form.result.bits() == 16;
    let mut sums = vec![[0x1234_5678; 64]; (256 / lanes) as usize / if packs { 2 } else { 1 }];
    let mut index = vec![[0_u32; 64]];
    for word in &mut index[0] {
        *word = random.below(u32::MAX);
    }
    let (mut a, mut b) = ([[0.0; 64]; 16], [[0.0; 64]; 16]);
    let signed = |mask: u32, factor: u32| mask >> factor & 1 != 0;
    let value = |kind: Kind, bits: u32, factor: u32, place: u32| {
        let plain = kind.value(bits, signed(modifiers.lows, factor));
        let mask = if place.is_multiple_of(2) { modifiers.lows } else { modifiers.highs };
        if kind.float().is_some() && signed(mask, factor) { -plain } else { plain }
    };
    for row in 0..16_u32 {
        for k in 0..form.depth {
            let bits = form.b.any(random);
            let places = if form.is_sparse {
                vec![form.place_beside_sparse(row, k, form.b.bits())]
            } else {
                form.places(row, k, form.b.bits())
            };
            for place in &places {
                set(&mut b_rows, 0, *place, form.b.bits(), bits);
            }
            b[row as usize][k as usize] = value(form.b, bits, 1, places[0].1);
        }
        for element in 0..stored {
            let bits = form.a.any(random);
            if !form.is_sparse {
                let places = form.places(row, element, form.a.bits());
                for place in &places {
                    set(&mut a_rows, 0, *place, form.a.bits(), bits);
                }
                a[row as usize][element as usize] = value(form.a, bits, 0, places[0].1);
                continue;
            }
            let place = form.sparse_place(row, element, form.a.bits());
            set(&mut a_rows, 0, place, form.a.bits(), bits);
            // The first of two elements is at 0 or 1 of four, the second at 2 or 3.
            let chosen = random.below(2) + 2 * (element % 2);
            let entry = modifiers.select * form.index_elements() + place.1;
            set(&mut index, 0, (place.0, entry), 2, chosen);
            a[row as usize][(element / 2 * 4 + chosen) as usize] = value(form.a, bits, 0, place.1);
        }
    }
    let sum_place = |row: u32, column: u32| {
        let (lane, place) = form.sum_place(row, column);
        let half =
            if packs || form.result.bits() == 32 { place } else { 2 * place + u32::from(modifiers.select & 4 != 0) };
        (lane, half)
    };
    let mut expected = sums.clone();
    for row in 0..16 {
        for column in 0..16 {
            let bits = form.result.any(random);
            set(&mut sums, 0, sum_place(row, column), form.result.bits(), bits);
            set(&mut expected, 0, sum_place(row, column), form.result.bits(), bits);
        }
    }
    for row in 0..16_u32 {
        for column in 0..16_u32 {
            let place = sum_place(row, column);
            let bit = place.1 * form.result.bits();
            let word = sums[bit as usize / 32][place.0 as usize] >> (bit % 32);
            let kept = if form.result.bits() == 16 { word & 0xffff } else { word };
            let mut c = form.result.value(kept, true);
            let is_float = form.result.float().is_some();
            if is_float && modifiers.highs & 4 != 0 {
                c = c.abs();
            }
            if is_float && modifiers.lows & 4 != 0 {
                c = -c;
            }
            let products = (0..form.depth as usize).map(|k| a[row as usize][k] * b[column as usize][k]);
            let sum = form.result.rounded(c + products.sum::<f64>(), modifiers.clamps);
            set(&mut expected, 0, place, form.result.bits(), sum);
        }
    }
    let (text, found) = execute(form, &modifiers, [&a_rows, &b_rows], &sums, &index);
    for register in 0..sums.len() {
        for lane in 0..lanes as usize {
            let [found, expected] = [&found, &expected].map(|rows| rows[register][lane]);
            assert_eq!(
                found, expected,
                "{} {:?}, {text}: register {register}, lane {lane}: {found:#x} instead of {expected:#x}",
                form.level, form.wave
            );
        }
    }
}

fn compare_all(level: GfxLevel, count: usize) {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let forms = forms(level, wave);
        assert_eq!(forms.len(), count);
        for form in forms {
            for seed in 0..12 {
                compare(&form, &mut Random(seed * 7919 + u64::from(form.depth)));
            }
        }
    }
}

#[test]
fn products_of_gfx11_are_those_of_the_model() {
    compare_all(GfxLevel::Gfx11, 6);
}

#[test]
fn products_of_gfx12_are_those_of_the_model() {
    compare_all(GfxLevel::Gfx12, 22);
}
