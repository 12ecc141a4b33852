//! Dumps of tiled images as PNGs.

use std::{fs, io::BufWriter, path::Path};

use amdgpu_output::files;
use amdgpu_surface::tiler::{Region, Rows};

use crate::format::Colors;
use crate::image::Image;
use crate::outcome::Error;

/// The part of an image to take out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subresource {
    pub(crate) level: u32,
    pub(crate) layer: u32,
    pub(crate) sample: u32,
}

/// Elements of one slice in rows.
#[derive(Debug)]
struct Slice {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

/// Takes one slice out of the bytes of a buffer.
fn take(image: &Image, file: &Path, part: Subresource) -> Result<Slice, Error> {
    let file_error = |error| Error::File { path: file.to_owned(), error };
    let tiled = fs::read(file).map_err(file_error)?;
    let needed = image.layout.bytes;
    if (tiled.len() as u64) < needed {
        return Err(Error::TooShort { path: file.to_owned(), len: tiled.len(), needed });
    }
    let Subresource { level, layer, sample } = part;
    let there = |what, number, count| if number < count { Ok(()) } else { Err(Error::Missing { what, number, count }) };
    there("level", level, image.config.levels)?;
    let [width, height, slices] = image.extent(level);
    there("layer", layer, slices)?;
    let texels = image.layout.texels(&image.chip, &image.config, level)?;
    let pitch = width as usize * texels.element_bytes() as usize;
    let rows = Rows { pitch, slice: pitch * height as usize };
    let mut bytes = vec![0; rows.slice];
    let region = Region { first: [0, 0, layer], extent: [width, height, 1], sample };
    texels.detile(&region, &tiled, &mut bytes, rows)?;
    Ok(Slice { width, height, bytes })
}

/// Writes the elements of a slice row by row.
pub(crate) fn raw(image: &Image, file: &Path, part: Subresource, output: &Path) -> Result<(), Error> {
    let slice = take(image, file, part)?;
    files::write(output, slice.bytes).map_err(|error| Error::File { path: output.to_owned(), error })
}

/// Writes a slice as a PNG.
pub(crate) fn png(image: &Image, file: &Path, part: Subresource, output: &Path) -> Result<(), Error> {
    let colors = Colors::of(image.format)?;
    let slice = take(image, file, part)?;
    let element = image.config.bytes.max(1) as usize;
    let pixels: Vec<u8> = slice.bytes.chunks_exact(element).flat_map(|element| colors.rgba(element)).collect();
    let file = files::create(output).map_err(|error| Error::File { path: output.to_owned(), error })?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), slice.width, slice.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let png_error = |error| Error::Png { path: output.to_owned(), error };
    let mut writer = encoder.write_header().map_err(png_error)?;
    writer.write_image_data(&pixels).map_err(png_error)?;
    writer.finish().map_err(png_error)
}
