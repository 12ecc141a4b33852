//! Comparison of results, within the precision that a job names.

/// Returns what differs first; `None` if all is as expected.
pub(crate) fn difference(rule: &str, found: &[u8], expected: &[u8]) -> Option<String> {
    assert_eq!(found.len(), expected.len());
    let (kind, amount) = rule.split_once(':').unwrap_or((rule, "0"));
    let amount: f64 = amount.parse().unwrap();
    let size = match kind {
        "unorm8" | "packing" => 1,
        "f16ulp" => 2,
        "f64ulp" => 8,
        _ => 4,
    };
    let pairs = found.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate();
    for (index, (a, b)) in pairs {
        if a != b && !is_close(kind, amount, word(a), word(b), index, found, expected) {
            let wrong = found.chunks_exact(size).zip(expected.chunks_exact(size)).filter(|(a, b)| a != b).count();
            return Some(format!("element {index}: {:#x} instead of {:#x} ({wrong} differ)", word(a), word(b)));
        }
    }
    None
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Maps floats to integers in the order of their values.
fn ordered(bits: u64, width: u32) -> i128 {
    let sign = 1_u64 << (width - 1);
    if bits & sign != 0 { -i128::from(bits & (sign - 1)) } else { i128::from(bits) }
}

fn is_nan(bits: u64, width: u32) -> bool {
    match width {
        16 => bits & 0x7fff > 0x7c00,
        32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

fn is_close(kind: &str, amount: f64, a: u64, b: u64, index: usize, found: &[u8], expected: &[u8]) -> bool {
    let ulps = |width| {
        is_nan(a, width) && is_nan(b, width) || (ordered(a, width) - ordered(b, width)).unsigned_abs() as f64 <= amount
    };
    let (x, y) = (f64::from(f32::from_bits(a as u32)), f64::from(f32::from_bits(b as u32)));
    // Words that are no ordinary floats must be equal.
    let ordinary = [a, b].iter().all(|bits| !matches!(bits >> 23 & 0xff, 0 | 255)) || x.abs().max(y.abs()) < 1.0e-30;
    match kind {
        "f32ulp" => ulps(32),
        "f64ulp" => ulps(64),
        "f16ulp" => ulps(16),
        "f32abs" => (ordinary || x.abs() <= amount && y.abs() <= amount) && (x - y).abs() <= amount,
        "f32rel" => ordinary && (x - y).abs() <= amount * y.abs().max(1.0e-6),
        "unorm8" => a.abs_diff(b) as f64 <= amount,
        // Each byte, half or float may differ by one in its last place.
        "packing" => {
            let dword = |bytes: &[u8]| word(&bytes[index / 4 * 4..][..4]);
            let (a, b) = (dword(found), dword(expected));
            let parts = |width: u32| {
                (0..32 / width).all(|part| {
                    let mask = (1 << width) - 1;
                    let (a, b) = (a >> (part * width) & mask, b >> (part * width) & mask);
                    let distance = (ordered(a, width) - ordered(b, width)).unsigned_abs();
                    distance <= 1 || a.abs_diff(b) <= 1
                })
            };
            parts(8) || parts(16) || parts(32)
        }
        _ => false,
    }
}
