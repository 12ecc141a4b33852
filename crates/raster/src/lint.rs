//! Features that are not executed, contradictions, and reasons why nothing is drawn.

use crate::{DrawState, Feature, FrontEnd, Topology};

impl DrawState {
    /// Returns the features of the draw that are not executed, in the order of the pipeline. A draw with any of them is not executed
    /// at all.
    pub fn unsupported(&self) -> Vec<Feature> {
        let mut found = Vec::new();
        let mut add = |is_used: bool, feature: Feature| {
            if is_used {
                found.push(feature);
            }
        };
        add(self.call.initiator >> 6 & 1 != 0, Feature::OpaqueCount);
        add(self.front_end == FrontEnd::Tessellation, Feature::Tessellation);
        add(self.front_end == FrontEnd::GeometryShader, Feature::GeometryShader);
        add(self.front_end == FrontEnd::Mesh, Feature::MeshShader);
        add(self.stream_out != 0, Feature::StreamOut);
        match self.topology {
            Topology::None => add(true, Feature::Topology(0)),
            Topology::Adjacency(number) | Topology::Other(number) => add(true, Feature::Topology(number)),
            Topology::Patches => add(self.front_end != FrontEnd::Tessellation, Feature::Topology(9)),
            _ => {}
        }
        add(self.index_offset != 0, Feature::IndexOffset);
        add(self.user_vgprs != 0, Feature::UserVgprs);
        if self.geometry.clip.discards_all {
            return found;
        }
        add(self.geometry.is_conservative, Feature::Conservative);
        add(self.samples > 8, Feature::Samples(self.samples));
        add(self.depth.is_ordered, Feature::OrderedPixels);
        let attributes = &self.inputs.attributes;
        add(attributes.iter().any(|one| one.is_half && !one.is_flat && !one.is_explicit), Feature::HalfAttributes);
        let mode = self.operation.mode;
        // Eliminating and decompressing are what this crate does before any write.
        let is_known = match mode {
            0..=2 | 5 | 6 => true,
            3 => self.colours.len() == 2,
            _ => false,
        };
        add(!is_known, Feature::ColourMode(mode));
        self.targets(&mut add);
        found
    }

    /// Adds the features of targets.
    fn targets(&self, add: &mut impl FnMut(bool, Feature)) {
        for colour in self.colours.iter().filter(|colour| self.operation.mode > 1 || colour.written() != 0) {
            add(!crate::execute::is_known(colour), Feature::ColourFormat(colour.format));
            // Fewer colours than samples are stored only where coverage alone is finer.
            let differs = self.operation.mode == 1 && 1 << colour.fragments != self.samples;
            add(differs || colour.fragments > 3, Feature::Samples(1 << colour.fragments));
        }
        let depth = &self.depth;
        let is_used =
            depth.test.is_some() || depth.bounds.is_some() || depth.faces.is_some() || depth.clears != [None; 2];
        if depth.plane.is_some() || depth.stencil.is_some() {
            add(1 << depth.samples != self.samples && is_used, Feature::Samples(1 << depth.samples));
        }
    }

    /// Returns what contradicts itself in the state: hardware would hang or draw something else than was meant.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let source = self.call.initiator & 3;
        if self.call.indices.is_some() && source == 2 {
            found.push("the packet has indices, but its initiator counts vertices".to_owned());
        }
        if self.call.indices.is_none() && source == 0 {
            found.push("the packet has no indices, but its initiator takes them from memory".to_owned());
        }
        if self.topology == Topology::None {
            found.push("VGT_PRIMITIVE_TYPE was not set".to_owned());
        }
        if self.vertex.address == 0 {
            found.push("the vertex program has no address".to_owned());
        }
        if self.outputs.positions == 0 {
            found.push("SPI_SHADER_POS_FORMAT has no position".to_owned());
        }
        let vectors = 1
            + u32::from(self.outputs.has_misc)
            + self.outputs.has_distances.iter().map(|has| u32::from(*has)).sum::<u32>();
        if self.outputs.positions > 0 && self.outputs.positions != vectors {
            found.push(format!(
                "SPI_SHADER_POS_FORMAT has {} vectors, PA_CL_VS_OUT_CNTL {vectors}",
                self.outputs.positions
            ));
        }
        if (self.outputs.has_layer || self.outputs.has_viewport || self.outputs.has_point_size)
            && !self.outputs.has_misc
        {
            found.push("layer, viewport or point size is used without the vector that has it".to_owned());
        }
        let unplaced = self.inputs.loaded & !self.inputs.placed;
        if self.pixel.address != 0 && unplaced != 0 {
            found.push(format!("SPI_PS_INPUT_ENA has bits {unplaced:#x} that SPI_PS_INPUT_ADDR lacks"));
        }
        if self.pixel.address != 0 && self.inputs.loaded.trailing_zeros() >= 8 {
            found.push("SPI_PS_INPUT_ENA has no barycentric coordinates, of which hardware needs one pair".to_owned());
        }
        if let Some(attribute) = self.inputs.attributes.iter().find_map(|one| {
            one.parameter.filter(|row| *row >= self.outputs.parameters + self.outputs.primitive_parameters)
        }) {
            found.push(format!(
                "the pixel shader reads parameter {attribute} of {}",
                self.outputs.parameters + self.outputs.primitive_parameters
            ));
        }
        // Exports are numbered without gaps; the colour block spreads them over the targets of CB_SHADER_MASK.
        let exports = (0..8).filter(|index| self.colour_formats >> (4 * index) & 15 != 0).count();
        let written = self.colours.iter().filter(|colour| colour.written() != 0).count();
        if self.operation.mode == 1 && written > exports {
            found.push(format!("{written} colour targets are written, but the pixel shader exports {exports}"));
        }
        for colour in &self.colours {
            let is_integer = matches!(colour.number, 4 | 5);
            if is_integer && colour.blend.is_some() && colour.written() != 0 {
                found.push(format!("colour {} blends integers", colour.index));
            }
        }
        if self.depth.test.is_some() && self.depth.plane.is_none() {
            found.push("the depth test is on without a depth target".to_owned());
        }
        if self.depth.faces.is_some() && self.depth.stencil.is_none() {
            found.push("the stencil test is on without a stencil target".to_owned());
        }
        if self.depth.is_forced_early && self.depth.exports_depth {
            found.push("depth is tested before the pixel shader that exports it".to_owned());
        }
        found
    }

    /// Returns why nothing would be drawn; `None` if something may be.
    pub fn nothing(&self) -> Option<&'static str> {
        let depth = &self.depth;
        let writes_depth = depth.plane.is_some() && depth.writes && !depth.is_read_only;
        let writes_stencil = depth.stencil.is_some() && depth.faces.is_some() && !depth.stencil_is_read_only;
        let writes_colour = match self.operation.mode {
            0 => false,
            1 => self.colours.iter().any(|colour| colour.written() != 0),
            _ => true,
        };
        let is_area =
            !matches!(self.topology, Topology::Points | Topology::Lines | Topology::LineStrip | Topology::Rectangles);
        if self.call.count == Some(0) {
            Some("it has no vertices")
        } else if self.call.instances == Some(0) {
            Some("it has no instances")
        } else if self.geometry.clip.discards_all {
            Some("all primitives are discarded before the rasterizer")
        } else if self.geometry.culls_front && self.geometry.culls_back && is_area {
            Some("all faces are culled")
        } else if self.geometry.viewports.iter().all(|viewport| viewport.scissor.is_empty()) {
            Some("the scissor is empty")
        } else if self.sample_mask.iter().all(|mask| mask & (self.sample_bits() * 0x1_0001) == 0) {
            Some("the sample mask is empty")
        } else if !writes_depth && !writes_stencil && !writes_colour && self.pixel.address == 0 {
            Some("no target is written")
        } else {
            None
        }
    }

    /// Returns a bit for each sample of a pixel.
    fn sample_bits(&self) -> u32 {
        (1 << self.samples.min(16)) - 1
    }
}
