//! Programs that the preload library does not reach.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The reason why a program sees nothing of the preload library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfReach {
    /// No dynamic linker loads it, and so none loads the library.
    Static,
    /// The dynamic linker loads no library of an unprivileged user's into it.
    SetUserId,
}

impl std::fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Static => "is linked statically",
            Self::SetUserId => "is a set-user-id or set-group-id program",
        })
    }
}

/// Bits of a mode: set-user-id and set-group-id.
const SET_ID: u32 = 0o6000;
/// Type of the program header that names the dynamic linker. Source: ELF, `PT_INTERP`.
const PT_INTERP: u32 = 3;
/// Size of a program header of a 64-bit ELF file, bytes.
const PROGRAM_HEADER: usize = 56;

/// Returns the reason why a command's program is out of reach; `None` if it is within, or if that is unknown: for a script,
/// or a program that cannot be read.
pub(crate) fn out_of_reach(program: &OsStr) -> Option<OutOfReach> {
    let path = find(program)?;
    let about = fs::metadata(&path).ok()?;
    if about.permissions().mode() & SET_ID != 0 {
        return Some(OutOfReach::SetUserId);
    }
    let mut head = Vec::new();
    // Headers are at the start; what lies elsewhere is none of a linker's.
    File::open(&path).ok()?.take(1 << 16).read_to_end(&mut head).ok()?;
    is_static(&head)?.then_some(OutOfReach::Static)
}

/// Looks a command up as `execvp` does.
fn find(program: &OsStr) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.components().count() > 1 || named.is_absolute() {
        return Some(named.to_owned());
    }
    env::split_paths(&env::var_os("PATH")?).map(|directory| directory.join(named)).find(|path| path.is_file())
}

/// Returns `true` if a 64-bit little-endian ELF file names no dynamic linker; `None` for any other file.
fn is_static(head: &[u8]) -> Option<bool> {
    let bytes = |at: usize, len: usize| head.get(at..at.checked_add(len)?);
    if bytes(0, 6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let first = usize::try_from(u64::from_le_bytes(bytes(32, 8)?.try_into().ok()?)).ok()?;
    let count = u16::from_le_bytes(bytes(56, 2)?.try_into().ok()?);
    let mut kinds = (0..usize::from(count)).map(|index| {
        let at = first.checked_add(index * PROGRAM_HEADER)?;
        Some(u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?))
    });
    if kinds.clone().any(|kind| kind.is_none()) {
        return None;
    }
    Some(!kinds.any(|kind| kind == Some(PT_INTERP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut file = vec![0; 64 + kinds.len() * PROGRAM_HEADER];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[32] = 64;
        file[56] = kinds.len() as u8;
        for (index, kind) in kinds.iter().enumerate() {
            file[64 + index * PROGRAM_HEADER..][..4].copy_from_slice(&kind.to_le_bytes());
        }
        file
    }

    #[test]
    fn a_program_without_a_dynamic_linker_is_static() {
        assert_eq!(is_static(&elf(&[6, PT_INTERP, 1])), Some(false));
        assert_eq!(is_static(&elf(&[6, 1])), Some(true));
    }

    #[test]
    fn nothing_is_said_of_what_is_no_whole_program() {
        let whole = elf(&[6, 1]);
        for len in 0..whole.len() - PROGRAM_HEADER {
            assert_eq!(is_static(&whole[..len]), None, "{len} bytes");
        }
        assert_eq!(is_static(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn this_program_is_within_reach() {
        let program = env::current_exe().unwrap();
        assert_eq!(out_of_reach(program.as_os_str()), None);
        assert_eq!(out_of_reach(OsStr::new("no such program")), None);
    }
}
