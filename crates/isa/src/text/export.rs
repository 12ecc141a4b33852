//! Exports of pixels, positions, primitives and parameters.

use std::fmt::{self, Write};

use amdgpu_hw::GfxLevel;

use crate::{Field, Instruction};

/// Numbers of targets, their names, and the generations that have them. A name of several numbers is followed by an index.
const TARGETS: [(u32, u32, &str, GfxLevel, GfxLevel); 8] = [
    (0, 8, "mrt", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (8, 1, "mrtz", GfxLevel::Gfx6, GfxLevel::Gfx12),
    (9, 1, "null", GfxLevel::Gfx6, GfxLevel::Gfx10_3),
    (12, 4, "pos", GfxLevel::Gfx6, GfxLevel::Gfx9),
    (12, 5, "pos", GfxLevel::Gfx10, GfxLevel::Gfx12),
    (20, 1, "prim", GfxLevel::Gfx10, GfxLevel::Gfx12),
    (21, 2, "dual_src_blend", GfxLevel::Gfx11, GfxLevel::Gfx12),
    (32, 32, "param", GfxLevel::Gfx6, GfxLevel::Gfx10_3),
];

/// Returns the name of a target.
fn target(level: GfxLevel, number: u32) -> String {
    let found = TARGETS.iter().find(|(first, count, _, from, to)| {
        (*first..first + count).contains(&number) && (*from..=*to).contains(&level)
    });
    match found {
        Some((_, 1, name, ..)) => (*name).to_owned(),
        Some((first, _, name, ..)) => format!("{name}{}", number - first),
        None => format!("invalid_target_{number}"),
    }
}

/// Returns the number of a target's name.
pub(crate) fn target_number(level: GfxLevel, name: &str) -> Option<u32> {
    (0..64).find(|number| target(level, *number) == name)
}

/// Writes the target, the sources, of which disabled ones are `off`, and the modifiers. A compressed export has two sources of two
/// 16-bit components each, which are written twice.
pub(super) fn write(instruction: &Instruction, out: &mut impl Write) -> fmt::Result {
    let field = |field| instruction.field(field);
    write!(out, " {}", target(instruction.level, field(Field::Tgt)))?;
    let all = [Field::Vsrc0, Field::Vsrc1, Field::Vsrc2, Field::Vsrc3];
    let compressed = [Field::Vsrc0, Field::Vsrc0, Field::Vsrc1, Field::Vsrc1];
    let sources = if field(Field::Compr) == 0 { all } else { compressed };
    let mut separator = " ";
    for (index, source) in sources.into_iter().enumerate() {
        if field(Field::En) >> index & 1 == 0 {
            write!(out, "{separator}off")?;
        } else {
            write!(out, "{separator}v{}", field(source))?;
        }
        separator = ", ";
    }
    for (name, bit) in MODIFIERS {
        if field(bit) != 0 {
            write!(out, " {name}")?;
        }
    }
    Ok(())
}

/// The modifiers of an export.
pub(crate) const MODIFIERS: [(&str, Field); 4] =
    [("done", Field::Done), ("compr", Field::Compr), ("vm", Field::Vm), ("row_en", Field::Row)];
