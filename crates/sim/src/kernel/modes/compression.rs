//! DCC as the display engine reads it.
//!
//! The simulated GPU writes pixels and leaves them plain, but drivers clear by the codes alone: a cleared block has its colour in its code.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip,
    addr2::meta::{MetaAddresser, MetaTables},
    dcc::DccCode,
    surface::{SurfaceConfig, SurfaceLayout},
};

use super::format::Format;
use crate::kernel::mm::bo::Bo;

/// The codes of a framebuffer.
pub(super) struct Codes {
    level: GfxLevel,
    tables: Box<MetaTables>,
    /// The width and height in pixels of the block that a code describes.
    block: [u32; 2],
    bytes: Vec<u8>,
}

impl Codes {
    /// Reads the codes of a picture that is laid out as `config` says, from byte `offset` of a BO; `None` if there are none.
    ///
    /// The display reads codes of its own where the driver keeps two sets, else those of the colour block, which then lie alike.
    pub(super) fn read(chip: &Chip, config: &SurfaceConfig, bo: &Bo, offset: u64) -> Option<Self> {
        let layout = SurfaceLayout::new(chip, config).ok()?;
        let image = match layout.display_dcc {
            Some(display) => display.image?,
            None => layout.dcc?.image?,
        };
        let meta = image.layout(chip).ok()?;
        let tables = MetaAddresser::new(chip, &image, &meta, 0).ok()?.tables().ok()?;
        let len = meta.bytes.min(bo.size().checked_sub(offset)?);
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        bo.read(offset, &mut bytes);
        let [width, height, _] = meta.compressed_block;
        Some(Self { level: chip.level(), tables: Box::new(tables), block: [width, height], bytes })
    }

    /// Returns the height of a block in pixels.
    pub(super) const fn height(&self) -> u32 {
        self.block[1]
    }

    /// Gives the pixels of cleared blocks their colour. The rows begin at row `first`, a multiple of a block's height. A block whose
    /// code tells of what no display engine knows stays as it is in memory.
    pub(super) fn fill(&self, format: Format, rows: &mut [u8], pitch: usize, first: u32) {
        let pixel = format.bytes() as usize;
        let ([width, height], columns) = (self.block, (pitch / pixel) as u32);
        let count = (rows.len() / pitch) as u32;
        for (y, x) in
            (0..count).step_by(height as usize).flat_map(|y| (0..columns).step_by(width as usize).map(move |x| (y, x)))
        {
            let at = self.tables.address(x, first + y, 0, 0).byte;
            let Some(&byte) = usize::try_from(at).ok().and_then(|at| self.bytes.get(at)) else { continue };
            let start = y as usize * pitch + x as usize * pixel;
            let colour: Vec<u8> = match DccCode::of(self.level, byte) {
                DccCode::Plain | DccCode::Registers | DccCode::Other => continue,
                DccCode::First => rows[start..start + pixel].to_vec(),
                code => format.cleared(code).to_le_bytes()[..pixel].to_vec(),
            };
            for row in y..(y + height).min(count) {
                let start = row as usize * pitch + x as usize * pixel;
                let end = start + (width.min(columns - x)) as usize * pixel;
                rows[start..end].chunks_exact_mut(pixel).for_each(|one| one.copy_from_slice(&colour));
            }
        }
    }
}
