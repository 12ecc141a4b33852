//! The steps of a division, `v_div_scale` and `v_div_fmas`, by the rules of AMD's ISA guides.

use amdgpu_isa::{WaveSize, assemble};
use rustc_apfloat::{
    Float, FloatConvert,
    ieee::{Double, Quad, Single},
};

use super::{
    float::{bits, float, flushed},
    machine::{Machine, State},
    results::without_denormal,
    table::Env,
    values::Random,
    vector_tests::places,
};

/// A size of floats: the letter of its type, the bits of the fraction, and the numbers of the rules.
#[derive(Clone, Copy)]
struct Size {
    kind: char,
    fraction: u32,
    bias: i32,
    /// The difference of exponents from which a quotient may overflow.
    far: i32,
    /// The exponent up to which a numerator is small.
    small: i32,
    /// The power of two of the scales.
    power: i32,
}

const SINGLE: Size = Size { kind: 'f', fraction: 23, bias: 127, far: 96, small: 23, power: 64 };
const DOUBLE: Size = Size { kind: 'd', fraction: 52, bias: 1023, far: 768, small: 53, power: 128 };

impl Size {
    /// Returns the exponent as it is in the encoding.
    fn exponent(self, value: i128) -> i32 {
        (value >> self.fraction) as i32 & (2 * self.bias + 1)
    }
}

/// Returns the scaled operand, which is the denominator or the numerator, and whether the quotient is to be scaled back.
fn scaled<T, W>(size: Size, is_denominator: bool, [denominator, numerator]: [i128; 2]) -> (T, bool)
where
    T: Float + FloatConvert<W>,
    W: Float,
{
    let (d, n) = (float::<T>(denominator), float::<T>(numerator));
    let operand = if is_denominator { d } else { n };
    let wide = |value: T| -> W { value.convert(&mut false).value };
    let least = wide(T::smallest_normalized());
    let is_small = |quotient: W| quotient.abs() < least;
    let quotient = (wide(n) / wide(d)).value;
    let reciprocal = (wide(T::from_u128(1).value) / wide(d)).value;
    let larger = operand.scalbn(size.power);
    if d.is_zero() || n.is_zero() {
        (T::NAN, false)
    } else if size.exponent(numerator) - size.exponent(denominator) >= size.far {
        (if is_denominator { larger } else { operand }, true)
    } else if d.is_denormal() {
        (larger, false)
    } else if is_small(reciprocal) && is_small(quotient) {
        (if is_denominator { larger } else { operand }, true)
    } else if is_small(reciprocal) {
        (operand.scalbn(-size.power), false)
    } else if is_small(quotient) {
        (if is_denominator { operand } else { larger }, true)
    } else if size.exponent(numerator) <= size.small {
        (larger, false)
    } else {
        (operand, false)
    }
}

/// Returns the fused sum, scaled where VCC is set: up if the third operand's exponent is above the bias, else down.
fn fused<T: Float>(size: Size, [a, b, c]: [i128; 3], scales: bool) -> T {
    let sum = float::<T>(a).mul_add(float(b), float(c)).value;
    let power = if size.exponent(c) > size.bias { size.power } else { -size.power };
    if scales { sum.scalbn(power) } else { sum }
}

/// Returns a register of a lane.
fn register(state: &State, pair: usize, lane: usize, size: Size) -> i128 {
    let low = i128::from(state.vectors[2 * pair][lane]);
    if size.kind == 'd' { low | i128::from(state.vectors[2 * pair + 1][lane]) << 32 } else { low }
}

/// Returns registers of finite floats whose exponents are anywhere.
fn state(random: &mut Random, wave: WaveSize, size: Size) -> State {
    let mut state = random.state(wave, 2);
    for (pair, lane) in (0..3).flat_map(|pair| (0..64).map(move |lane| (pair, lane))) {
        let bits = random.next();
        let exponent = (random.next() % (2 * size.bias as u64 + 1)) << size.fraction;
        let sign = bits & 1 << (if size.kind == 'd' { 63 } else { 31 });
        let value = sign | exponent | bits & ((1 << size.fraction) - 1);
        // Some fractions are zero.
        let value = if random.next().is_multiple_of(8) { value >> size.fraction << size.fraction } else { value };
        state.vectors[2 * pair][lane] = value as u32;
        if size.kind == 'd' {
            state.vectors[2 * pair + 1][lane] = (value >> 32) as u32;
        }
    }
    state
}

/// Returns `true` if a result is that of the model.
fn is_same<T: Float>(found: i128, expected: T) -> bool {
    found == bits(expected) || float::<T>(found).is_nan() && expected.is_nan()
}

/// Compares a step of one size; fails with the first lane that differs. `step` is 0 or 1 to scale the denominator or the numerator, and
/// 2 for the sum.
fn compare<T, W>(machine: &Machine, size: Size, step: usize, float_mode: u32) -> Result<(), String>
where
    T: Float + FloatConvert<W>,
    W: Float,
{
    let (level, wave) = (machine.level, machine.wave);
    let text = match (size.kind, step) {
        ('f', 2) => "v_div_fmas_f32 v8, v2, v4, v6".to_owned(),
        (_, 2) => "v_div_fmas_f64 v[8:9], v[2:3], v[4:5], v[6:7]".to_owned(),
        (kind, _) => {
            let mask = if wave == WaveSize::Wave64 { "s[16:17]" } else { "s16" };
            let [d, n] = if kind == 'f' { ["v4", "v6"] } else { ["v[4:5]", "v[6:7]"] };
            let (bits, to) = if kind == 'f' { (32, "v8") } else { (64, "v[8:9]") };
            format!("v_div_scale_f{bits} {to}, {mask}, {}, {d}, {n}", [d, n][step])
        }
    };
    let instruction = assemble(level, wave, &text).map_err(|error| error.to_string())?;
    let env = Env::new(float_mode);
    let mut random = Random(u64::from(float_mode) << 8 | step as u64);
    for _ in 0..4 {
        let before = state(&mut random, wave, size);
        let found = machine.run(&instruction, env, &before)?;
        for lane in (0..wave.lanes() as usize).filter(|lane| before.exec >> lane & 1 != 0) {
            let operands =
                [0, 1, 2].map(|pair| without_denormal(size.kind, register(&before, pair, lane, size), env, 4));
            let scales = before.vcc >> lane & 1 != 0;
            let (exact, back) = match step {
                2 => (fused::<T>(size, operands, scales), false),
                step => scaled::<T, W>(size, step == 0, [operands[1], operands[2]]),
            };
            let bit = if size.kind == 'd' { 7 } else { 5 };
            let expected = if float_mode >> bit & 1 == 0 { flushed(exact) } else { exact };
            let result = register(&found, 3, lane, size);
            let is_back = step == 2 || (found.pair(4) >> lane & 1 != 0) == back;
            if !is_same(result, expected) || !is_back {
                let expected = bits(expected);
                return Err(format!(
                    "{level} {wave:?} {text} mode {float_mode:#x}: lane {lane} has {result:#x} instead of {expected:#x} \
                     (back: {back}, VCC: {scales}) of {operands:x?}"
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn steps_of_a_division_scale_as_in_the_model() {
    for (level, wave) in places() {
        let machine = Machine::new(level, wave);
        for (step, float_mode) in (0..3).flat_map(|step| [0xc0, 0xf0].map(|mode| (step, mode))) {
            compare::<Single, Double>(&machine, SINGLE, step, float_mode).unwrap();
            compare::<Double, Quad>(&machine, DOUBLE, step, float_mode).unwrap();
        }
    }
}
