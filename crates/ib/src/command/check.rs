//! `amdgpu-ib check`.

use std::{collections::BTreeMap, io::Write as _, path::PathBuf};

use amdgpu_winsys::cs::{Target, registers};
use amdgpu_winsys::winsys::GfxLevel;

use super::{dump::dumper, terminal::output};
use crate::{
    Kept,
    input::name,
    outcome::{Error, Exit},
};

/// Decodes all captured IBs of the directories, and counts decoding errors and registers without a name.
///
/// A write to an address that had a register on earlier generations and has none now is told with the register's name, and counts
/// as named: RADV 25.0.7 clears the depth ranges of 16 viewports on GFX12 where GFX11 has them, and the last ones end beyond what
/// GFX12 has there. Neither Mesa's nor PAL's tables have registers at 0x28338 to 0x2834c of GFX12.
pub(super) fn check(directories: &[PathBuf], chip: Option<&str>, percentage: u8) -> Result<Exit, Error> {
    let mut out = output();
    let (mut ibs, mut count, mut dwords, mut problems) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut writes, mut named, mut unnamed) = (0_u64, 0_u64, BTreeMap::<(u32, Option<GfxLevel>), u64>::new());
    for directory in directories {
        for kept in Kept::all(directory)? {
            ibs += 1;
            dwords += kept.dwords.len() as u64;
            let dump = dumper(kept.target, chip).dump(&kept.dwords, Some(kept.va));
            for packet in dump.ibs.iter().flat_map(|ib| &ib.packets) {
                count += 1;
                for register in &packet.registers {
                    writes += 1;
                    match register.name {
                        Some(_) => named += 1,
                        None => *unnamed.entry((register.offset, level(kept.target))).or_default() += 1,
                    }
                }
                if let Some(error) = packet.problem {
                    problems += 1;
                    writeln!(out, "{}: {error}", name(&kept.path))?;
                }
            }
        }
    }
    for (&(offset, level), times) in &unnamed {
        match level.and_then(|level| Some((level, former(offset, level)?))) {
            Some((level, (name, until))) => {
                named += times;
                writeln!(out, "{level} has no register at {offset:#x}, {name} until {until}: {times} writes")?;
            }
            None => writeln!(out, "register {offset:#x} has no name: {times} writes")?,
        }
    }
    writeln!(out, "{ibs} IBs, {count} packets, {dwords} dwords, {problems} not understood")?;
    writeln!(out, "{named} of {writes} register writes named")?;
    out.flush()?;
    let is_named = named * 100 >= writes * u64::from(percentage);
    Ok(if problems == 0 && is_named { Exit::Understood } else { Exit::Problems })
}

/// Returns the generation of a target whose packets write registers.
const fn level(target: Target) -> Option<GfxLevel> {
    match target {
        Target::Pm4(target) => Some(target.level),
        Target::Sdma(_) => None,
    }
}

/// Returns the name of the register that was at an offset before a generation, and the last generation that had it.
fn former(offset: u32, level: GfxLevel) -> Option<(&'static str, GfxLevel)> {
    let mut before = GfxLevel::ALL.into_iter().rev().filter(|earlier| *earlier < level);
    before.find_map(|earlier| Some((registers::at(offset, earlier)?.name(), earlier)))
}
