//! Pictures of what a display shows.

use std::{
    fs::File,
    io::{self, BufWriter, Read as _},
    path::Path,
};

use amdgpu_output::files;
use amdgpu_sim_world::{Call, Connection, Message};
use nix::errno::Errno;

/// The reason why there is no picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScreenshotError {
    #[error("the display has shown nothing")]
    Nothing,
    #[error("the simulated machine does not answer: {0}")]
    Silent(Errno),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error(transparent)]
    Png(#[from] png::EncodingError),
}

/// Writes what the first display of the world behind a socket shows, or showed last, to a PNG file.
pub(crate) fn write(path: &Path, socket: &Path) -> Result<(), ScreenshotError> {
    let connection = Connection::open(socket).map_err(ScreenshotError::Silent)?;
    let answer = connection.call(&Message::new(Call::Picture, 0, [0; 3])).map_err(|errno| match errno {
        Errno::ENODATA => ScreenshotError::Nothing,
        errno => ScreenshotError::Silent(errno),
    })?;
    let (width, height) = ((answer.value >> 32) as u32, answer.value as u32);
    let mut rgba = Vec::new();
    File::from(answer.descriptor.ok_or(ScreenshotError::Nothing)?).read_to_end(&mut rgba)?;
    let mut encoder = png::Encoder::new(BufWriter::new(files::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    Ok(encoder.write_header()?.write_image_data(&rgba)?)
}
