//! Copies of boxes of elements to, from and between tiled surfaces.

use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::layout::records::sdma::{CopyT2tSubWindow, CopyTiledSubWindow};
use amdgpu_packets::sdma::Version;
use amdgpu_surface::tiler::{Subresource, TilerError};
use amdgpu_surface::{AddrError, Chip, addr1, addr2, addr3};

use super::compressed::{MetaFields, Metadata};
use super::reads::Reads;
use super::windows::{SWAPPED, Side, Window, less_one};
use crate::gpu::{Stop, step::Step};

/// A tiled surface as described in a packet. Counts are one less.
#[derive(Clone, Copy)]
struct Description {
    address: u64,
    /// The coordinates of the first element.
    first: [u32; 3],
    /// The size of an element, as an exponent of two.
    element: u32,
    /// GFX7 and GFX8: the numbers of tiles in a row and in a slice.
    tiles: [u32; 2],
    /// GFX7 and GFX8: the array mode, micro tile mode and pipe configuration.
    modes: [u32; 3],
    /// GFX7 and GFX8: the exponents of the split, bank width, bank height and aspect, and of half the number of banks.
    banks: [u32; 5],
    /// GFX9 and later: the numbers of elements of level 0.
    extent: [u32; 3],
    swizzle_mode: u32,
    dimension: u32,
    epitch: u32,
    last_level: u32,
    level: u32,
}

/// A tiled surface with its addresses.
struct Tiled {
    base: u64,
    /// The XOR of the address bits in a block, which distributes accesses over channels.
    xor: u64,
    level: Subresource,
    first: [u32; 3],
    metadata: Option<Metadata>,
}

impl Description {
    fn new(packet: &CopyTiledSubWindow<'_>) -> Self {
        Self {
            address: packet.tiled_addr,
            first: [packet.tiled_x, packet.tiled_y, packet.tiled_z],
            element: packet.element_size,
            tiles: [packet.pitch_in_tile, packet.slice_pitch],
            modes: [packet.array_mode, packet.micro_tile_mode, packet.pipe_config],
            banks: [
                packet.tilesplit_size,
                packet.bank_width,
                packet.bank_height,
                packet.macro_tile_aspect,
                packet.num_bank,
            ],
            extent: [packet.width, packet.height, packet.depth],
            swizzle_mode: packet.swizzle_mode,
            dimension: packet.dimension,
            epitch: packet.epitch,
            last_level: packet.mip_max,
            level: packet.mip_id,
        }
    }

    /// Returns the source of a copy between tiled surfaces.
    fn source(packet: &CopyT2tSubWindow<'_>) -> Self {
        Self {
            address: packet.src_addr,
            first: [packet.src_x, packet.src_y, packet.src_z],
            element: packet.src_element_size,
            tiles: [packet.src_pitch_in_tile, packet.src_slice_pitch],
            modes: [packet.src_array_mode, packet.src_mit_mode, packet.src_pipe_config],
            banks: [
                packet.src_tilesplit_size,
                packet.src_bank_w,
                packet.src_bank_h,
                packet.src_mat_aspt,
                packet.src_num_bank,
            ],
            extent: [packet.src_width, packet.src_height, packet.src_depth],
            swizzle_mode: packet.src_swizzle_mode,
            dimension: packet.src_dimension,
            epitch: packet.src_epitch,
            last_level: packet.src_mip_max.max(packet.mip_max),
            level: packet.src_mip_id,
        }
    }

    /// Returns the destination of a copy between tiled surfaces. From version 2.4 to 3.0 it has no element size of its own.
    fn destination(packet: &CopyT2tSubWindow<'_>, version: Version) -> Self {
        let one_size = matches!(version, Version::V2_4 | Version::V3_0);
        Self {
            address: packet.dst_addr,
            first: [packet.dst_x, packet.dst_y, packet.dst_z],
            element: if one_size { packet.src_element_size } else { packet.dst_element_size },
            tiles: [packet.dst_pitch_in_tile, packet.dst_slice_pitch],
            modes: [packet.dst_array_mode, packet.dst_mit_mode, packet.dst_pipe_config],
            banks: [
                packet.dst_tilesplit_size,
                packet.dst_bank_w,
                packet.dst_bank_h,
                packet.dst_mat_aspt,
                packet.dst_num_bank,
            ],
            extent: [packet.dst_width, packet.dst_height, packet.dst_depth],
            swizzle_mode: packet.dst_swizzle_mode,
            dimension: packet.dst_dimension,
            epitch: packet.dst_epitch,
            last_level: packet.dst_mip_max.max(packet.mip_max),
            level: packet.dst_mip_id,
        }
    }

    /// Calculates the layout of the surface.
    fn surface(
        &self,
        field: &'static str,
        meta: Option<MetaFields>,
        step: &Step<'_, '_>,
        reads: &Reads<'_>,
    ) -> Result<Tiled, Stop> {
        let lacking = "moves tiled data, and the tiling registers of this chip are not known";
        let chip = reads.chip.ok_or_else(|| step.refuse(lacking))?;
        if self.element > 4 {
            return Err(step.wrong(FieldError::Unknown { field: "element_size", value: self.element }));
        }
        let base = step.address(field, self.address)?.as_u64();
        let lost = |_| step.refuse("describes a tiled surface that no image of this chip has");
        match reads.version {
            Version::V1_0 | Version::V2_0 | Version::V2_4 | Version::V3_0 => self.tiles(chip, base).map_err(lost),
            // Packets of 7.0 name no metadata, which is a property of pages there.
            Version::V7_0 if meta.is_some() => Err(step.refuse("copies a compressed surface, which is not simulated")),
            Version::V7_0 => self.modern(chip, base).map_err(lost),
            _ => {
                let (image, layout) = self.blocks(chip).map_err(lost)?;
                let mut tiled = self.in_blocks_of(chip, &image, &layout, base).map_err(lost)?;
                let xor = (tiled.xor >> 8) as u32;
                let described = meta.map(|meta| meta.metadata((chip, &image, &layout, self.level), xor, step));
                tiled.metadata = described.transpose()?;
                Ok(tiled)
            }
        }
    }

    const fn bits(&self) -> u32 {
        8 << self.element
    }

    /// Returns the layout of a level of GFX7 or GFX8.
    fn tiles(&self, chip: &Chip, base: u64) -> Result<Tiled, TilerError> {
        let [array_mode, micro_mode, pipe_config] = self.modes;
        let [split, bank_width, bank_height, aspect, banks] = self.banks;
        let wrong = AddrError::Invalid(amdgpu_surface::Cause::Mode(micro_mode));
        let info = addr1::TileInfo {
            banks: 2 << banks,
            bank_width: 1 << bank_width,
            bank_height: 1 << bank_height,
            aspect: 1 << aspect,
            tile_split: 64 << split,
            pipe_config: pipe_config + 1,
        };
        let pitch = (self.tiles[0] + 1) * 8;
        let tiles = addr1::Tiles {
            mode: addr1::TileMode::of_register(false, array_mode),
            tile_type: addr1::TileType::new(micro_mode).ok_or(wrong)?,
            info,
            bits: self.bits(),
            pitch,
            height: (self.tiles[1] + 1) / (self.tiles[0] + 1) * 8,
            // The packet has no number of slices. This is as many as its fields can count.
            depth: 1 << 12,
            samples: 1,
        };
        // The low bits of a macro-tiled level's address rotate the pipes and banks.
        let (pipes, banks) = (u64::from(info.pipes()), u64::from(info.banks));
        let is_macro = tiles.mode.is_macro();
        let mask = if is_macro { (pipes * banks) << 8 } else { 1 } - 1;
        let swizzle = if is_macro { (base & mask) >> 8 } else { 0 };
        let (pipe, bank) = ((swizzle & (pipes - 1)) as u32, (swizzle / pipes) as u32);
        let level = Subresource::gfx6(&addr1::Addresser::of_tiles(chip, &tiles, bank, pipe)?)?;
        Ok(Tiled { base: base & !mask, xor: 0, level, first: self.first, metadata: None })
    }

    /// Returns the image of GFX9 to GFX11.5, and its layout.
    fn blocks(&self, chip: &Chip) -> Result<(addr2::Image, addr2::Layout), TilerError> {
        let wrong = AddrError::Invalid(amdgpu_surface::Cause::Mode(self.swizzle_mode));
        let mode = u8::try_from(self.swizzle_mode).ok().and_then(addr2::SwizzleMode::new).ok_or(wrong)?;
        if mode.is_linear() {
            return Err(wrong.into());
        }
        let [width, height, slices] = self.extent.map(|less| less + 1);
        let mut image = addr2::Image {
            dimension: match self.dimension {
                0 => addr2::Dimension::D1,
                1 => addr2::Dimension::D2,
                _ => addr2::Dimension::D3,
            },
            slices,
            levels: self.last_level + 1,
            usage: addr2::Usage::TEXTURE,
            ..addr2::Image::new(mode, self.bits(), width, height)
        };
        let mut layout = addr2::layout(chip, &image)?;
        let pitch = self.epitch + 1;
        if self.last_level == 0 && self.epitch > 0 && !layout.epitch_is_height && pitch > layout.pitch {
            image.pitch = pitch;
            layout = addr2::layout(chip, &image)?;
        }
        Ok((image, layout))
    }

    /// Returns the layout of a level of GFX9 to GFX11.5.
    fn in_blocks_of(
        &self,
        chip: &Chip,
        image: &addr2::Image,
        layout: &addr2::Layout,
        base: u64,
    ) -> Result<Tiled, TilerError> {
        let addresser = addr2::Addresser::new(chip, image, layout, 0)?;
        Ok(self.in_blocks(Subresource::gfx9(&addresser, self.level)?, base, layout.align))
    }

    /// Returns the layout of a level of GFX12. The mode distinguishes volumes from layers.
    fn modern(&self, chip: &Chip, base: u64) -> Result<Tiled, TilerError> {
        let wrong = AddrError::Invalid(amdgpu_surface::Cause::Mode(self.swizzle_mode));
        let mode = u8::try_from(self.swizzle_mode).ok().and_then(addr3::Mode::new).ok_or(wrong)?;
        if mode.is_linear() {
            return Err(wrong.into());
        }
        let [width, height, slices] = self.extent.map(|less| less + 1);
        let image = addr3::Image {
            dimension: if mode.is_3d() { addr3::Dimension::D3 } else { addr3::Dimension::D2 },
            slices,
            levels: self.last_level + 1,
            ..addr3::Image::new(mode, self.bits(), width, height)
        };
        let layout = addr3::layout(chip, &image)?;
        Ok(self.in_blocks(Subresource::gfx12(&image, &layout, self.level)?, base, layout.align))
    }

    /// Returns the layout of a level in blocks. The low bits of the address are XORed into its offsets.
    fn in_blocks(&self, level: Subresource, base: u64, align: u32) -> Tiled {
        let mask = u64::from(align.max(1) - 1);
        Tiled { base: base & !mask, xor: base & mask, level, first: self.first, metadata: None }
    }
}

impl Tiled {
    /// Returns the address of an element of the box.
    fn address(&self, [x, y, z]: [u32; 3], step: &Step<'_, '_>) -> Result<GpuVa, Stop> {
        let [x0, y0, z0] = self.first;
        let found = self.level.address(x0 + x, y0 + y, z0 + z, 0);
        let offset = found.map_err(|_| step.refuse("reaches outside of the tiled surface"))?;
        let va = self.base.checked_add(offset ^ self.xor).and_then(|raw| GpuVa::new(raw).ok());
        va.ok_or_else(|| step.refuse("runs over the end of the address space"))
    }

    /// Returns the address of an element of the surface; `None` outside of it.
    fn element(&self, [x, y, z]: [u32; 3]) -> Option<GpuVa> {
        let offset = self.level.address(x, y, z, 0).ok()?;
        GpuVa::new(self.base.checked_add(offset ^ self.xor)?).ok()
    }

    /// Returns the first element of a row of the box.
    fn start(&self, [y, z]: [u32; 2]) -> [u32; 3] {
        let [x0, y0, z0] = self.first;
        [x0, y0 + y, z0 + z]
    }

    /// Reads a row of the box.
    fn read(&self, at: [u32; 2], width: u32, step: &Step<'_, '_>, row: &mut [u8]) -> Result<(), Stop> {
        self.runs(at, width, step, |va, part| step.port.read(va, row.get_mut(part).unwrap_or_default()))?;
        let Some(metadata) = &self.metadata else { return Ok(()) };
        metadata.fill(self.start(at), row, self.level.element_bytes(), step, |element, out| {
            let va = self.element(element).ok_or_else(|| step.refuse("reaches outside of the tiled surface"))?;
            step.port.read(va, out);
            Ok(())
        })
    }

    /// Writes a row of the box.
    fn write(&self, at: [u32; 2], width: u32, step: &Step<'_, '_>, row: &[u8]) -> Result<(), Stop> {
        if let Some(metadata) = &self.metadata {
            let bytes = self.level.element_bytes();
            metadata.open(self.start(at), width, bytes, step, |element| self.element(element))?;
        }
        self.runs(at, width, step, |va, part| step.port.write(va, row.get(part).unwrap_or_default()))
    }

    /// Iterates over a row of the box in runs of contiguous elements. Each run has its address and its bytes of the row.
    fn runs(
        &self,
        [y, z]: [u32; 2],
        width: u32,
        step: &Step<'_, '_>,
        mut take: impl FnMut(GpuVa, std::ops::Range<usize>),
    ) -> Result<(), Stop> {
        let bytes = u64::from(self.level.element_bytes());
        let end = u64::from(width) * bytes;
        let (mut start, mut first) = (0, self.address([0, y, z], step)?);
        for x in 1..width {
            let at = u64::from(x) * bytes;
            let va = self.address([x, y, z], step)?;
            if va.as_u64().wrapping_sub(first.as_u64()) != at - start {
                take(first, start as usize..at as usize);
                (start, first) = (at, va);
            }
        }
        take(first, start as usize..end as usize);
        Ok(())
    }
}

/// Iterates over the rows of a box. Each element costs as much as a packet.
fn rows(
    size: [u32; 3],
    bytes: u32,
    step: &Step<'_, '_>,
    mut copy: impl FnMut([u32; 2], &mut [u8]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let [width, height, depth] = size;
    let mut row = vec![0; (width * bytes) as usize];
    for z in 0..depth {
        for y in 0..height {
            step.port.spend(width.into())?;
            copy([y, z], &mut row)?;
        }
    }
    Ok(())
}

/// Executes COPY_TILED_SUB_WINDOW.
pub(super) fn copy_tiled(packet: &CopyTiledSubWindow<'_>, step: &Step<'_, '_>, reads: &Reads<'_>) -> Result<(), Stop> {
    if packet.linear_sw != 0 || packet.tile_sw != 0 {
        return Err(step.refuse(SWAPPED));
    }
    let tiled = Description::new(packet).surface("tiled_addr_lo", MetaFields::of_tiled(packet), step, reads)?;
    let side = Side {
        address: packet.linear_addr,
        first: [packet.linear_x, packet.linear_y, packet.linear_z],
        pitch: packet.linear_pitch,
        slice: packet.linear_slice_pitch.into(),
    };
    let linear = Window::new(step, "linear_addr_lo", &side)?;
    let size = less_one(reads.version, [packet.rect_x, packet.rect_y, packet.rect_z]).map(|less| less + 1);
    let port = step.port;
    rows(size, tiled.level.element_bytes(), step, |[y, z], row| {
        let at = linear.row(y.into(), z.into(), packet.element_size);
        let at = at.ok_or_else(|| step.refuse("runs over the end of the address space"))?;
        if packet.detile {
            tiled.read([y, z], size[0], step, row)?;
            port.write(at, row);
        } else {
            port.read(at, row);
            tiled.write([y, z], size[0], step, row)?;
        }
        Ok(())
    })
}

/// Executes COPY_T2T_SUB_WINDOW. From version 2.4 to 3.0 it copies whole tiles of 8 by 8 elements, and the sizes do not include the
/// last tile.
///
/// Source: Mesa 17.0 `src/gallium/drivers/radeonsi/cik_sdma.c`, `cik_sdma_copy_texture`.
pub(super) fn copy_between_tiled(
    packet: &CopyT2tSubWindow<'_>,
    step: &Step<'_, '_>,
    reads: &Reads<'_>,
) -> Result<(), Stop> {
    if packet.src_sw != 0 || packet.dst_sw != 0 {
        return Err(step.refuse(SWAPPED));
    }
    let [of_source, of_destination] = MetaFields::of_surfaces(packet);
    let from = Description::source(packet).surface("src_addr_lo", of_source, step, reads)?;
    let to = Description::destination(packet, reads.version).surface("dst_addr_lo", of_destination, step, reads)?;
    if to.level.element_bytes() != from.level.element_bytes() {
        return Err(step.refuse("copies between elements of different sizes"));
    }
    let tile = if matches!(reads.version, Version::V2_4 | Version::V3_0) { 7 } else { 0 };
    let counts = [packet.rect_x | tile, packet.rect_y | tile, packet.rect_z];
    let size = less_one(reads.version, counts).map(|less| less + 1);
    rows(size, to.level.element_bytes(), step, |at, row| {
        from.read(at, size[0], step, row)?;
        to.write(at, size[0], step, row)
    })
}
