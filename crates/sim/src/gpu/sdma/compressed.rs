//! Metadata of surfaces that a copy reads or writes: DCC of colours, HTILE of depth and stencil.
//!
//! The simulated GPU does not compress, so metadata tells of plain elements or of cleared ones. A copy from a surface gives cleared
//! elements their value; a copy to one makes the blocks that it writes plain, as an engine may that does not compress what it writes.
//!
//! Source: Mesa 25.0.7 `radv_sdma.c`, `radv_sdma_get_metadata_config` and `radv_sdma_emit_copy_t2t_sub_window`.

use std::cell::RefCell;
use std::collections::HashSet;

use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::records::sdma::{CopyT2tSubWindow, CopyTiledSubWindow};
use amdgpu_surface::addr2::meta::{MetaImage, MetaKind, MetaUnits};
use amdgpu_surface::dcc::DccCode;
use amdgpu_surface::{AddrError, Chip, GfxLevel, addr2};

use crate::gpu::{Stop, step::Step};

/// The largest depth in bits 31:18 of HTILE.
const FAR: u32 = 0x3fff;

/// The fields of a packet that describe metadata.
#[derive(Clone, Copy)]
pub(super) struct MetaFields {
    address: u64,
    /// The format of colours, as colour blocks have it.
    data_format: u32,
    /// The type of a component, as buffers have it.
    number_type: u32,
    is_alpha_on_msb: bool,
    surface_type: u32,
    is_pipe_aligned: bool,
}

/// The contents of a surface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Colour,
    Depth,
    Stencil,
}

/// The metadata of a level of a surface.
pub(super) struct Metadata {
    base: u64,
    units: Box<MetaUnits>,
    kind: Kind,
    fields: MetaFields,
    level: GfxLevel,
    /// The addresses of the units that this packet made plain.
    plain: RefCell<HashSet<u64>>,
}

/// The state of the elements that a unit describes.
enum State {
    Plain,
    Cleared(u128),
    /// Every element is like the first one of the block.
    First,
}

impl MetaFields {
    /// Returns the fields of a copy between rows and tiles; `None` without metadata.
    pub(super) fn of_tiled(packet: &CopyTiledSubWindow<'_>) -> Option<Self> {
        packet.dcc.then_some(Self {
            address: packet.meta_addr,
            data_format: packet.data_format,
            number_type: packet.number_type,
            is_alpha_on_msb: packet.alpha_is_on_msb,
            surface_type: packet.surface_type,
            is_pipe_aligned: packet.pipe_aligned,
        })
    }

    /// Returns the fields of the source and of the destination of a copy between tiled surfaces, at most one of which has metadata.
    pub(super) fn of_surfaces(packet: &CopyT2tSubWindow<'_>) -> [Option<Self>; 2] {
        let fields = packet.dcc.then_some(Self {
            address: packet.meta_addr,
            data_format: packet.data_format,
            number_type: packet.number_type,
            is_alpha_on_msb: packet.alpha_is_on_msb,
            surface_type: packet.surface_type,
            is_pipe_aligned: packet.pipe_aligned,
        });
        if packet.dcc_dir { [fields, None] } else { [None, fields] }
    }

    /// Returns the metadata of a level of an image with this layout and pipe XOR.
    pub(super) fn metadata(
        self,
        (chip, image, layout, level): (&Chip, &addr2::Image, &addr2::Layout, u32),
        pipe_xor: u32,
        step: &Step<'_, '_>,
    ) -> Result<Metadata, Stop> {
        let kind = match self.surface_type {
            0 => Kind::Colour,
            1 => Kind::Depth,
            2 => Kind::Stencil,
            _ => return Err(step.refuse("has metadata of an unknown type of surface")),
        };
        if image.dimension != addr2::Dimension::D2 {
            return Err(step.refuse("copies a compressed volume, which is not simulated"));
        }
        let request = MetaImage {
            kind: if kind == Kind::Colour { MetaKind::Dcc } else { MetaKind::Htile },
            mode: image.mode,
            dimension: image.dimension,
            bits: image.bits,
            width: image.width,
            height: image.height,
            slices: image.slices,
            levels: image.levels,
            samples: 1,
            fragments: 1,
            pipe_aligned: self.is_pipe_aligned,
            rb_aligned: self.is_pipe_aligned,
            first_tail: layout.first_tail,
        };
        let place = layout.levels.as_slice().get(level as usize).map_or([0; 3], |level| level.tail);
        let xor = if kind == Kind::Colour { pipe_xor } else { 0 };
        let units = request.units(chip, level, [place[0], place[1]], xor);
        let none = Err(AddrError::NotSupported(amdgpu_surface::Cause::Metadata));
        let units = units.and_then(|units| units.map_or(none, Ok));
        let units = units.map_err(|_| step.refuse("has metadata of a level that has none on this chip"))?;
        let base = step.address("meta_addr_lo", self.address)?.as_u64();
        Ok(Metadata {
            base,
            units: Box::new(units),
            kind,
            fields: self,
            level: chip.level(),
            plain: RefCell::default(),
        })
    }

    /// Returns an element whose channels are at the ends of their ranges.
    fn cleared(self, code: DccCode, step: &Step<'_, '_>) -> Result<u128, Stop> {
        // Numbers of colour formats, from the lowest channel on (`COLOR_8` to `COLOR_32_32_32_32` of `CB_COLOR0_INFO`).
        let widths: &[u32] = match self.data_format {
            1 => &[8],
            2 => &[16],
            3 => &[8, 8],
            4 => &[32],
            5 => &[16, 16],
            6 => &[11, 11, 10],
            7 => &[10, 11, 11],
            8 => &[2, 10, 10, 10],
            9 => &[10, 10, 10, 2],
            10 => &[8, 8, 8, 8],
            11 => &[32, 32],
            12 => &[16, 16, 16, 16],
            14 => &[32, 32, 32, 32],
            16 => &[5, 6, 5],
            17 => &[5, 5, 5, 1],
            18 => &[1, 5, 5, 5],
            19 => &[4, 4, 4, 4],
            _ => return Err(step.refuse("copies cleared elements of a format that no colour block has")),
        };
        let own = if self.is_alpha_on_msb { widths.len() - 1 } else { 0 };
        let has_own = !matches!(self.data_format, 6 | 7 | 16);
        Ok(code.pixel(widths, has_own.then_some(own), |width| match (self.number_type, width) {
            // Signed numbers; half floats, floats, and floats of 10 and 11 bits without a sign.
            (1 | 5, width) => (1 << (width - 1)) - 1,
            (7, 16) => 0x3c00,
            (7, 32) => 0x3f80_0000,
            (7, 11) => 0x3c0,
            (7, 10) => 0x1e0,
            (_, width) => (1 << width) - 1,
        }))
    }
}

impl Metadata {
    /// Returns the width and height in elements of the block that a unit describes.
    pub(super) const fn block(&self) -> [u32; 2] {
        self.units.block()
    }

    /// Returns the address of the unit of an element.
    fn unit(&self, element: [u32; 3], step: &Step<'_, '_>) -> Result<Option<GpuVa>, Stop> {
        let Some(at) = self.units.address(element, 0) else { return Ok(None) };
        let va = self.base.checked_add(at.byte).and_then(|raw| GpuVa::new(raw).ok());
        va.map(Some).ok_or_else(|| step.refuse("has metadata behind the end of the address space"))
    }

    /// Reads a unit and returns the state of its elements, and the unit that tells of plain ones.
    fn state(&self, unit: GpuVa, step: &Step<'_, '_>) -> Result<(State, u32), Stop> {
        if self.kind == Kind::Colour {
            let mut byte = [0];
            step.port.read(unit, &mut byte);
            let state = match DccCode::of(self.level, byte[0]) {
                DccCode::Plain => State::Plain,
                DccCode::First => State::First,
                DccCode::Registers | DccCode::Other => {
                    return Err(step.refuse("copies elements whose DCC is not simulated"));
                }
                code => State::Cleared(self.fields.cleared(code, step)?),
            };
            return Ok((state, DccCode::PLAIN.into()));
        }
        let mut bytes = [0; 4];
        step.port.read(unit, &mut bytes);
        let code = u32::from_le_bytes(bytes);
        let refused = || step.refuse("copies elements whose HTILE is not simulated");
        // Plain depth is 15 in the low four bits, plain stencil 3 in bits 9:8.
        if self.kind == Kind::Stencil {
            return match code >> 8 & 3 {
                3 => Ok((State::Plain, code)),
                0 => Ok((State::Cleared(0), code | 3 << 8)),
                _ => Err(refused()),
            };
        }
        let one = if self.fields.data_format == 2 { 0xffff } else { u128::from(1.0_f32.to_bits()) };
        match (code & 15, code >> 18) {
            (15, _) => Ok((State::Plain, code)),
            (0, 0) => Ok((State::Cleared(0), code | 15)),
            (0, FAR) => Ok((State::Cleared(one), code | 15)),
            _ => Err(refused()),
        }
    }

    /// Gives a row of elements that was read from a surface the values of those that are cleared. The row begins at `first`;
    /// `read` reads an element.
    pub(super) fn fill(
        &self,
        first: [u32; 3],
        row: &mut [u8],
        bytes: u32,
        step: &Step<'_, '_>,
        read: impl Fn([u32; 3], &mut [u8]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let ([width, height], bytes) = (self.block(), bytes as usize);
        let ([x0, y, z], count) = (first, (row.len() / bytes) as u32);
        let mut x = 0;
        while x < count {
            let next = (((x0 + x) / width + 1) * width - x0).min(count);
            if let Some(unit) = self.unit([x0 + x, y, z], step)? {
                let value = match self.state(unit, step)?.0 {
                    State::Plain => None,
                    State::Cleared(value) => Some(value.to_le_bytes()),
                    State::First => {
                        let mut value = [0; 16];
                        let corner = [(x0 + x) & !(width - 1), y & !(height - 1), z];
                        read(corner, &mut value[..bytes])?;
                        Some(value)
                    }
                };
                if let Some(value) = value {
                    let part = &mut row[x as usize * bytes..next as usize * bytes];
                    part.chunks_exact_mut(bytes).for_each(|element| element.copy_from_slice(&value[..bytes]));
                }
            }
            x = next;
        }
        Ok(())
    }

    /// Makes the blocks of a row of elements plain that a copy is about to write. `address` returns the address of an element, or
    /// `None` for one outside of the surface.
    pub(super) fn open(
        &self,
        [x0, y, z]: [u32; 3],
        count: u32,
        bytes: u32,
        step: &Step<'_, '_>,
        address: impl Fn([u32; 3]) -> Option<GpuVa>,
    ) -> Result<(), Stop> {
        let [width, height] = self.block();
        let mut x = x0;
        while x < x0 + count {
            let corner = [x & !(width - 1), y & !(height - 1), z];
            x = corner[0] + width;
            let Some(unit) = self.unit(corner, step)? else { continue };
            if !self.plain.borrow_mut().insert(unit.as_u64()) {
                continue;
            }
            let (state, plain) = self.state(unit, step)?;
            let mut value = [0; 16];
            match state {
                State::Plain => continue,
                State::Cleared(cleared) => value = cleared.to_le_bytes(),
                State::First => {
                    if let Some(va) = address(corner) {
                        step.port.read(va, &mut value[..bytes as usize]);
                    }
                }
            }
            step.port.spend(u64::from(width) * u64::from(height))?;
            for at in (0..width * height).map(|at| [corner[0] + at % width, corner[1] + at / width, z]) {
                if let Some(va) = address(at) {
                    step.port.write(va, &value[..bytes as usize]);
                }
            }
            let len = if self.kind == Kind::Colour { 1 } else { 4 };
            step.port.write(unit, &plain.to_le_bytes()[..len]);
        }
        Ok(())
    }
}
