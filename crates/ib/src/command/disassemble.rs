//! `amdgpu-ib disassemble`.

use std::{io::Write as _, path::Path};

use amdgpu_isa::WaveSize;

use super::terminal::output;
use crate::{
    Input, KeptShader,
    chip::level_of,
    cli::Lanes,
    input::name,
    outcome::{Error, Exit},
    shaders,
};

/// Prints the instructions of a shader.
pub(super) fn disassemble(file: &Path, chip: Option<&str>, wave: Option<Lanes>, is_json: bool) -> Result<Exit, Error> {
    let named = KeptShader::name(file);
    let level = match (chip, named) {
        (Some(chip), _) => level_of(chip)?,
        (None, Some((_, level, ..))) => level,
        (None, None) => return Err(Error::NoChip(name(file))),
    };
    let wave = match (wave, named) {
        (Some(Lanes::Wave32), _) => WaveSize::Wave32,
        (Some(Lanes::Wave64), _) | (None, None) => WaveSize::Wave64,
        (None, Some((_, _, wave, _))) => wave,
    };
    let code = Input::dwords(file)?;
    let (text, is_whole) = shaders::disassemble(level, wave, named.map(|named| named.3), &code, is_json);
    let mut out = output();
    write!(out, "{text}")?;
    out.flush()?;
    Ok(if is_whole { Exit::Understood } else { Exit::Problems })
}
