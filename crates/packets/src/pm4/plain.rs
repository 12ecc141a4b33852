//! Packets whose fields are plain numbers: draws, dispatches and their parameters.

use super::Target;
use super::header::{HeaderFlags, type3};
use crate::layout::{self, Layout, Reader};
use crate::{EncodeError, Packet};

/// Declares packets whose dwords are plain numbers, in order. The tables define which rings accept them.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident = $layout:ident [$len:literal] { $($(#[$field_doc:meta])* $field:ident,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            /// The flags of the header. Dispatches on the graphics ring need [`HeaderFlags::COMPUTE`].
            pub flags: HeaderFlags,
            $($(#[$field_doc])* pub $field: u32,)+
        }

        impl $name {
            const LAYOUT: &'static Layout = &layout::pm4::$layout;

            #[inline]
            fn check(target: Target) -> Result<(), EncodeError> {
                if Reader::Ring(target).takes(Self::LAYOUT) {
                    return Ok(());
                }
                Err(EncodeError::NoSuchPacket { packet: Self::NAME, target: target.into() })
            }
        }

        impl Packet for $name {
            type Language = Target;
            const NAME: &'static str = stringify!($layout);

            #[inline]
            fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
                Self::check(target).map(|()| $len)
            }

            #[inline]
            fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
                Self::check(target)?;
                let left = out.len();
                let Some(packet) = out.first_chunk_mut::<$len>() else {
                    return Err(EncodeError::NoRoom { packet: Self::NAME, needed: $len, left });
                };
                *packet = [type3(Self::LAYOUT.opcode() as u8, $len - 1, self.flags), $(self.$field),+];
                Ok($len)
            }
        }
    )+};
}

plain! {
    /// DISPATCH_DIRECT, opcode 0x15: dispatches a grid of work-groups with the state of the COMPUTE_* registers.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_DISPATCH_DIRECT`; Linux 6.12 `soc15d.h`.
    DispatchDirect = DISPATCH_DIRECT [5] {
        /// The number of work-groups in x (threads if the initiator says so).
        x,
        /// The number of work-groups in y.
        y,
        /// The number of work-groups in z.
        z,
        /// The value of [`COMPUTE_DISPATCH_INITIATOR`](crate::registers::COMPUTE_DISPATCH_INITIATOR).
        initiator,
    }

    /// DRAW_INDEX_AUTO, opcode 0x2d: draws without an index buffer.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_DRAW_INDEX_AUTO`.
    DrawIndexAuto = DRAW_INDEX_AUTO [3] {
        /// The number of vertices.
        vertices,
        /// The value of [`VGT_DRAW_INITIATOR`](crate::registers::VGT_DRAW_INITIATOR): 2 for automatically generated indices.
        initiator,
    }

    /// NUM_INSTANCES, opcode 0x2f: sets the number of instances for the following draws.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_NUM_INSTANCES`.
    NumInstances = NUM_INSTANCES [2] {
        /// The number of instances.
        instances,
    }

    /// INDEX_BUFFER_SIZE, opcode 0x13: sets the size of the index buffer for the following draws.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_INDEX_BUFFER_SIZE`.
    IndexBufferSize = INDEX_BUFFER_SIZE [2] {
        /// The number of indices.
        indices,
    }

    /// CONTEXT_CONTROL, opcode 0x28: selects the registers that are loaded from memory and shadowed in memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_CONTEXT_CONTROL`, `CC0_UPDATE_LOAD_ENABLES`, `CC1_UPDATE_SHADOW_ENABLES`:
    /// bit 31 of each enables its other bits.
    ContextControl = CONTEXT_CONTROL [3] {
        /// The mask of registers to load.
        load,
        /// The mask of registers to shadow.
        shadow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::records::pm4::Packet as Read;
    use amdgpu_hw::GfxLevel;

    #[test]
    fn a_plain_packet_is_what_the_tables_say() {
        for target in Target::all() {
            let mut out = [0; 5];
            let packet = DispatchDirect { x: 4, y: 3, z: 2, initiator: 1, ..DispatchDirect::default() };
            assert_eq!(packet.encode(target, &mut out), Ok(5));
            let read = layout::packets(&out, target).next().and_then(|packet| packet.content.ok()).flatten();
            let Some(Read::DispatchDirect(read)) = read.and_then(|fields| Read::read(&fields)) else {
                panic!("{target}")
            };
            assert_eq!([read.dim_x, read.dim_y, read.dim_z], [4, 3, 2]);
        }
    }

    #[test]
    fn a_compute_ring_takes_no_draw() {
        let draw = DrawIndexAuto::default().encode(Target::compute(GfxLevel::Gfx9), &mut [0; 8]);
        assert!(matches!(draw, Err(EncodeError::NoSuchPacket { packet: "DRAW_INDEX_AUTO", .. })));
    }
}
