//! Composition of a CRTC's picture from its planes.

use amdgpu_surface::Chip;
use amdgpu_uapi::ColorLut;
use zerocopy::FromBytes as _;

use super::{
    configuration::{Configuration, CrtcState, PlaneState},
    effect::Effect,
    framebuffer::{Framebuffer, Scan},
};
use crate::display::Picture;

/// Returns the picture of a CRTC: its primary plane on black, in the colours of its pipeline, its cursor on that, all mapped by its
/// gamma table. `None` for a CRTC
/// that is off, or if the layout of a framebuffer's tiles is unknown.
pub(super) fn picture(configuration: &Configuration, crtc: u32, chip: Option<&Chip>) -> Option<Picture> {
    let state = configuration.crtc(crtc);
    let mode = state.mode.as_ref().filter(|_| state.is_active)?.info;
    let (width, height) = (u32::from(mode.hdisplay), u32::from(mode.vdisplay));
    let mut rgba = vec![0; width as usize * height as usize * 4];
    rgba.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = u8::MAX);
    let mut picture = Picture { width, height, rgba };
    // Primary planes come first.
    let shown = configuration.planes.iter().enumerate().filter(|(_, plane)| plane.crtc == Some(crtc));
    for (layer, (index, plane)) in shown.enumerate() {
        let Some(framebuffer) = &plane.framebuffer else { continue };
        let effect = configuration.colours.get(index).and_then(Effect::of);
        draw(&mut picture, (plane, framebuffer), layer > 0, effect.as_ref(), chip)?;
    }
    apply_gamma(&mut picture, &state);
    Some(picture)
}

/// Draws a plane. Each pixel is the framebuffer's pixel at its place, without filtering.
fn draw(
    picture: &mut Picture,
    (plane, framebuffer): (&PlaneState, &Framebuffer),
    is_blended: bool,
    effect: Option<&Effect>,
    chip: Option<&Chip>,
) -> Option<()> {
    let (source, place) = (plane.source, plane.place);
    let first = source.y >> 16;
    let last = (u64::from(source.y) + u64::from(source.height)).div_ceil(1 << 16);
    let scan = framebuffer.scan(chip, first..u32::try_from(last).unwrap_or(u32::MAX).min(framebuffer.height))?;
    let Scan { rows, pitch, pixel, format } = scan;
    let along = |at: u32, len: u32, all: u32, offset: u32| {
        (u64::from(at) + u64::from(len) * u64::from(offset) / u64::from(all)) as usize >> 16
    };
    let inside = |at: i32, all: u32| {
        move |offset: u32| u32::try_from(i64::from(at) + i64::from(offset)).ok().filter(|at| *at < all)
    };
    let (across, down) = (inside(place.x, picture.width), inside(place.y, picture.height));
    let columns: Vec<(usize, usize)> = (0..place.width)
        .filter_map(|dx| Some((across(dx)? as usize, along(source.x, source.width, place.width, dx) * pixel)))
        .collect();
    let mut last = None;
    let mut colour_of = |value: u64| match (effect, last) {
        (None, _) => format.colour(value),
        (_, Some((of, colour))) if of == value => colour,
        (Some(effect), _) => {
            let colour = effect.colour(format.exact_colour(value));
            last = Some((value, colour));
            colour
        }
    };
    for dy in 0..place.height {
        let Some(y) = down(dy) else { continue };
        let row = (along(source.y, source.height, place.height, dy) - first as usize) * pitch;
        let Some(from) = rows.get(row..row + pitch) else { continue };
        let width = picture.width as usize * 4;
        let Some(to) = picture.rgba.get_mut(y as usize * width..).and_then(|rest| rest.get_mut(..width)) else {
            continue;
        };
        for &(x, at) in &columns {
            let Some(bytes) = from.get(at..at + pixel) else { continue };
            let mut whole = [0; 8];
            whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            let value = u64::from_le_bytes(whole);
            let colour = colour_of(value);
            let Some(shown) = to.get_mut(x * 4..x * 4 + 3) else { continue };
            if !is_blended {
                shown.copy_from_slice(&colour);
                continue;
            }
            // The colours of a cursor are premultiplied by its alpha.
            let behind = 255 - (value >> 24 & 0xff) as u32;
            for (to, colour) in shown.iter_mut().zip(colour) {
                *to = (u32::from(colour) + u32::from(*to) * behind / 255).min(255) as u8;
            }
        }
    }
    Some(())
}

fn apply_gamma(picture: &mut Picture, state: &CrtcState) {
    let Some(table) = state.gamma.as_ref().and_then(|blob| <[ColorLut]>::ref_from_bytes(&blob.data).ok()) else {
        return;
    };
    let entry = |value: u8| table.get(usize::from(value) * (table.len().max(1) - 1) / 255);
    let high = |value: u16| (value >> 8) as u8;
    for pixel in picture.rgba.chunks_exact_mut(4) {
        let [red, green, blue, _] = pixel else { continue };
        *red = entry(*red).map_or(*red, |entry| high(entry.red));
        *green = entry(*green).map_or(*green, |entry| high(entry.green));
        *blue = entry(*blue).map_or(*blue, |entry| high(entry.blue));
    }
}
