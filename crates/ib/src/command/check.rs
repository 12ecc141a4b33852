//! `amdgpu-ib check`.

use std::{collections::BTreeMap, io::Write as _, path::PathBuf};

use super::{dump::dumper, terminal::output};
use crate::{
    Kept,
    input::name,
    outcome::{Error, Exit},
};

/// Decodes all captured IBs of the directories, and counts decoding errors and registers without a name.
pub(super) fn check(directories: &[PathBuf], chip: Option<&str>, percentage: u8) -> Result<Exit, Error> {
    let mut out = output();
    let (mut ibs, mut count, mut dwords, mut problems) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut writes, mut named, mut unnamed) = (0_u64, 0_u64, BTreeMap::<u32, u64>::new());
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
                        None => *unnamed.entry(register.offset).or_default() += 1,
                    }
                }
                if let Some(error) = packet.problem {
                    problems += 1;
                    writeln!(out, "{}: {error}", name(&kept.path))?;
                }
            }
        }
    }
    for (offset, times) in &unnamed {
        writeln!(out, "register {offset:#x} has no name: {times} writes")?;
    }
    writeln!(out, "{ibs} IBs, {count} packets, {dwords} dwords, {problems} not understood")?;
    writeln!(out, "{named} of {writes} register writes named")?;
    out.flush()?;
    let is_named = named * 100 >= writes * u64::from(percentage);
    Ok(if problems == 0 && is_named { Exit::Understood } else { Exit::Problems })
}
